#!/bin/bash
# Build the tree's perf_events selftests and the demo for the guest and install them
# in the arch's out folder (lib.sh: out_dir): selftests/, demo/.
#
#   selftests.sh ARCH
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=${1:?usage: selftests.sh ARCH}
karch=$(arch_get "$arch" karch)
srcarch=$(arch_get "$arch" srcarch)
triplet=$(arch_get "$arch" triplet)
"$SCRIPTS/toolroot.sh"
"$SCRIPTS/tree.sh"
take_lock "selftests-$arch"

toolroot=$("$SCRIPTS/toolroot.sh" --path)
build=$CACHE/build/selftests-$arch-$(hash_of <<<"$toolroot")
out=$(out_dir "$arch")
log=$LOGS/selftests-$arch.log
mkdir -p "$build" "$out"

demo() { find "$SCRIPTS/demo" -type f -exec sha256sum {} + 2>/dev/null | sort; }
made_of=$(tree_state; demo; sha256sum <"$0")
stamp=$(hash_of <<<"$made_of")
if [ "$(cat "$build/.stamp" 2>/dev/null)" = "$stamp" ] && [ -e "$out/selftests" ]; then
	say "selftests $arch are up to date ($out/selftests)"
	exit
fi
rm -f "$build/.stamp"

inside() { "$SCRIPTS/in-toolroot.sh" --ro "$TREE" /src --rw "$build" /build --dir /build "$@"; }
compile() {
	rm -rf "$build/install" "$build/demo"
	mkdir "$build/install" "$build/demo"
	inside make -f /src/Makefile O=/build "ARCH=$karch" LLVM=1 "-j$JOBS" headers
	# The kernel's own rules do not see that a header of the tests changed.
	rm -rf "$build/kselftest"
	inside make -C /src/tools/testing/selftests O=/build "ARCH=$srcarch" LLVM=1 "-j$JOBS" \
		TARGETS=perf_events SKIP_TARGETS= FORCE_TARGETS=1 INSTALL_PATH=/build/install install
	# A part of the series may not have the reader that the demo is built on.
	if [ -e "$TREE/tools/testing/selftests/perf_events/mmap3_reader.h" ]; then
		inside make -C "$SCRIPTS/demo" OUT=/build/demo "CC=clang --target=$triplet -fuse-ld=lld" \
			"CPPFLAGS=-isystem /build/usr/include -I/src/tools/testing/selftests/perf_events"
	fi
}
failed() {
	first=$(grep -m1 -E '(error|Error|fatal):? ' "$log" | sed "s,/src/,$TREE/,g" || :)
	die "the selftests for $arch do not build: ${first:-see the log}; log: $log"
}
logged "$log" "building the selftests and the demo for $arch" "30 s" compile
for d in selftests demo; do
	from=$build/$d
	if [ "$d" = selftests ]; then from=$build/install; fi
	rm -rf "$out/$d.new"
	cp -a "$from" "$out/$d.new"
	rm -rf "${out:?}/$d"
	mv "$out/$d.new" "$out/$d"
done
if [ "$(tree_state; demo; sha256sum <"$0")" = "$made_of" ]; then
	echo "$stamp" >"$build/.stamp"
else
	warn "$TREE changed during the build; run it again for the newest"
fi
say "selftests $arch: $out/selftests/perf_events"
