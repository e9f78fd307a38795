#!/bin/sh
# Give records with defects to a perf that was built with sanitizers.
#
#   fuzz.sh PERF SECONDS
# shellcheck source=../perf-tests/ktap.inc
. "${0%/*}/../perf-tests/ktap.inc"
plan 2

# A sanitizer that was not built in finds nothing.
said=$(ASAN_OPTIONS=help=1 "$1" version 2>&1)
verdict sanitizers_are_built_in "$(echo "$said" | grep -q 'AddressSanitizer' || echo "$1 does not know ASAN_OPTIONS")"
python3 "$here/../perf-tests/fuzz.py" "$1" "$2" >log 2>&1
rc=$?
show log
verdict mutated_records "$([ "$rc" = 0 ] || echo "status $rc: $(tail -n 1 log)")"
finish
