#!/bin/bash
# Fetch the kernel source that linux-patches/BASE names, check it, and print where
# it lies. Does nothing but print when it is there.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

pkg=$(base_get DEB_PACKAGE) ver=$(base_get DEB_VERSION) sum=$(base_get DEB_SHA256)
inside=$(base_get DEB_TARBALL)
dir=$CACHE/source
file=$dir/${inside##*/}

check() { # FILE: its sha256 is what BASE says
	local got
	got=$(sha256sum "$1" | cut -d' ' -f1)
	[ "$got" = "$sum" ] && return
	die "$1 has sha256 $got, $PATCHES/BASE wants $sum: remove the file if it is damaged, or name another source with KERNEL_SRC="
}

mkdir -p "$dir"
take_lock source
if [ -e "$file" ]; then
	# A full check of the same bytes each time would cost a second a run.
	stamp="$sum $(stat -c '%s %Y %i' "$file")"
	if [ "$(cat "$file.checked" 2>/dev/null)" != "$stamp" ]; then
		check "$file"
		echo "$stamp" >"$file.checked"
	fi
	echo "$file"
	exit
fi

need apt-get apt
need dpkg-deb dpkg
need_space 500 "the kernel source"
mirror=$("$SCRIPTS/apt-host.sh" mirror)
apt=$dir/apt
log=$LOGS/fetch-source.log
rm -rf "$apt"
get() {
	"$SCRIPTS/own-apt.sh" "$apt" deb trixie-backports
	export APT_CONFIG=$apt/apt.conf
	cd "$apt"
	apt-get -q download "$pkg=$ver"
	dpkg-deb --fsys-tarfile ./*.deb | tar -x -O "./$inside" >"$file.tmp"
}
failed() {
	rm -rf "$apt" "$file.tmp"
	die "$pkg $ver was not fetched from $mirror: no network, or the package is gone; KERNEL_SRC=FILE takes the kernel.org tarball of $(base_get TAG); log: $log"
}
logged "$log" "fetching $pkg $ver" "20 s to 1 min" get >&2
check "$file.tmp"
mv "$file.tmp" "$file"
rm -rf "$apt"
echo "$file"
