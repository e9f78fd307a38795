# Verbs only; what they do is in scripts/, and `make help` lists them.
ARCH ?= x86_64
FLAVOUR ?= default
export ARCH FLAVOUR

S := scripts

.SILENT:
.PHONY: all test toolroot tree refresh kernel module selftests image shell vng \
	compare variants lint clean cache-remove help
.NOTPARALLEL:

all: image ## build everything, boot it, and show what MMAP3 records beside MMAP2's
	$S/demo.sh $(ARCH) $(FLAVOUR)

test: ## every test on both arches (ARCH= given: that one); the last line counts them
	$S/test.sh $(if $(filter file,$(origin ARCH)),,$(ARCH))

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

selftests: ## the perf_events selftests and the demo, for the guest
	$S/selftests.sh $(ARCH)

image: module selftests ## the guest's initramfs
	$S/image.sh $(ARCH) $(FLAVOUR)

shell: image ## a prompt in the guest; module loaded, selftests in /selftests
	$S/boot.sh $(ARCH) $(FLAVOUR) shell

vng: module ## the same kernel under virtme-ng, the host's files inside (x86_64)
	$S/vng.sh $(ARCH) $(FLAVOUR)

compare: ## unpatched kernel against patched: streams of other events, instructions
	$S/compare.sh $(ARCH)

variants: ## build and boot every kernel of scripts/variants.tsv
	$S/variants.sh $(ARCH)

lint: ## shellcheck, ruff, rustfmt, clippy, checkpatch, kernel-doc
	$S/lint.sh

clean: ## remove what was built; keep the tree, the toolchain root and ccache
	$S/clean.sh

cache-remove: ## remove all caches; refuses while the tree has work of yours
	$S/clean.sh --all

help: ## this list
	$S/help.sh
