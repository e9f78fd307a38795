#!/bin/bash
# Build rust-module/ against a kernel that kernel.sh made, into its out folder.
# Nothing is written into the checkout.
#
#   module.sh ARCH [VARIANT] [MAKE-TARGET-OR-VARIABLE...]
#   MODULE=DIR        another module's sources
#   MODULE_OUT=NAME   folder in the build folder, instead of perf_mmap3
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=${1:?usage: module.sh ARCH [VARIANT]} variant=${2:-default}
shift $(($# > 2 ? 2 : $#))
mod=${MODULE:-$REPO/rust-module}
karch=$(arch_get "$arch" karch)
out=$(out_dir "$arch" "$variant")
[ -e "$out/build" ] || die "no $arch kernel ($variant) is built: run scripts/kernel.sh $arch $variant"
if [ "$(variant_get "$variant" source)" != tree ] ||
	! grep -qx CONFIG_RUST=y "$out/config" || ! grep -qx CONFIG_PERF_EVENTS=y "$out/config"; then
	say "no module of its own for $variant ($(variant_get "$variant" what))"
	exit
fi
[ -e "$mod/Kbuild" ] || die "$mod/Kbuild is missing: restore rust-module/ from git"
take_lock "kernel-$arch-$variant"
build=$(readlink "$out/build")
mo=${MODULE_OUT:-perf_mmap3}
log=$LOGS/module-$arch-$variant${MODULE_OUT:+-${MODULE_OUT#perf_mmap3-}}.log
# make goes by times alone: what it made of other sources may be newer than these.
sources=$(cd "$mod" && find . -type f -exec sha256sum {} + | sort | hash_of)
if [ "$(cat "$build/$mo/.sources" 2>/dev/null)" != "$sources" ]; then rm -rf "${build:?}/$mo"; fi
mkdir -p "$build/$mo"
echo "$sources" >"$build/$mo/.sources"

# In the tree, the option for KUnit becomes a cfg by itself.
compile() {
	"$SCRIPTS/in-toolroot.sh" --ro "$TREE" /src --rw "$build" /build --ro "$mod" /module --dir /build \
		make -f /src/Makefile O=/build "ARCH=$karch" LLVM=1 LOCALVERSION= \
		M=/module "MO=/build/$mo" CONFIG_PERF_MMAP3=m CONFIG_PERF_MMAP3_KUNIT_TEST=y \
		KRUSTFLAGS="--cfg CONFIG_PERF_MMAP3_KUNIT_TEST" "-j$JOBS" "$@"
}
failed() {
	first=$(grep -m1 -E '(^|[^-])error(\[|:)' "$log" || :)
	die "the module does not build for $arch: ${first:-see the log}; log: $log"
}
logged "$log" "building the module for $arch ($variant)" "10 s" compile "${@:-modules}"
if [ $# -eq 0 ]; then
	mkdir -p "$out/modules"
	cp "$build/$mo"/*.ko "$out/modules/"
	say "module $arch $variant: $(ls "$out"/modules/*.ko)"
fi
