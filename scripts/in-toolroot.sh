#!/bin/bash
# Run a command with the tools of the toolchain root: read-only, in namespaces of
# its own, without network, seeing only what it is given.
#
#   in-toolroot.sh [--ro HOST IN]... [--rw HOST IN]... [--net] [--kvm] [--dir IN] CMD ARGS...
#
# Always there: the caches (CACHE, read-write) and this checkout (read-only), each
# under its own name, and an empty /tmp. ccache stands in for the compilers
# (CCACHE_DIR=: elsewhere than in CACHE).
# Builds mount their source at /src and their output at /build: the paths are then
# the same on every machine and for every variant, so ccache hits and results do
# not depend on where the caches lie.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

usage() { die "usage: in-toolroot.sh [--ro HOST IN] [--rw HOST IN] [--net] [--kvm] [--dir IN] CMD..."; }

need bwrap bubblewrap
root=$("$SCRIPTS/toolroot.sh" --path)
[ -x "$root/usr/bin/env" ] || die "no toolchain root in $root: make it with scripts/toolroot.sh"

args=(--unshare-all --die-with-parent --new-session --clearenv)
# A fresh root made of the toolchain root's folders: mount points for what follows
# can be made in it, whoever owns the toolchain.
for e in bin sbin lib lib32 lib64 libx32 usr etc opt var; do
	if [ -L "$root/$e" ]; then
		args+=(--symlink "$(readlink "$root/$e")" "/$e")
	elif [ -d "$root/$e" ]; then
		args+=(--ro-bind "$root/$e" "/$e")
	fi
done
path=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
if [ "$root" -ef / ]; then
	# the host's own tools: Rust often lives in the home folder
	path=/usr/lib/ccache:$PATH
	for e in .cargo .rustup; do
		if [ -d "$HOME/$e" ]; then args+=(--ro-bind "$HOME/$e" "$HOME/$e"); fi
	done
fi
ccache=${CCACHE_DIR:-$CACHE/ccache}
mkdir -p "$ccache"
args+=(--dev /dev --proc /proc --tmpfs /tmp --tmpfs /run
	--ro-bind /sys /sys
	--ro-bind "$REPO" "$REPO" --bind "$CACHE" "$CACHE" --bind "$ccache" "$ccache"
	--setenv PATH "$path" --setenv HOME /tmp --setenv LC_ALL "$LC_ALL"
	--setenv TERM "${TERM:-dumb}"
	--setenv CACHE "$CACHE"
	--setenv CCACHE_DIR "$ccache" --setenv CCACHE_MAXSIZE 5G
	# A kernel build gives each object its own -D and -I anyway; without the
	# working folder in the hash, every variant shares.
	--setenv CCACHE_NOHASHDIR 1)
dir=
while [ $# -gt 0 ]; do
	case $1 in
	--ro) [ $# -gt 2 ] || usage; args+=(--ro-bind "$2" "$3"); shift 3 ;;
	--rw) [ $# -gt 2 ] || usage; args+=(--bind "$2" "$3"); shift 3 ;;
	--dir) [ $# -gt 1 ] || usage; dir=$2; shift 2 ;;
	--kvm) if [ -e /dev/kvm ]; then args+=(--dev-bind /dev/kvm /dev/kvm); fi; shift ;;
	--net)
		args+=(--share-net)
		if [ -e /etc/resolv.conf ]; then args+=(--ro-bind "$(realpath /etc/resolv.conf)" /run/resolv.conf); fi
		shift ;;
	--) shift; break ;;
	--*) usage ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || usage
exec bwrap "${args[@]}" --chdir "${dir:-$REPO}" "$@"
