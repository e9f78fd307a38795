#!/bin/bash
# Where the instructions go that a mapping's record costs: a table of functions, from a
# TCG plugin that counts how often each block of code ran.
#
#   bench-profile.sh [ARCH]...       all arches if none is named
#
# Writes docs/bench-profile.md when all arches were measured.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
. "$SCRIPTS/bench-lib.sh"

report=$CACHE/runs/bench-profile.md
mkdir -p "$CACHE/runs"
: >"$report"

bench_plugin
for arch in "$@"; do
	"$SCRIPTS/ready.sh" "$arch"
	symbols=$CACHE/runs/bench-profile-$arch.symbols
	"$SCRIPTS/in-toolroot.sh" llvm-nm -n "$(readlink "$(out_dir "$arch" default)/vmlinux")" >"$symbols"
	for case in file-40 ext4-40 anon other-task; do
		to=$CACHE/runs/bench-profile-$arch-$case
		PLUGIN_ARGS=,profile=on bench_boot "$arch" default "profile,$case" "$to"
		printf '\n## %s, %s\n\n' "$arch" "$case" >>"$report"
		bench_tool bench_profile.py "$to.out" "$to.plugin" "$symbols" "$case" >>"$report"
	done
done
cat "$report"
if [ $# = "$(arches | wc -l)" ]; then
	{ bench_profile_head; cat "$report"; } >"$REPO/docs/bench-profile.md.tmp"
	mv "$REPO/docs/bench-profile.md.tmp" "$REPO/docs/bench-profile.md"
	say "wrote docs/bench-profile.md"
fi
