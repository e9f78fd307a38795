#!/bin/bash
# Boot what build.sh makes: all tests where the variant's table line says so, else until
# user space.
#
#   boot.sh ARCH VARIANT
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=$1 variant=$2
"$(dirname "$0")/build.sh" "$arch" "$variant" || exit
"$SCRIPTS/selftests.sh" "$arch" || no "the selftests do not build"
"$SCRIPTS/image.sh" "$arch" "$variant" || no "there is no image"
mode=$(variant_get "$variant" mode)
run=$CACHE/runs/$arch-$variant-$mode
if [ "$N" -lt "$PROVIDER_FROM" ]; then export APPEND=mmap3.provider=none; fi
rc=0
"$SCRIPTS/boot.sh" "$arch" "$variant" "$mode" || rc=$?
if [ "$mode" = test ]; then
	rc=0
	"$SCRIPTS/in-toolroot.sh" python3 "$SCRIPTS/judge.py" --kunit "$TREE/tools/testing/kunit" "$run" || rc=$?
fi
[ "$rc" = 0 ] || no "exit code $rc of the boot; its logs: $run"
