#!/bin/bash
# kernel-doc on the C files that the series touches up to here, with -Werror where the
# unpatched source has no message, else no new one.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# The same files for the unpatched source, or there would be nothing to compare with.
# shellcheck disable=SC2153 # check-series.sh sets LAST
mapfile -t files < <(git -C "$TREE" diff --name-only "$BASE" "$LAST" -- '*.c' '*.h' ':!tools')
[ "$N" = 0 ] || [ -n "$(touched "$PARENT" '*.c' '*.h' ':!tools')" ] || nothing
out=$CACHE/kernel-doc.out
: >"$out"
for f in "${files[@]}"; do
	[ -e "$TREE/$f" ] || continue
	werror=-Werror
	# structures whose members were never described need not begin with ours
	if [ -e "$REFERENCE" ] && grep -q "$f" "$REFERENCE"; then werror=; fi
	if [ "$N" = 0 ]; then werror=; fi
	rc=0
	inside --dir /src scripts/kernel-doc -none -Wall $werror "$f" >"$out.one" 2>&1 || rc=$?
	cat "$out.one"
	sed -E "s/(struct|union) member '[^']*' not/members not/" "$out.one" >>"$out"
	[ "$rc" = 0 ] || no "kernel-doc: $f: $(head -n 1 "$out.one")"
done
sort -u -o "$out" "$out"
only_new "$out"
