#!/bin/bash
# Write the commits of the tree back to linux-patches/{kernel,tools}, byte-stable:
# `make tree` followed by this changes nothing. A commit belongs to the tools series
# when everything it touches is under tools/, selftests and tools/testing excepted.
#
#   REPLACE=1   although linux-patches changed since the tree was made from it
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

need git
take_lock tree
[ -e "$TREE/.git/mmap3-key" ] ||
	[ -n "${REPLACE:-}" ] || die "there is no tree in $TREE: run 'make tree' first"
g() { cleangit -C "$TREE" "$@"; }
base=$(g rev-parse -q --verify refs/mmap3/base) || die "TREE=$TREE was not made by 'make tree'"

patches() { find "$PATCHES/kernel" "$PATCHES/tools" -name '*.patch' 2>/dev/null | sort; }
patches_key() { (echo "$base"; patches | while read -r p; do echo "${p#"$PATCHES"/}"; cat "$p"; done) | hash_of; }
[ "$(patches_key)" = "$(cat "$TREE/.git/mmap3-key" 2>/dev/null)" ] || [ -n "${REPLACE:-}" ] ||
	die "linux-patches changed since $TREE was made: run 'make tree' first, or 'make refresh REPLACE=1' to overwrite them"
[ -z "$(g status --porcelain | head -n 1)" ] ||
	die "$TREE has edits not committed ($(g status --porcelain | head -n 1 | cut -c4-)): commit or stash them first"
g merge-base --is-ancestor "$base" HEAD ||
	die "the commits of $TREE do not start at its base $(g rev-parse --short "$base"): rebase them on tag mmap3-base"

series_of() { # COMMIT: kernel or tools
	local kernel=0 tools=0 f
	while IFS= read -r f; do
		case $f in
		tools/testing/*) kernel=1 ;;
		tools/*) tools=1 ;;
		*) kernel=1 ;;
		esac
	done < <(g -c core.quotePath=false diff-tree -r --no-commit-id --name-only "$1")
	case $kernel$tools in
	10) echo kernel ;;
	01) echo tools ;;
	11) die "commit $(g log -1 --format='%h (%s)' "$1") touches both the kernel and tools/: the series go to different trees, so split it" ;;
	*) die "commit $(g log -1 --format='%h (%s)' "$1") is empty: drop it" ;;
	esac
}

new=$(mktemp -d "$CACHE/refresh.XXXXXX")
trap 'rm -rf "$new"' EXIT
mkdir "$new/kernel" "$new/tools"
declare -A n=([kernel]=0 [tools]=0)
commits=$(g rev-list --reverse --parents "$base..HEAD")
while read -r c parents; do
	[ -n "$c" ] || continue
	name=$(g log -1 --format='%h (%s)' "$c")
	case $parents in *' '*) die "commit $name is a merge: rebase the tree into a line of commits" ;; esac
	case $(g log -1 --format=%s "$c") in
	fixup!* | squash!* | amend!*) die "commit $name is still to be folded in: git -C $TREE rebase -i --autosquash mmap3-base" ;;
	esac
	if g log -1 --format=%B "$c" | grep -qi '^Signed-off-by:'; then
		die "commit $name carries a sign-off: patches are kept without, the sender adds it (git -C $TREE commit --amend)"
	fi
	s=$(series_of "$c")
	n[$s]=$((n[$s] + 1))
	# Everything a setting or a version of git could change is spelled out.
	g -c core.abbrev=12 -c diff.noprefix=false -c diff.mnemonicPrefix=false format-patch -q -1 \
		-N --start-number="${n[$s]}" --filename-max-length=64 --zero-commit --no-signature --no-base \
		--full-index --no-ext-diff --no-textconv --no-color --diff-algorithm=myers -M -p --stat=72 --summary \
		--no-thread --no-attach --no-cover-letter --encode-email-headers --subject-prefix=PATCH \
		-o "$new/$s" "$c"
done <<<"$commits"
changed=0
for s in kernel tools; do
	mkdir -p "$PATCHES/$s"
	for f in "$new/$s"/*.patch; do
		[ -e "$f" ] || continue
		cmp -s "$f" "$PATCHES/$s/${f##*/}" && continue
		mv "$f" "$PATCHES/$s/.new"
		mv "$PATCHES/$s/.new" "$PATCHES/$s/${f##*/}"
		: >"$f"
		changed=$((changed + 1))
		echo "   $s/${f##*/}"
	done
	for f in "$PATCHES/$s"/*.patch; do
		if [ ! -e "$f" ] || [ -e "$new/$s/${f##*/}" ]; then continue; fi
		rm "$f"
		changed=$((changed + 1))
		echo "   $s/${f##*/} (removed)"
	done
done
say "${n[kernel]} kernel and ${n[tools]} tools patches in $PATCHES, $changed changed"
# What linux-patches says is now what the tree holds.
patches_key >"$TREE/.git/mmap3-key"
g update-ref refs/mmap3/applied HEAD
