#!/bin/bash
# Compare the patched kernel with the unpatched one, in the guest's instructions and
# in the records of events that do not ask for MMAP3. Both boot the same image under
# -icount, one processor, addresses not randomised.
#
#   compare.sh [ARCH]...       all arches if none is named
#
# Writes docs/compare.md when all arches were compared. Exit code 1 if they differ.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || mapfile -t ALL < <(arches)
[ $# -gt 0 ] || set -- "${ALL[@]}"
for arch in "$@"; do need_arch "$arch"; done
report=$CACHE/runs/compare.md
mkdir -p "$CACHE/runs"
: >"$report"
rc=0

compare() { # ARCH WHAT: a table on stdout
	local variant
	for variant in base default; do
		APPEND="mmap3.args=$2 nokaslr norandmaps" "$SCRIPTS/boot.sh" "$1" "$variant" compare \
			--icount --image "$(out_dir "$1" default)/image.cpio" >&2 || return
		cp "$CACHE/runs/$1-$variant-compare/out" "$CACHE/runs/compare-$1-$variant-$2.txt"
	done
	"$SCRIPTS/in-toolroot.sh" python3 "$SCRIPTS/compare.py" "$2" \
		"$CACHE/runs/compare-$1-base-$2.txt" "$CACHE/runs/compare-$1-default-$2.txt"
}

head_of_report() {
	cat <<-TEXT
	# The patched kernel against the unpatched one

	Written by \`make compare\` for base $(base_get VERSION); do not edit. Both kernels boot the
	same image with \`-icount shift=0,sleep=off -smp 1\` and without address randomisation,
	so a guest's nanosecond is one instruction.

	- stream: a fixed program (scripts/guest/compare.c: files and anonymous memory mapped,
	  merged, split, moved, made executable; a thread, a fork, an exec) recorded by events
	  that do not ask for MMAP3. The records must be equal byte for byte; masked are process
	  numbers (in order of appearance), times, event ids and the inode generations that
	  tmpfs draws at random.
	- count: instructions of one mmap + munmap of four pages, executable; the median of 31
	  rounds of 512. With no event open the difference must stay within the limit, before and
	  after the provider was loaded. Records are taken out of the ring as they come.
	TEXT
}

for arch in "$@"; do
	"$SCRIPTS/kernel.sh" "$arch" base
	"$SCRIPTS/ready.sh" "$arch"
	for what in stream count; do
		say "compare $arch: $what"
		one=0
		printf '\n## %s, %s\n\n' "$arch" "$what" >>"$report"
		compare "$arch" "$what" >>"$report" || one=$?
		# setup and splats are told from a difference
		if [ "$one" -gt "$rc" ]; then rc=$one; fi
	done
done
cat "$report"
if [ $# = "$(arches | wc -l)" ] && [ "$rc" -le "$E_FAIL" ]; then
	{ head_of_report; cat "$report"; } >"$REPO/docs/compare.md.tmp"
	mv "$REPO/docs/compare.md.tmp" "$REPO/docs/compare.md"
	say "wrote docs/compare.md"
fi
[ "$rc" = 0 ] || die "$rc" "the kernels differ, or were not compared: see above and $report"
say "compare: equal streams, counts within the limit"
