#!/bin/bash
# Run every test: those of the host, then each arch's in a guest; judge them together.
# What the guests need is built first; an arch that cannot be built fails the run.
#
#   test.sh [ARCH]...          all arches if none is named
#   FLAVOUR=VARIANT            of scripts/variants.tsv; default
#   RUN=PROGRAM                one kselftest only; host tests are left out
#   ARGS=WORDS TIMEOUT=S       with RUN: its arguments, and how long it may take
#   PERF=1                     the tests of perf, too (scripts/perf.sh)
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

for arch in "$@"; do
	if [ -n "${PERF:-}" ]; then "$SCRIPTS/perf.sh" "$arch"; fi
	"$SCRIPTS/ready.sh" "$arch" "$variant"
done
[ -n "${RUN:-}" ] || host_tests
for arch in "$@"; do
	"$SCRIPTS/boot.sh" "$arch" "$variant" test || :
	runs+=("$CACHE/runs/$arch-$variant-test")
done
exec "$SCRIPTS/in-toolroot.sh" python3 "$SCRIPTS/judge.py" --kunit "$kunit" "${runs[@]}"
