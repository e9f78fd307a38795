#!/bin/sh
# The cases of `perf test` that pass with the unpatched perf in this guest
# (perf-test.list) must pass, and those of the series.
# shellcheck source=ktap.inc
. "${0%/*}/ktap.inc"
plan "$(grep -vc '^#\|^$' "$here/perf-test.list")"

# `result TAB name`, one a line
perf test -S 2>&1 | sed -n 's/^ *[0-9.]*: \(.*[^ ]\) *: \(Ok\|Skip\|FAILED\).*/\2\t\1/p' >results
grep -v '^#\|^$' "$here/perf-test.list" >list
tab=$(printf '\t')
while IFS=$tab read -r arch name; do
	title=$(echo "$name" | tr ' ' '_' | tr -cd 'A-Za-z0-9_.-')
	case $arch in
	all | "$(uname -m)") ;;
	*) skip "$title" "a case of $arch"; continue ;;
	esac
	result=$(awk -F '\t' -v "name=$name" '$2 == name { print $1 }' results | sort -u)
	[ "$result" = Ok ] || {
		perf test -v "$name" >log 2>&1
		tail -n 20 log | sed 's/^/# /'
	}
	verdict "$title" "$([ "$result" = Ok ] || echo "${result:-not in the output of perf test}")"
done <list
finish
