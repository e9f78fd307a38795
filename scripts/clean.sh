#!/bin/bash
# Remove what was built (kernels, images, logs of runs); with --all every cache, the
# toolchain root and the tree too, unless the tree has work that is nowhere else.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

take_lock tree
what=("$CACHE"/{,series/}build "$CACHE"/{,series/}out "$CACHE"/{,series/}runs)
if [ "${1:-}" = --all ]; then
	if [ -e "$TREE/.git/mmap3-key" ]; then
		mine=$(cleangit -C "$TREE" status --porcelain | head -n 1)
		[ "$(cleangit -C "$TREE" rev-parse HEAD)" = "$(cleangit -C "$TREE" rev-parse refs/mmap3/applied)" ] ||
			mine="commits of its own"
		mine=${mine:-$(cleangit -C "$TREE" branch --list 'aside-*' | head -n 1)}
		case $TREE in
		"$CACHE"/*)
			[ -z "$mine" ] || [ -n "${DISCARD:-}" ] ||
				die "$TREE has work of yours ($mine): 'make refresh' keeps commits, DISCARD=1 removes it all"
			;;
		*) warn "$TREE lies outside the caches and is kept" ;;
		esac
	fi
	# Only what these scripts make: CACHE may be a folder that holds other things.
	what+=("$CACHE"/toolroot-* "$CACHE"/refresh.* "$CACHE"/intree-index.* "$CACHE/source" "$CACHE/ccache"
		"$CACHE/series" "$CACHE/mails" "$CACHE/lint" "$CACHE/logs" "$CACHE/locks" "$CACHE/tree" "$CACHE/tree.tmp" "$CACHE/tree.apply")
fi
for w in "${what[@]}"; do
	[ -e "$w" ] || continue
	say "removing $w"
	rm -rf "$w" 2>/dev/null || die "$w cannot be removed: is it in use, or another user's?"
done
if [ "${1:-}" = --all ]; then rmdir "$CACHE" 2>/dev/null || :; fi
