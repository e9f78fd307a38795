#!/bin/bash
# checkpatch.pl on the patch, by the rules of lint.sh for its series.
#
#   checkpatch.sh - -|tools
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

have codespell || skip "codespell is not in the toolchain root"
series=${2/#-/kernel}
ignored=$(awk -F'\t' -v s="$series" '!/^#/ && ($2 == s || $2 == "both") { print $1 }' "$SCRIPTS/checkpatch.ignore" | paste -sd,)
inside --ro "$PATCH_FILE" /patch --dir /src perl scripts/checkpatch.pl --root=/src --strict --codespell \
	--no-summary -q --ignore "$ignored" /patch || no "checkpatch has something to say: see the log"
