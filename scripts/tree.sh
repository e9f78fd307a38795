#!/bin/bash
# Make the patched kernel tree: the base as one commit and each patch of
# linux-patches/{kernel,tools} as a commit on it, in a git repository of its own
# (TREE=, else in the caches). Patches that changed are applied again, touching
# only files that differ; work of the user in the tree is never thrown away.
#
#   tree.sh [--path]   --path: only print where it is or would be
#   DISCARD=1          set local work aside (as a branch) and apply linux-patches
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

if [ "${1:-}" = --path ]; then echo "$TREE"; exit; fi
need git
take_lock tree
g() { cleangit -C "$TREE" "$@"; }

patches() { find "$PATCHES/kernel" "$PATCHES/tools" -name '*.patch' 2>/dev/null | sort; }

# local_work: prints what the tree holds beyond what was applied here
local_work() {
	[ "$(g rev-parse HEAD)" = "$(g rev-parse refs/mmap3/applied)" ] || echo "commits of its own"
	[ -z "$(g status --porcelain | head -n 1)" ] || echo "edits not committed"
}

if [ -e "$TREE" ]; then
	g rev-parse -q --verify refs/mmap3/applied >/dev/null 2>&1 ||
		die "TREE=$TREE was not made by 'make tree': name a path that does not exist yet"
else
	# Under another name until it is whole: a stopped run leaves nothing that
	# looks like a tree.
	tmp=$TREE.tmp
	rm -rf "$tmp"
	mkdir -p "$tmp"
	trap 'rm -rf "$tmp"' EXIT
	cleangit init -q -b mmap3 "$tmp"
	# 100000 loose objects would start a long packing at the user's first commit.
	cleangit -C "$tmp" config gc.auto 0
	base=$("$SCRIPTS/import-base.sh" "$tmp" "$tmp")
	cleangit -C "$tmp" update-ref refs/mmap3/applied "$base"
	cleangit -C "$tmp" update-ref refs/mmap3/base "$base"
	# The files may be there already (unpacked), so the index comes first.
	cleangit -C "$tmp" read-tree "$base"
	cleangit -C "$tmp" update-index -q --refresh || :
	cleangit -C "$tmp" checkout -q -f -B mmap3 "$base"
	mv "$tmp" "$TREE"
	trap - EXIT
fi

work=$CACHE/source/unpack.$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
base=$("$SCRIPTS/import-base.sh" "$TREE" "$work")
rm -rf "$work"
key=$( (echo "$base"; patches | while read -r p; do echo "${p#"$PATCHES"/}"; cat "$p"; done) | hash_of)
had=$(cat "$TREE/.git/mmap3-key" 2>/dev/null || :)
mine=$(local_work)
if [ "$key" = "$had" ] && [ -z "${DISCARD:-}" ]; then
	[ -z "$mine" ] ||
		warn "$TREE has ${mine//$'\n'/ and }: they are built too; 'make refresh' writes commits to linux-patches"
	exit
fi
if [ -n "$mine" ]; then
	[ -n "${DISCARD:-}" ] ||
		die "$TREE has ${mine//$'\n'/ and }, and linux-patches changed: 'make refresh REPLACE=1' keeps the tree's, 'make tree DISCARD=1' sets them aside"
	aside=aside-$(date -u +%Y%m%d-%H%M%S)
	g add -A
	g diff --cached --quiet || GIT_AUTHOR_NAME=perf-mmap3 GIT_AUTHOR_EMAIL=perf-mmap3@localhost \
		g commit -q --no-verify -m "edits set aside by make tree DISCARD=1"
	g branch "$aside"
	say "local work is kept as branch $aside of $TREE"
fi

# The new series grows in a worktree of its own that holds only the files it touches.
wt=$TREE.apply
log=$LOGS/tree.log
: >"$log"
cleanup() {
	rm -rf "$wt"
	g worktree prune
}
trap cleanup EXIT
cleanup
n=$(patches | wc -l)
say "applying $n patches to Linux $(base_get VERSION) in $TREE"
g worktree add -q --no-checkout --detach "$wt" "$base"
{
	echo /.gitattributes
	patches | xargs -r -d '\n' sed -nE 's,^diff --git a/(.*) b/(.*)$,/\1\n/\2,p' | sort -u
} | cleangit -C "$wt" sparse-checkout set --no-cone --stdin
cleangit -C "$wt" checkout -q --detach "$base"
boundary=$base
while IFS= read -r p; do
	[ -n "$p" ] || continue
	cleangit -C "$wt" am -q --committer-date-is-author-date --whitespace=nowarn \
		--no-3way "$p" >>"$log" 2>&1 || {
		where=$(sed -nE 's/^error: (patch failed: )?(.*)/\2/p' "$log" | head -n 1)
		die "patch ${p#"$PATCHES"/} does not apply to Linux $(base_get VERSION) and the patches before it (${where:-see the log}); mend the patch, or apply it and those after it by hand in $TREE (git am -3) and run 'make refresh REPLACE=1'; log: $log"
	}
	case $p in "$PATCHES/kernel/"*) boundary=$(cleangit -C "$wt" rev-parse HEAD) ;; esac
done < <(patches)
new=$(cleangit -C "$wt" rev-parse HEAD)
cleanup
trap - EXIT

g checkout -q -B mmap3 "$new"
g update-ref refs/mmap3/applied "$new"
g update-ref refs/mmap3/base "$base"
g tag -f mmap3-base "$base" >/dev/null
g tag -f mmap3-kernel "$boundary" >/dev/null
echo "$key" >"$TREE/.git/mmap3-key"
echo "   $n commits on $(g rev-parse --short "$base"); new head $(g rev-parse --short "$new")"
