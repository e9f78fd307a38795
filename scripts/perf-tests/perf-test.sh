#!/bin/sh
# The cases of `perf test` that pass with the unpatched perf in this guest
# (perf-test.list) must pass, and those of the series.
# shellcheck source=ktap.inc
. "${0%/*}/ktap.inc"
plan "$(grep -vc '^#\|^$' "$here/perf-test.list")"

# results: `result TAB name` of each case in what perf test prints
results() { sed -n 's/^ *[0-9.]*: \(.*[^ ]\) *: \(Ok\|Skip\|FAILED\).*/\2\t\1/p'; }

# result_of NAME FILE
result_of() { awk -F '\t' -v "name=$1" '$2 == name { print $1 }' "$2" | sort -u; }

perf test -S 2>&1 | results >all
grep -v '^#\|^$' "$here/perf-test.list" >list
tab=$(printf '\t')
while IFS=$tab read -r arch name; do
	title=$(echo "$name" | tr ' ' '_' | tr -cd 'A-Za-z0-9_.-')
	case $arch in
	all | "$(uname -m)") ;;
	*) skip "$title" "a case of $arch"; continue ;;
	esac
	result=$(result_of "$name" all)
	if [ "$result" != Ok ] && [ "$name" = "Number of exit events of a simple workload" ]; then
		# It gives up after some polls, which a busy host makes too few.
		perf test -v "$name" >log 2>&1 </dev/null
		results <log >again
		say "$title: ${result:-not in the output of perf test}, tried again:"
		tail -n 20 log | sed 's/^/# /'
		result=$(result_of "$name" again)
	fi
	verdict "$title" "$([ "$result" = Ok ] || echo "${result:-not in the output of perf test}")"
done <list
finish
