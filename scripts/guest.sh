#!/bin/bash
# Build the guest's own programs, scripts/guest/*.c, into out_dir ARCH: guest/. They are
# static, but for *_dyn.c, which are there to have something to load.
#
#   guest.sh ARCH
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=${1:-}
need_arch "$arch"
to=$(out_dir "$arch")/guest
take_lock "guest-$arch"
rm -rf "$to.tmp"
mkdir -p "$to.tmp"
for source in "$SCRIPTS"/guest/*.c; do
	name=$(basename "$source" .c)
	link=(-static)
	case $name in *_dyn) link=("-Wl,--build-id=sha1") ;; esac
	"$SCRIPTS/in-toolroot.sh" clang "--target=$(arch_get "$arch" triplet)" -fuse-ld=lld "${link[@]}" \
		-O2 -g -Wall -Wextra -Werror -pthread -ffile-prefix-map="$REPO=." \
		-o "$to.tmp/$name" "$source" || die "$source does not build for $arch (see above)"
done
rm -rf "$to"
mv "$to.tmp" "$to"
