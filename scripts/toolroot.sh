#!/bin/bash
# Make the toolchain root: Debian 13 with the packages of toolroot.packages, in the
# caches, keyed by what it is made of. Does nothing when it is there.
#
#   toolroot.sh [--path]      --path: only print where it is or would be
#   TOOLROOT=DIR              use the user's own instead; / is the host itself
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

SUITE=trixie
packages() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$SCRIPTS/toolroot.packages"; }
key=$( (echo "$SUITE"; packages; cat "$SCRIPTS/toolroot.hook") | hash_of)
dir=${TOOLROOT:-$CACHE/toolroot-$key}
if [ "${1:-}" = --path ]; then echo "$dir"; exit; fi

need bwrap bubblewrap
if [ -n "${TOOLROOT:-}" ]; then
	for t in clang ld.lld rustc bindgen make; do
		if [ "$dir" -ef / ]; then
			need "$t"
		elif ! [ -e "$dir/usr/bin/$t" ]; then
			die "TOOLROOT=$dir has no usr/bin/$t: install it there, or leave TOOLROOT unset"
		fi
	done
	exit 0
fi
[ -d "$dir" ] && exit 0

take_lock toolroot
[ -d "$dir" ] && exit 0 # made by the run just waited for
need_space 3500 "the toolchain root"
need mmdebstrap
if [ "$(id -u)" != 0 ]; then
	need newuidmap uidmap
	me=$(id -un)
	for kind in '' -g; do
		# shellcheck disable=SC2086 # an option or none
		getsubids $kind "$me" >/dev/null 2>&1 ||
			die "user $me has no range of subordinate ids: as root, usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $me (or ids that /etc/subuid gives nobody)"
	done
	unshare --user true 2>/dev/null ||
		die "this kernel gives users no namespaces: see sysctl kernel.unprivileged_userns_clone and user.max_user_namespaces"
	# not /tmp, which Debian 13 keeps in memory
	scratch=${TMPDIR:-/var/tmp}
	size=3500
	if [ "$(stat -c %d "$scratch")" = "$(stat -c %d "$CACHE")" ]; then size=7000; fi
	need_space "$size" "the toolchain root, while it is made," "$scratch" "set TMPDIR= to a folder on a larger disk"
fi
mirror=$("$SCRIPTS/apt-host.sh" mirror)
tmp=$dir.tmp
log=$LOGS/toolroot.log
rm -rf "$tmp" # from a run that was stopped
aptopts=()
while IFS= read -r line; do aptopts+=(--aptopt="$line"); done < <("$SCRIPTS/apt-host.sh" options)

mkroot() { # TARGET
	# The hook goes as text: as a user it runs under a uid that need not be able to enter
	# the home folder this checkout may lie in. And a root that was not finished is thrown
	# away, so nothing is gained by each package's fsync.
	mmdebstrap --mode=auto --variant=apt --architectures=amd64,arm64 --components=main \
		--include="$(packages | paste -sd,)" "${aptopts[@]}" --dpkgopt=force-unsafe-io \
		--customize-hook="$(cat "$SCRIPTS/toolroot.hook")" \
		"$SUITE" "$1" "deb $mirror $SUITE main" "deb $mirror $SUITE-backports main"
}
build() {
	if [ "$(id -u)" = 0 ]; then
		mkroot "$tmp"
	else
		# Through a tar file the user owns every file, and can remove them. It grows
		# outside of the caches, where other uids can enter.
		export TMPDIR=$scratch
		mkdir "$tmp"
		mkroot - | tar -x -C "$tmp" --no-same-owner --exclude='./dev/*'
	fi
}
progress_line() { grep -oE '^I: .*' "$log" | tail -n 1; }
failed() {
	rm -rf "$tmp"
	die "the toolchain root was not made; is the archive $mirror reachable? log: $log"
}
logged "$log" "making the toolchain root (Debian 13)" "1 to 3 min" build
mv "$tmp" "$dir"
