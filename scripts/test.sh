#!/bin/bash
# Run every test: those of the host, then each arch's in a guest, then those of the host
# that look at what the guests recorded; judge them together.
# What the guests need is built first; an arch that cannot be built fails the run.
#
#   test.sh [ARCH]...          all arches if none is named
#   FLAVOUR=VARIANT            of scripts/variants.tsv; default
#   RUN=PROGRAM                one kselftest, or program of scripts/perf-tests, only;
#                              host tests are left out
#   ARGS=WORDS TIMEOUT=S       with RUN: its arguments, and how long it may take
#   PERF=0|1                   without or with perf and its tests (scripts/perf.sh);
#                              1 for the default kernel, 0 for others
#
# The last line is `N passed, N failed, N skipped`; exit code: judge.py's.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

variant=${FLAVOUR:-default}
[ $# -gt 0 ] || mapfile -t ALL < <(arches)
[ $# -gt 0 ] || set -- "${ALL[@]}"
for arch in "$@"; do need_arch "$arch"; done
# Another run would clear the logs before they are judged.
take_lock test
runs=()
kunit=$TREE/tools/testing/kunit

host_tests() {
	local run=$CACHE/runs/host rc=0
	rm -rf "$run"
	mkdir -p "$run"
	need python3
	say "host tests (usually 30 s; log: $run/ktap)"
	KUNIT_DIR=$kunit python3 "$SCRIPTS/tests/ktap.py" >"$run/ktap" || rc=$?
	printf '{"kind": "host", "name": "host", "code": %s}\n' "$rc" >"$run/result.json"
	runs+=("$run")
}

# How perf reads what it is given, and how others read what it writes.
perf_host_tests() {
	local run=$CACHE/runs/perf-host rc=0
	rm -rf "$run"
	mkdir -p "$run"
	say "host tests of perf (usually 40 s; log: $run/ktap)"
	"$SCRIPTS/perf-host.sh" "$variant" "$@" >"$run/ktap" || rc=$?
	printf '{"kind": "host", "name": "perf on the host", "code": %s}\n' "$rc" >"$run/result.json"
	runs+=("$run")
}

# Other kernels are there for other reasons, and some are slow.
[ -n "${PERF:-}" ] || [ "$variant" = default ] || PERF=0
if perf_wanted; then export PERF=1; else export PERF=0; fi

for arch in "$@"; do
	if [ "$PERF" = 1 ]; then "$SCRIPTS/perf.sh" "$arch"; fi
	"$SCRIPTS/ready.sh" "$arch" "$variant"
done
if [ "$PERF" = 1 ] && [ -z "${RUN:-}" ]; then "$SCRIPTS/perf-host.sh" --build; fi
[ -n "${RUN:-}" ] || host_tests
for arch in "$@"; do
	"$SCRIPTS/boot.sh" "$arch" "$variant" test || :
	runs+=("$CACHE/runs/$arch-$variant-test")
done
if [ "$PERF" = 1 ] && [ -z "${RUN:-}" ]; then perf_host_tests "$@"; fi
exec "$SCRIPTS/in-toolroot.sh" python3 "$SCRIPTS/judge.py" --kunit "$kunit" "${runs[@]}"
