#!/bin/bash
# The patch applies to what is before it, at the lines it names, and is what was applied.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

index=$(mktemp -u "$CACHE/index.XXXXXX")
trap 'rm -f "$index"' EXIT
# shellcheck disable=SC2031 # lib.sh has another, in a subshell
export GIT_INDEX_FILE=$index
git -C "$TREE" read-tree "$PARENT"
said=$(git -C "$TREE" apply --cached --verbose --whitespace=error-all "$PATCH_FILE" 2>&1) || no "$said"
echo "$said"
! grep -qE 'offset|fuzz' <<<"$said" || no "$(grep -m1 -E 'offset|fuzz' <<<"$said")"
[ "$(git -C "$TREE" write-tree)" = "$(git -C "$TREE" rev-parse "$COMMIT^{tree}")" ] ||
	no "the commit is not what the patch says"
