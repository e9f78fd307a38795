#!/bin/bash
# checkpatch.pl on the patch, by the rules of lint.sh.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

have codespell || skip "codespell is not in the toolchain root"
ignored=$(awk -F'\t' '!/^#/ && ($2 == "kernel" || $2 == "both") { print $1 }' "$SCRIPTS/checkpatch.ignore" | paste -sd,)
inside --ro "$PATCH_FILE" /patch --dir /src perl scripts/checkpatch.pl --root=/src --strict --codespell \
	--no-summary -q --ignore "$ignored" /patch || no "checkpatch has something to say: see the log"
