#!/bin/bash
# The kernel's own check-uapi.sh between the unpatched source and this. Compiled
# headers are compared with abidiff, of this machine or of the toolchain root.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

[ -n "$(touched "$BASE" include/uapi)" ] || nothing
for t in abidiff gcc make rsync; do
	command -v "$t" >/dev/null || skip "$t is missing on this machine (Debian: apt-get install abigail-tools gcc make rsync)"
done
need_space 5000 "check-uapi.sh, which unpacks the source twice"
export TMPDIR=$CACHE/uapi-tmp
rm -rf "$TMPDIR"
mkdir -p "$TMPDIR"
trap 'rm -rf "$TMPDIR"' EXIT
cd "$TREE"
rc=0
# -i: fields at the end of what has room for them are no break
scripts/check-uapi.sh -b "$COMMIT" -p "$BASE" -j "$JOBS" -v || rc=$?
case $rc in
0) ;;
2) skip "check-uapi.sh cannot run here" ;;
*) no "check-uapi.sh finds a difference: see the log" ;;
esac
