#!/bin/bash
# As boot.sh until user space, with the few options of qemu-images/config/small: quick
# enough to be asked of every patch.
#
#   small.sh ARCH VARIANT
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=$1 variant=$2
# A cache of its own, as the kernel has the same name.
export CACHE=$CACHE/small CONFIGS=$REPO/qemu-images/config/small
"$(dirname "$0")/build.sh" "$arch" "$variant" || exit
"$SCRIPTS/image.sh" "$arch" "$variant" || no "there is no image"
if [ "$N" -lt "$PROVIDER_FROM" ]; then export APPEND=mmap3.provider=none; fi
"$SCRIPTS/boot.sh" "$arch" "$variant" boot || no "exit code $? of the boot; its logs: $CACHE/runs/$arch-$variant-boot"
