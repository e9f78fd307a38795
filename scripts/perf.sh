#!/bin/bash
# Build perf of the tree for the guest and put it, with the tests of
# scripts/perf-tests, in the arch's out folder (lib.sh: out_dir): perf/, perf-tests/.
#
#   perf.sh ARCH          the guest's
#   perf.sh ARCH asan     from its objects (made first), but with those that read records
#                         under ASan and UBSan: perf-asan in the out folder
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
. "$SCRIPTS/perf-lib.sh"

arch=${1:?usage: perf.sh ARCH [asan]} kind=${2:-}
[ -z "$kind" ] || [ "$kind" = asan ] || die "usage: perf.sh ARCH [asan]"
sanitize="-fsanitize=address,undefined -fno-omit-frame-pointer"
if [ -n "$kind" ]; then
	"$SCRIPTS/toolroot.sh"
	# It is a package of its own; without it, make would end at the first program linked.
	# shellcheck disable=SC2016 # expanded in there
	"$SCRIPTS/in-toolroot.sh" sh -c 'echo "int main(void) { return 0; }" | clang $0 -x c -o /dev/null -' "$sanitize" 2>/dev/null ||
		die "$("$SCRIPTS/toolroot.sh" --path) has no ASan runtime for its clang, so perf cannot be tested with it: install it (Debian: libclang-rt-19-dev for clang 19), or leave out perf's tests with PERF=0"
	"$SCRIPTS/perf.sh" "$arch"
fi
triplet=$(arch_get "$arch" triplet)
"$SCRIPTS/toolroot.sh"
"$SCRIPTS/tree.sh"
take_lock "perf-$arch"

toolroot=$("$SCRIPTS/toolroot.sh" --path)
build=$CACHE/build/perf-$arch-$(hash_of <<<"$toolroot")
out=$(out_dir "$arch")
log=$LOGS/perf-$arch${kind:+-$kind}.log
mkdir -p "$build" "$out"
if [ -n "$kind" ]; then
	plain=$build
	build=$CACHE/build/perf-$kind-$arch-$(hash_of <<<"$toolroot")
fi

perf_flags "$arch" clang
# What reads records, and what they are made into.
sanitized=(builtin-inject builtin-script aslr build-id data dso event evlist evsel jitdump
	machine map maps ordered-events session synthetic-events thread tool)
if [ -n "$kind" ]; then
	# Objects are made again as their flags differ from those of the other build.
	for o in "${sanitized[@]}"; do flags+=("CFLAGS_$o.o=$sanitize"); done
	flags+=("CFLAGS_header.o=-include /build/PERF-VERSION-FILE $sanitize")
fi
tests() { find "$SCRIPTS/perf-tests" -type f -exec sha256sum {} + | sort; }
made_of() {
	git -C "$TREE" rev-parse "$(tree_state):tools"
	echo "${flags[@]}"
	tests
	sha256sum <"$0"
}
before=$(made_of)
stamp=$(hash_of <<<"$before")
result=$out/perf${kind:+-$kind}
if [ "$(cat "$build/.stamp" 2>/dev/null)" = "$stamp" ] && [ -e "$result" ]; then
	say "perf $arch${kind:+ ($kind)} is up to date ($result)"
	exit
fi
rm -f "$build/.stamp"
need_space 500 "building perf for $arch"

inside() { "$SCRIPTS/in-toolroot.sh" --ro "$TREE" /src --rw "$build" /build --dir /build "$@"; }
total=$(cat "$build/.steps" 2>/dev/null || echo 900)
steps() { grep -cE '^  [A-Z]+ +[^ ]' "$log"; }
progress_line() { echo "step $(steps) of about $total (fewer when something was built before)"; }
compile_perf() {
	inside env "LDFLAGS=${kind:+$sanitize}" "$(perf_libraries "$arch")" \
		make -C /src/tools/perf O=/build "JOBS=$JOBS" "${flags[@]}" all
}
compile_asan() {
	rm -rf "$build"
	cp -a "$plain" "$build"
	rm -f "$build"/.s* "$build"/perf "$build"/perf.guest
	compile_perf
}
compile_guest() {
	compile_perf
	inside llvm-objcopy --strip-debug perf perf.guest
	local cc=(clang "--target=$triplet" -fuse-ld=lld -O2 -Wall -Wextra -Werror -fPIC)
	inside "${cc[@]}" "-Wl,--build-id" "$SCRIPTS/perf-tests/dlopen.c" -o dlopen
	# a short build ID and a space in the name: readers have had trouble with both
	inside "${cc[@]}" "-Wl,--build-id=0x0102030405060708" -shared \
		"$SCRIPTS/perf-tests/dlopen_plugin.c" -o "dlopen plugin.so"
	inside "${cc[@]}" "$SCRIPTS/perf-tests/maps.c" -o maps
	inside "${cc[@]}" "-Wl,--build-id" -shared "$SCRIPTS/perf-tests/script_ext.c" -o script_ext.abi3.so
}
failed() {
	first=$(grep -m1 -E '(error|Error|fatal):? ' "$log" | sed "s,/src/,$TREE/,g" || :)
	die "perf for $arch does not build: ${first:-see the log}; log: $log"
}
if [ -n "$kind" ]; then
	logged "$log" "building what of perf reads records with ASan and UBSan" "1 min" compile_asan
	cp "$build/perf" "$result.new"
	mv "$result.new" "$result"
	if [ "$(made_of)" = "$before" ]; then echo "$stamp" >"$build/.stamp"; fi
	say "perf $arch ($kind): $result"
	exit
fi
logged "$log" "building perf for $arch" "3 min new, 20 s with a warm ccache" compile_guest
if [ "$(steps)" -gt "$(cat "$build/.steps" 2>/dev/null || echo 0)" ]; then steps >"$build/.steps"; fi

rm -rf "$out/perf.new" "$out/perf-tests.new"
mkdir "$out/perf.new" "$out/perf-tests.new"
cp "$build/perf.guest" "$out/perf.new/perf"
mkdir "$out/perf.new/tests"
for t in inject_guest inject_mmap3 jitdump_mmap3; do
	cp "$TREE/tools/perf/tests/shell/$t.sh" "$out/perf.new/tests/"
done
for f in "$SCRIPTS"/perf-tests/{settings,script.py,*.{sh,inc,list}} \
	"$build"/{dlopen,"dlopen plugin.so",maps,script_ext.abi3.so}; do
	cp "$f" "$out/perf-tests.new/"
done
for d in perf perf-tests; do
	rm -rf "${out:?}/$d"
	mv "$out/$d.new" "$out/$d"
done
# A tree that changed during the build is built again the next time.
if [ "$(made_of)" = "$before" ]; then echo "$stamp" >"$build/.stamp"; fi
say "perf $arch: $out/perf/perf ($(($(stat -c %s "$out/perf/perf") / 1024)) KiB)"
