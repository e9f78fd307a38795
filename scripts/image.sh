#!/bin/bash
# Make the guest's image (an initramfs) by qemu-images/manifest.
#
#   image.sh ARCH [VARIANT]      VARIANT of the kernel whose modules go in (variants.tsv)
#
# Leaves in out_dir ARCH VARIANT: image.cpio and image/ (the same files; the host
# reads build IDs there). The same input gives the same bytes, whoever makes it.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=${1:-} variant=${2:-default}
need_arch "$arch"
out=$(out_dir "$arch" "$variant")
root=$("$SCRIPTS/toolroot.sh" --path)
triplet=$(arch_get "$arch" triplet)
loader=$(arch_get "$arch" loader)
[ -s "$out/release" ] || die "no $variant kernel for $arch in $out: make it with 'make kernel ARCH=$arch'"
release=$(cat "$out/release")

if [ "$arch" = x86_64 ]; then guest=$root/usr; else guest=$root/opt/guest/$arch/usr; fi

"$SCRIPTS/guest.sh" "$arch"
take_lock "image-$arch-$variant"
tmp=$out/image.tmp
rm -rf "$tmp" "$tmp.cpio"
mkdir -p "$tmp"

source_of() {
	case $1 in
	REPO/*) echo "$REPO/${1#*/}" ;;
	ROOT/*) echo "$root/${1#*/}" ;;
	OUT/*) echo "$(out_dir "$arch")/${1#*/}" ;;
	GUEST/*) echo "$guest/${1#*/}" ;;
	*) die "qemu-images/manifest: '$1' must start with REPO, ROOT, OUT or GUEST" ;;
	esac
}

from_manifest() {
	local kind path arg src
	while read -r kind path arg; do
		case $kind in
		'' | '#'*) continue ;;
		dir) mkdir -p "$tmp$path" && continue ;;
		link)
			mkdir -p "$tmp${path%/*}"
			ln -s "$arg" "$tmp$path"
			continue ;;
		file | tree | opt) src=$(source_of "$arg") ;;
		*) die "qemu-images/manifest: unknown kind '$kind'" ;;
		esac
		if ! [ -e "$src" ]; then
			if [ "$kind" = opt ]; then warn "image $arch: without $path ($src was not built)"; continue; fi
			die "image $arch: $src is missing, for $path of qemu-images/manifest"
		fi
		mkdir -p "$tmp${path%/*}"
		# Links that lead out of the tree (Debian's /bin/sh) would break inside.
		if [ "$kind" = file ]; then cp -L "$src" "$tmp$path"; else cp -rP "$src" "$tmp$path"; fi
	done <"$REPO/qemu-images/manifest"
	# What Python has compiled names the time of its source.
	find "$tmp" -name __pycache__ -prune -exec rm -r {} +
}

modules() {
	local to=$tmp/lib/modules/$release
	mkdir -p "$to/extra"
	if [ -d "$out/modules" ]; then cp -L "$out"/modules/*.ko "$to/extra/" 2>/dev/null || :; fi
	for f in modules.builtin modules.builtin.modinfo modules.order; do
		cp -L "$out/build/$f" "$to/" ||
			die "$out/build has no $f: the kernel was not built to its end; run 'make kernel ARCH=$arch'"
	done
	"$SCRIPTS/in-toolroot.sh" depmod -b "$tmp" "$release"
	# busybox reads the text form alone
	rm -f "$to"/*.bin
}

libraries() {
	local lib libs
	libs=$("$SCRIPTS/in-toolroot.sh" python3 "$SCRIPTS/elf_libs.py" "$tmp" "/usr/lib/$triplet")
	mkdir -p "$tmp/lib/$triplet" "$tmp/$(dirname "$loader")"
	for lib in $libs; do cp -L "$root$lib" "$tmp/lib/$triplet/"; done
	cp -L "$root/usr/$loader" "$tmp/$loader"
}

from_manifest
modules
libraries
chmod -R u+rwX,go+rX,go-w "$tmp"
find "$tmp" -exec touch -h -d @0 {} +
# shellcheck disable=SC2016 # expanded in there
"$SCRIPTS/in-toolroot.sh" --dir "$tmp" sh -c \
	'find . -print0 | LC_ALL=C sort -z | cpio -o0 -H newc -R 0:0 --reproducible --quiet' >"$tmp.cpio"
rm -rf "$out/image"
mv "$tmp" "$out/image"
mv "$tmp.cpio" "$out/image.cpio"
say "image $arch/$variant: $(($(stat -c %s "$out/image.cpio") / 1024)) KiB, $out/image.cpio"
