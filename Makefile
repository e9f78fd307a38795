# Verbs only; what they do is in scripts/, and `make help` lists them.
ARCH ?= x86_64
FLAVOUR ?= default
export ARCH FLAVOUR

S := scripts
# verbs that take both arches unless ARCH= names one
ARCHES := $(if $(filter file,$(origin ARCH)),x86_64 arm64,$(ARCH))

.SILENT:
.PHONY: all test toolroot tree refresh kernel module perf image shell vng \
	compare bench bench-diff bench-profile variants series check-series lint clean \
	cache-remove help
.NOTPARALLEL:

all: image ## build everything, boot it, and show what MMAP3 records beside MMAP2's
	$S/demo.sh $(ARCH) $(FLAVOUR)

test: ## every test on both arches (ARCH=: that one); the last line counts them
	$S/test.sh $(ARCHES)

toolroot: ## the toolchain root (Debian 13)
	$S/toolroot.sh

tree: ## the patched source as a git repository, the series as commits (TREE=)
	$S/tree.sh
	$S/tree.sh --path

refresh: ## the commits of that repository back into linux-patches/
	$S/refresh.sh

kernel: ## the kernel of ARCH and FLAVOUR
	$S/kernel.sh $(ARCH) $(FLAVOUR)

module: kernel ## the provider, perf_mmap3.ko
	$S/module.sh $(ARCH) $(FLAVOUR)

perf: ## perf of the tree and its tests, into the next image
	$S/perf.sh $(ARCH)

image: ## the guest's initramfs, and all that goes into it
	$S/ready.sh $(ARCH) $(FLAVOUR)

shell: image ## a prompt in the guest; module loaded, selftests in /selftests
	$S/boot.sh $(ARCH) $(FLAVOUR) shell --interactive

vng: image ## the same kernel under virtme-ng, the host's files inside (x86_64; CMD=)
	$S/vng.sh $(ARCH) $(FLAVOUR)

compare: ## unpatched against patched kernel: records of other events, instructions
	$S/compare.sh $(ARCHES)

bench: ## what the records cost, in instructions and bytes; tables and plots in docs/
	$S/bench.sh $(ARCHES)

bench-diff: ## the same on two commits of the tree, and what differs (BEFORE=, AFTER=)
	$S/bench-diff.sh $(ARCHES)

bench-profile: ## which functions those instructions are in; a table in docs/
	$S/bench-profile.sh $(ARCHES)

variants: ## build and boot every kernel of scripts/variants.tsv
	$S/variants.sh $(ARCHES)

series: ## the mails that a list would get, in the caches; sends nothing (V= SIGNOFF=)
	$S/series.sh

check-series: ## each patch of a series alone: hours; goes on where it was (SERIES= PATCH= CHECKS=)
	ARCH=$(if $(filter file,$(origin ARCH)),,$(ARCH)) $S/check-series.sh

lint: ## shellcheck, ruff, rustfmt, clippy, checkpatch, kernel-doc
	$S/lint.sh

clean: ## remove what was built; keep the tree, the toolchain root and ccache
	$S/clean.sh

cache-remove: ## remove all caches; refuses while the tree has work of yours
	$S/clean.sh --all

help: ## this list
	$S/help.sh
