#!/bin/bash
# Build perf for ARCH with COMPILER, on top of what was built for the patch before. A
# warning is a failure.
#
#   perf.sh ARCH clang|gcc
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../perf-lib.sh"

arch=$1 compiler=$2
build=$CACHE/build/perf-$arch-$compiler
mkdir -p "$build"
perf_flags "$arch" "$compiler"
rm -f "$build/perf"
rc=0
inside --rw "$build" /build --dir /build env "$(perf_libraries "$arch")" \
	make -C /src/tools/perf O=/build "JOBS=$JOBS" "${flags[@]}" all >"$build/said" 2>&1 || rc=$?
cat "$build/said"
# perf has -Werror, not all the libraries that it is made of
first=$(grep -m1 -E '(^|[^a-z-])(error|warning|Error|fatal):? ' "$build/said" || :)
[ "$rc" = 0 ] || no "perf does not build: ${first:-see the log}"
[ -x "$build/perf" ] || no "make is content, but there is no perf"
first=$(grep -m1 -E ': warning: ' "$build/said" || :)
[ -z "$first" ] || no "$first"
