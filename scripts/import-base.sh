#!/bin/bash
# Put the unpatched source into the git repository of the tree as one commit that
# is the same on every machine, and print its hash.
#
#   import-base.sh REPO WORK      the repository; an empty folder to unpack in
#
# KERNEL_SRC=  a tarball, a git tree (its HEAD) or a plain folder, instead of the
#              source that BASE names; its version must be the same, unless
#              ANY_VERSION=1
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
repo=$1 work=$2
src=${KERNEL_SRC:-}
version=$(base_get VERSION)

# check_version MAKEFILE-TEXT
check_version() {
	local got
	got=$(awk -F' *= *' '/^VERSION/ { v = $2 } /^PATCHLEVEL/ { p = $2 } /^SUBLEVEL/ { s = $2 }
		/^EXTRAVERSION/ { e = $2; exit } END { print v "." p "." s e }' <<<"$1")
	[ "$got" = "$version" ] && return
	[ -n "${ANY_VERSION:-}" ] && { warn "KERNEL_SRC=$src is $got, the series is made for $version"; return; }
	die "KERNEL_SRC=$src is version '$got', the series is made for $version: name that release, or try with ANY_VERSION=1"
}

# commit TREE-HASH: nobody in particular, on a fixed day, so that the hash is stable
commit() {
	local who=(GIT_{AUTHOR,COMMITTER}_NAME=base GIT_{AUTHOR,COMMITTER}_EMAIL=base@localhost
		GIT_{AUTHOR,COMMITTER}_DATE='@1793491200 +0000')
	env "${who[@]}" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null \
		git -C "$repo" commit-tree -m "Linux $version" "$1"
}

add_all() { # FOLDER: its files as a tree object, ignored ones too
	# Kept, so that a user's folder is read through only once.
	local index
	index=$repo/.git/index-import-$(hash_of <<<"$1")
	GIT_INDEX_FILE=$index git -C "$repo" --work-tree="$1" add -Af .
	GIT_INDEX_FILE=$index git -C "$repo" write-tree
}

if [ -n "$src" ] && [ -d "$src" ]; then
	src=$(cd "$src" && pwd -P)
	check_version "$(cat "$src/Makefile" 2>/dev/null || :)"
	if git -C "$src" rev-parse -q --verify HEAD >/dev/null 2>&1 &&
		[ "$(git -C "$src" rev-parse --show-toplevel)" = "$src" ]; then
		git -C "$src" diff --quiet HEAD -- 2>/dev/null ||
			warn "KERNEL_SRC=$src has edits that are not committed; they are left out"
		git -C "$repo" fetch -q --depth=1 --no-tags "file://$src" HEAD
		commit "$(git -C "$repo" rev-parse 'FETCH_HEAD^{tree}')"
	else
		[ ! -e "$src/.config" ] || die "KERNEL_SRC=$src was built in place: run 'make mrproper' there, or name a clean one"
		commit "$(add_all "$src")"
	fi
	exit
fi

if [ -n "$src" ]; then
	[ -r "$src" ] || die "KERNEL_SRC=$src cannot be read: name a tarball or a folder"
	file=$(realpath "$src")
	key=$(hash_of <"$file")
else
	file=$("$SCRIPTS/fetch-source.sh")
	key=$(base_get DEB_SHA256 | cut -c1-12)
fi
ref=refs/mmap3/base-$key
git -C "$repo" rev-parse -q --verify "$ref" && exit

# tar calls it, and a small Debian does not have it
case $file in *.xz) need xz xz-utils ;; esac
need_space 3000 "unpacking the kernel source" "$work"
unpack() {
	tar -x -f "$file" -C "$work" --strip-components=1
	# Debian ignores every file of the source, for its packaging; git must see
	# what the user adds.
	if [ -e "$work/.gitignore" ]; then sed -i '/^\/\*$/d' "$work/.gitignore"; fi
}
log=$LOGS/import-base.log
failed() { die "$file cannot be unpacked: is it a kernel tarball? log: $log"; }
logged "$log" "unpacking $(basename "$file")" "20 s" unpack >&2
check_version "$(cat "$work/Makefile" 2>/dev/null || :)"
import() { add_all "$work" >"$work.hash"; }
failed() { die "the base could not be committed; log: $log"; }
logged "$log" "committing the base" "30 s" import >&2
c=$(commit "$(cat "$work.hash")")
rm "$work.hash" "$repo"/.git/index-import-*
git -C "$repo" update-ref "$ref" "$c"
echo "$c"
