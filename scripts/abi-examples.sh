#!/bin/bash
# Write the examples of docs/abi.md: bytes of records that a guest's ring buffer held,
# and what the program had asked for. tests/abi_test.py decodes them.
#
#   abi-examples.sh [ARCH]
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=${1:-x86_64}
"$SCRIPTS/ready.sh" "$arch"
"$SCRIPTS/boot.sh" "$arch" default records
python3 "$SCRIPTS/abi_examples.py" "$CACHE/runs/$arch-default-records/out" "$REPO/docs/abi.md"
