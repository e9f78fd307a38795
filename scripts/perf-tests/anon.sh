#!/bin/sh
# Code in anonymous memory: its record says that there is no file, and nobody looks for
# one of the name that is printed for it.
# shellcheck source=ktap.inc
. "${0%/*}/ktap.inc"
plan 4

# a file of that name, with symbols
cp /perf/perf /anon
record mmap3 data perf test -w jitmaps anon 20 || not_ok record
perf script --show-mmap-events -i data 2>/dev/null | grep 'MMAP3 .*: r[w-]xp //anon$' >anon
verdict anon_recorded "$([ -s anon ] || echo "no MMAP3 of anonymous memory")"
verdict anon_has_no_inode "$(grep -v ' 00:00 0 0\]' anon | head -n 1)"
# misc of the record: PERF_RECORD_MISC_MMAP3_NO_FILE and the user mode
perf script -D -i data 2>/dev/null | awk '
	/ raw event: / { misc = "" }
	/^\.  0000:/ { misc = $8 $7 }
	/PERF_RECORD_MMAP3 .*\/\/anon$/ { print misc }' | sort -u >misc
verdict anon_says_no_file "$([ "$(cat misc)" = 0802 ] || echo "misc is $(tr '\n' ' ' <misc)")"
# the program prints the addresses of its functions, each in a page of its own
perf script -F ip,sym -i data 2>/dev/null | awk '
	{ page = $1; sub(/...$/, "", page) }
	NR == FNR { ours[page]; next }
	page in ours { print $2 }' data.out - | sort -u >named
verdict no_symbols_of_a_file_of_that_name "$([ "$(cat named)" = '[unknown]' ] || echo "symbols: $(tr '\n' ' ' <named)")"
rm /anon
finish
