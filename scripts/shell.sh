#!/bin/bash
# A prompt in the guest, module loaded, selftests in place. Leave with 'poweroff'.
#
#   shell.sh ARCH [VARIANT]
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

need_arch "${1:-}"
exec "$SCRIPTS/boot.sh" "$1" "${2:-default}" shell --interactive
