#!/bin/sh
# The same samples with MMAP3, and with the MMAP2 that perf inject makes of it: every
# command says the same, but for the name of the record. In a file and in a pipe.
# shellcheck source=ktap.inc
. "${0%/*}/ktap.inc"
plan 12

# without what is said of the file itself
text() {
	sed 's/PERF_RECORD_MMAP3/PERF_RECORD_MMAP2/
		/captured on/d; /cmdline/d; /"captured-on"/d; /"data-size"/d; /"feat-offset"/d'
}

# same NAME COMMAND...: with the data as -i
same() {
	name=$1
	shift
	perf "$@" -i data 2>/dev/null | text >expected
	perf "$@" -i converted 2>/dev/null | text >got
	[ -s expected ] || { not_ok "$name" "no output"; return; }
	verdict "$name" "$(diff expected got | head -n 3 | tr '\n' ' ')"
}

json() {
	rm -f json
	perf data convert --to-json=json "$@" >/dev/null 2>&1
	sed -n "/\"samples\"/,\$p" json
}

record mmap3 data -g perf test -w thloop 0.3 3 || not_ok record
# without samples there is little to compare
verdict samples "$(perf script -i data 2>/dev/null | grep -q test_loop || echo "none of the program")"
perf inject --convert-mmap3 -i data -o converted || not_ok convert
perf script --show-mmap-events -i converted 2>/dev/null | grep -q PERF_RECORD_MMAP3
verdict no_mmap3_left "$([ $? = 1 ] || echo "MMAP3 in converted data")"
same script script --show-mmap-events
same report report --stdio
same report_mmaps report --stdio --mmaps
same buildid_list buildid-list
same buildid_list_all buildid-list --with-hits
json -i data >expected
json -i converted >got
verdict json "$([ -s expected ] || echo "no output"; diff expected got | head -n 3 | tr '\n' ' ')"

perf script --show-mmap-events -i data 2>/dev/null | text >expected
for options in '' -b --buildid-all; do
	# shellcheck disable=SC2086 # none is wanted as none
	perf inject $options -i data -o - 2>log | perf script --show-mmap-events -i - 2>/dev/null |
		text >got
	verdict "pipe${options:+_${options##*-}}" "$(diff expected got | head -n 3 | tr '\n' ' ')"
done
perf inject --aslr -i data -o aslr 2>log
perf script --show-mmap-events -i aslr 2>/dev/null | grep PERF_RECORD_MMAP3 | grep -o '\[0x[^(]*' |
	sort >got
perf script --show-mmap-events -i data 2>/dev/null | grep PERF_RECORD_MMAP3 | grep -o '\[0x[^(]*' |
	sort >expected
verdict aslr_hides_addresses "$([ -s got ] || echo "no records"; grep -Fxf expected got | head -n 1)"
finish
