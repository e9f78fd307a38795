#!/bin/bash
# Make, from rust-module/, the commit that has the provider in the kernel tree: its
# files in kernel/events/mmap3/, one line each in kernel/events/Makefile, init/Kconfig
# and MAINTAINERS. Prints the commit. The tree's own files and branches stay as they are.
#
#   intree-patch.sh [COMMIT]     on what; default: the tree as it is now
#   MODULE=DIR                   another module's sources
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

mod=${MODULE:-$REPO/rust-module}
PROVIDER_MESSAGE=$REPO/linux-patches/cover/provider.txt
for f in Kbuild Kconfig; do
	[ -e "$mod/$f" ] || die "$mod/$f is missing: restore rust-module/ from git${MODULE:+, or set another MODULE=}"
done
who=(GIT_{AUTHOR,COMMITTER}_NAME=perf-mmap3 GIT_{AUTHOR,COMMITTER}_EMAIL=perf-mmap3@localhost
	GIT_{AUTHOR,COMMITTER}_DATE='@1793491200 +0000')
g() { env "${who[@]}" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git -C "$TREE" "$@"; }
on=${1:-}
if [ -z "$on" ]; then
	on=$(g commit-tree -p HEAD -m 'the tree as it is' "$(tree_state)")
	# Without edits the commit would only repeat HEAD's tree.
	if [ "$(g rev-parse "$on^{tree}")" = "$(g rev-parse 'HEAD^{tree}')" ]; then on=$(g rev-parse HEAD); fi
fi

GIT_INDEX_FILE=$(mktemp -u "$CACHE/intree-index.XXXXXX")
export GIT_INDEX_FILE
trap 'rm -f "$GIT_INDEX_FILE"' EXIT
g read-tree "$on"
put() { # PATH < content
	g update-index --add --cacheinfo "100644,$(g hash-object -w --stdin),$1"
}
while IFS= read -r f; do
	put "kernel/events/mmap3/$f" <"$mod/$f"
done < <(cd "$mod" && find . -type f \( -name '*.rs' -o -name Kbuild -o -name Kconfig \) | sed 's,^\./,,' | sort)

makefile=$(g show "$on:kernel/events/Makefile")
# shellcheck disable=SC2016 # make's variable
printf '%s\nobj-$(CONFIG_PERF_MMAP3) += mmap3/\n' "$makefile" | put kernel/events/Makefile

kconfig=$(g show "$on:init/Kconfig" | awk '
	/^config PERF_EVENTS$/ { inside = 1 }
	inside && /^(config|menu|endmenu|source|if|endif) ?/ && !/^config PERF_EVENTS$/ {
		print "source \"kernel/events/mmap3/Kconfig\"\n"; inside = 0; done = 1 }
	{ print }
	END { exit !done }') || die "init/Kconfig of $on has no PERF_EVENTS: is it a kernel tree?"
put init/Kconfig <<<"$kconfig"

maintainers=$(g show "$on:MAINTAINERS" | awk '
	{ print }
	/^F:\tkernel\/events\/\*$/ { print "F:\tkernel/events/mmap3/"; done = 1 }
	END { exit !done }') || die "MAINTAINERS of $on has no kernel/events: is it a kernel tree?"
put MAINTAINERS <<<"$maintainers"
g commit-tree -p "$on" -F "$PROVIDER_MESSAGE" "$(g write-tree)"
