#!/bin/bash
# Boot, run real programs under a recording, and show what the kernel recorded: MMAP2's
# answer beside MMAP3's. Every build ID shown is checked against the file on the host.
#
#   demo.sh ARCH [VARIANT]
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=${1:-} variant=${2:-default}
need_arch "$arch"
out=$(out_dir "$arch" "$variant")
run=$CACHE/runs/$arch-$variant-demo
rc=0
"$SCRIPTS/boot.sh" "$arch" "$variant" demo || rc=$?
if [ -s "$run/out" ]; then
	grep -vE '^(ID|CASE) ' "$run/out" || :
fi
[ "$rc" = 0 ] || die "$rc" "the demo did not run to its end on $arch; output: $run/out, console: $run/console"
"$SCRIPTS/in-toolroot.sh" python3 "$SCRIPTS/demo_check.py" "$run/out" "$out/image" "$SCRIPTS/demo.wanted" ||
	die "$E_FAIL" "what the kernel recorded on $arch is not what it must be; output: $run/out"
