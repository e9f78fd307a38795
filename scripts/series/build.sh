#!/bin/bash
# Build the kernel of ARCH and VARIANT, and the module where it can be built yet. A
# warning is a failure.
#
#   build.sh ARCH VARIANT
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=$1 variant=$2
source=$(variant_get "$variant" source)
if [ "$source" = intree ] && [ "$N" -lt "$PROVIDER_FROM" ]; then nothing; fi
"$SCRIPTS/kernel.sh" "$arch" "$variant" || no "the kernel does not build: $(grep -m1 -E '(^|[^-])error(\[|:)|Error [0-9]' "$LOGS/kernel-$arch-$variant.log" || :)"
log=$LOGS/kernel-$arch-$variant.log
! grep -E '(^|[^a-z])warning(\[|:)|WARNING:' "$log" || no "$(grep -m1 -E '(^|[^a-z])warning(\[|:)|WARNING:' "$log")"
out=$(out_dir "$arch" "$variant")
if [ "$source" = tree ]; then
	rm -f "$out"/modules/*.ko
	if [ "$N" -ge "$PROVIDER_FROM" ]; then
		"$SCRIPTS/module.sh" "$arch" "$variant" || no "the module does not build"
	fi
fi
