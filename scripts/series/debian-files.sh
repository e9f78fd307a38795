#!/bin/bash
# Which files that the mails touch does Debian patch? The base is Debian's source, so a
# patch may need another line number in the release of the same name.
#
#   debian-files.sh MBOX...
#
# Prints a line a file, or one that says there is none. Needs the network the first time;
# without Debian's source package only what the files themselves show is told.
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

ver=$(base_get DEB_VERSION)
list=$CACHE/source/debian-patched-$ver.txt
# What upstream does not have and Debian's patches bring: seen without the package.
MARKS='SECURITY_PERF_EVENTS_RESTRICT'
touched=$(sed -nE 's,^diff --git a/(.*) b/.*,\1,p' "$@" | sort -u)
tmp=$CACHE/source/debian.tmp
fetch() {
	local uris uri name hash
	rm -rf "$tmp"
	mkdir -p "$tmp"
	case $ver in *~bpo*) suite=trixie-backports ;; *) suite=sid ;; esac
	"$SCRIPTS/own-apt.sh" "$tmp/apt" deb-src "$suite"
	uris=$(APT_CONFIG=$tmp/apt/apt.conf apt-get -q --print-uris --only-source source "linux=$ver")
	read -r uri name _ hash < <(grep 'debian\.tar' <<<"$uris")
	APT_CONFIG=$tmp/apt/apt.conf /usr/lib/apt/apt-helper download-file "${uri//\'/}" "$tmp/$name" "$hash"
	# What series does not name is not applied.
	tar -x -f "$tmp/$name" -C "$tmp" debian/patches
	(cd "$tmp/debian/patches" && grep -vE '^[[:space:]]*(#|$)' series | sed 's/[[:space:]].*//' | xargs -d '\n' cat) |
		sed -nE 's,^\+\+\+ [^/[:space:]]+/([^[:space:]]+).*,\1,p' | sort -u >"$tmp/list"
	[ -s "$tmp/list" ]
	mv "$tmp/list" "$list"
}
without_package() {
	local f
	rm -rf "$tmp"
	echo "Debian's source package was not fetched, so what it patches is not known in full ($log)"
	while IFS= read -r f; do
		if git -C "$TREE" grep -qE "$MARKS" refs/mmap3/base -- "$f"; then echo "also patched by Debian: $f"; fi
	done <<<"$touched"
	exit 0
}
if [ ! -s "$list" ]; then
	log=$LOGS/debian-files.log
	failed() { without_package >&3; }
	exec 3>&1
	LOG_TAIL=0 logged "$log" "fetching what Debian patches" "10 s" fetch >/dev/null 2>&1
fi
found=$(comm -12 "$list" - <<<"$touched")
if [ -n "$found" ]; then
	while IFS= read -r f; do echo "also patched by Debian: $f"; done <<<"$found"
else
	echo "none of the files is patched by Debian, which patches $(wc -l <"$list")"
fi
