#!/bin/sh
# The shell tests of the series, as `perf test` would run them.
tests=$(echo /perf/tests/*.sh)
# shellcheck disable=SC2086 # words are wanted
set -- $tests
# shellcheck source=ktap.inc
. "${0%/*}/ktap.inc"
plan $#
for test in $tests; do
	name=${test##*/}
	sh "$test" >log 2>&1
	case $? in
	0) ok "${name%.sh}" ;;
	2) skip "${name%.sh}" "$(tail -n 1 log)" ;;
	*) show log; not_ok "${name%.sh}" ;;
	esac
done
finish
