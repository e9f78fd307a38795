#!/bin/bash
# Everything a boot of ARCH and VARIANT needs: kernel, module, selftests, demo, image.
# What is up to date takes a second.
#
#   ready.sh ARCH [VARIANT]
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=${1:-} variant=${2:-default}
need_arch "$arch"
"$SCRIPTS/kernel.sh" "$arch" "$variant"
# Other sources have the provider inside, or none.
if [ "$(variant_get "$variant" source)" = tree ] &&
	grep -qx CONFIG_RUST=y "$(out_dir "$arch" "$variant")/config" &&
	grep -qx CONFIG_PERF_EVENTS=y "$(out_dir "$arch" "$variant")/config"; then
	"$SCRIPTS/module.sh" "$arch" "$variant"
	MODULE=$SCRIPTS/guest/fails_late MODULE_OUT=mmap3_fails_late "$SCRIPTS/module.sh" "$arch" "$variant"
fi
"$SCRIPTS/selftests.sh" "$arch"
"$SCRIPTS/image.sh" "$arch" "$variant"
