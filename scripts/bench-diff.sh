#!/bin/bash
# The benchmark on two trees, before and after a change, and what differs. Both have the
# provider built in and boot the same image, one after the other.
#
#   BEFORE=COMMIT AFTER=COMMIT bench-diff.sh [ARCH]...     commits of the tree (make tree);
#                                                          AFTER: the tree as it is now
#   BEFORE_MODULE=DIR AFTER_MODULE=DIR                     provider, instead of rust-module/
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
. "$SCRIPTS/bench-lib.sh"

"$SCRIPTS/tree.sh"
[ -n "${BEFORE:-}" ] || die "say what to compare with: BEFORE=COMMIT of $TREE (and AFTER=, else the tree as it is)"
commits=()
for rev in "$BEFORE" ${AFTER:+"$AFTER"}; do
	commits+=("$(git -C "$TREE" rev-parse -q --verify "$rev^{commit}")") ||
		die "'$rev' is no commit of $TREE: see 'git -C $TREE log'"
done
for dir in "${BEFORE_MODULE:-}" "${AFTER_MODULE:-}"; do
	[ -z "$dir" ] || [ -e "$dir/Kbuild" ] || die "$dir/Kbuild is missing: name a folder like rust-module/"
done

runs=$CACHE/runs/bench-diff
mkdir -p "$CACHE/runs"
bench_plugin
one() { # ARCH NAME COMMIT MODULE
	COMMIT=$3 MODULE=$4 "$SCRIPTS/kernel.sh" "$1" builtin
	cp "$(out_dir "$1" builtin)/kernel" "$runs-$1-$2.kernel"
	bench_boot "$1" builtin all "$runs-$1-$2" --kernel "$runs-$1-$2.kernel"
	bench_tool bench.py rows "$1" "default=$(bench_output "$runs-$1-$2")" >"$runs-$1-$2.csv"
}
for arch in "$@"; do
	"$SCRIPTS/ready.sh" "$arch"
	one "$arch" before "${commits[0]}" "${BEFORE_MODULE:-}"
	one "$arch" after "${commits[1]:-}" "${AFTER_MODULE:-}"
	bench_tool bench.py diff "$runs-$arch-before.csv" "$runs-$arch-after.csv" | tee "$runs-$arch.md"
done
say "bench-diff: tables are $runs-ARCH.md, rounds $runs-ARCH-{before,after}.out"
