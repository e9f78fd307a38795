#!/bin/bash
# Build rust-module/ against a kernel that kernel.sh made, into its out folder.
# Nothing is written into the checkout.
#
#   module.sh ARCH [VARIANT] [MAKE-TARGET-OR-VARIABLE...]
#   MODULE=DIR    another module's sources
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=${1:?usage: module.sh ARCH [VARIANT]} variant=${2:-default}
shift $(($# > 2 ? 2 : $#))
mod=${MODULE:-$REPO/rust-module}
karch=$(arch_get "$arch" karch)
out=$(out_dir "$arch" "$variant")
[ -e "$out/build" ] || die "no $arch kernel ($variant) is built: run scripts/kernel.sh $arch $variant"
[ -e "$mod/Kbuild" ] || die "$mod/Kbuild is missing: restore rust-module/ from git"
take_lock "kernel-$arch-$variant"
build=$(readlink "$out/build")
src=$CACHE/source/$(variant_get "$variant" source)
if [ "$(variant_get "$variant" source)" = tree ]; then src=$TREE; fi
log=$LOGS/module-$arch-$variant.log
mo=$build/perf_mmap3
mkdir -p "$mo"

compile() {
	"$SCRIPTS/in-toolroot.sh" --ro "$src" /src --rw "$build" /build --ro "$mod" /module --dir /build \
		make -f /src/Makefile O=/build "ARCH=$karch" LLVM=1 LOCALVERSION= \
		M=/module MO=/build/perf_mmap3 CONFIG_PERF_MMAP3=m "-j$JOBS" "$@"
}
failed() {
	first=$(grep -m1 -E '(^|[^-])error(\[|:)' "$log" || :)
	die "the module does not build for $arch: ${first:-see the log}; log: $log"
}
logged "$log" "building the module for $arch ($variant)" "10 s" compile "${@:-modules}"
if [ $# -eq 0 ]; then
	mkdir -p "$out/modules"
	cp "$mo"/*.ko "$out/modules/"
	say "module $arch $variant: $(ls "$out"/modules/*.ko)"
fi
