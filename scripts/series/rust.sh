#!/bin/bash
# clippy or rustdoc on the kernel crate, in a build folder of its own.
#
#   rust.sh ARCH clippy|rustdoc
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=$1 what=$2
karch=$(arch_get "$arch" karch)
[ "$N" = 0 ] || [ -n "$(touched "$PARENT" rust '*.rs')" ] || nothing
case $what in clippy) tool=clippy-driver ;; *) tool=$what ;; esac
have "$tool" || skip "$tool is not in the toolchain root"
build=$CACHE/build/$arch-$what
mkdir -p "$build"
kmake() {
	inside --rw "$build" /build --dir /build make -f /src/Makefile O=/build "ARCH=$karch" LLVM=1 \
		"-j$JOBS" "$@"
}
cat "$TREE"/kernel/configs/tiny{-base,}.config "$CONFIGS"/{common,"$arch",kunit}.config >"$build/all.config"
kmake KCONFIG_ALLCONFIG=/build/all.config allnoconfig
out=$build/messages
case $what in
clippy) target="CLIPPY=1 prepare" ;;
rustdoc) target=rustdoc ;;
esac
# shellcheck disable=SC2086 # words are wanted
kmake $target >"$build/stdout" 2>"$out" || { tail -n 30 "$out"; no "$what fails: $(grep -m1 -E '^error' "$out")"; }
cat "$build/stdout" "$out"
grep -A 4 -E '^(warning|error)' "$out" | grep -vE '^(--|warning: [0-9]+ warnings? emitted)' >"$out.lines" || :
only_new "$out.lines"
