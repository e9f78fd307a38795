#!/bin/bash
# Compile, for ARCH, each C file outside of tools/ that the whole series touches, with
# W=1 or sparse (C=2): no message that the unpatched source does not have.
#
#   objects.sh ARCH W=1|C=2
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=$1 how=$2
[ "$N" = 0 ] || [ -n "$(touched "$PARENT" '*.c' '*.h' ':!tools')" ] || nothing
if [ "$how" = C=2 ]; then have sparse || skip "sparse is not in the toolchain root"; fi
# shellcheck disable=SC2153 # check-series.sh sets LAST
mapfile -t objects < <(git -C "$TREE" diff --name-only "$BASE" "$LAST" -- '*.c' ':!tools' ':!rust' |
	while IFS= read -r f; do if [ -e "$TREE/$f" ]; then echo "${f%.c}.o"; fi; done)
build=$CACHE/build/objects-$arch
mkdir -p "$build"
kmake() {
	inside --rw "$build" /build --dir /build make -f /src/Makefile O=/build "ARCH=$arch" LLVM=1 "-j$JOBS" "$@"
}
# What the objects need; the rest of the kernel is not built.
printf 'CONFIG_%s\n' PERF_EVENTS=y MMU=y KUNIT=y RUNTIME_TESTING_MENU=y MODULES=y \
	ARCH_MULTIPLATFORM=y ARCH_MULTI_V7=y ARCH_VIRT=y 64BIT="$([ "$arch" = arm ] && echo n || echo y)" \
	>"$build/all.config"
if [ -e "$TREE/lib/tests/buildid_kunit.c" ]; then echo CONFIG_BUILDID_KUNIT_TEST=y >>"$build/all.config"; fi
cat "$TREE/kernel/configs/tiny-base.config" "$build/all.config" >"$build/allno.config"
if ! { kmake KCONFIG_ALLCONFIG=/build/allno.config allnoconfig && kmake prepare; }; then
	[ "$N" != 0 ] || skip "the unpatched source cannot be prepared for $arch with these tools"
	no "cannot be configured for $arch"
fi
grep -qx CONFIG_PERF_EVENTS=y "$build/.config" || no "the $arch kernel is without PERF_EVENTS"
out=$build/messages
# Messages of an object that is up to date would be missing.
(cd "$build" && rm -f "${objects[@]}")
kmake "$how" "${objects[@]}" >"$build/stdout" 2>"$out" || { cat "$out"; no "does not compile: $(grep -m1 -E 'error' "$out")"; }
cat "$build/stdout" "$out"
# All of them, or nothing was looked at.
for o in "${objects[@]}"; do [ -s "$build/$o" ] || no "$o was not compiled"; done
grep -E '(warning|error|note):' "$out" >"$out.lines" || :
only_new "$out.lines"
