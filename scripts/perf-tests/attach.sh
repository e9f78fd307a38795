#!/bin/sh
# perf record attaches to a running program: what was mapped before it (which perf reads
# from /proc and records as MMAP2) and what is mapped later (MMAP3) must fit together.
# shellcheck source=ktap.inc
. "${0%/*}/ktap.inc"
plan 8

# until_true COMMAND...: tries for minutes, as the host may be busy
until_true() {
	for _ in $(seq 3000); do
		if "$@"; then return; fi
		usleep 100000
	done
	say "gave up waiting for: $*"
	return 1
}
# shellcheck disable=SC2317,SC2329 # until_true calls them
lines() { [ "$(grep -c ready said)" -ge "$1" ]; }
# shellcheck disable=SC2317,SC2329
ended() { ! kill -0 "$1" 2>/dev/null; }

# attach COUNT THREADS: record `maps COUNT THREADS` while it makes one more mapping. Leaves
# data, and in said what it mapped.
attach() {
	rm -f in ctl ack data said
	mkfifo in ctl ack
	"$here/maps" "$1" "$2" <in >said 2>log &
	target=$!
	exec 5>in
	until_true lines 1 || { show log; kill "$target"; exec 5>&-; return 1; }
	# what it maps after the answer is recorded
	perf record --mmap3 -k mono -e dummy:u --proc-map-timeout 300000 -p "$target" --control fifo:ctl,ack \
		-o data >log 2>&1 &
	perf=$!
	exec 6<>ctl 7<>ack
	echo ping >&6
	if ! timeout 300 head -n 1 <&7 >answer; then say "no answer of perf record"; show log; fi
	echo >&5
	until_true lines 2
	kill -INT "$perf"
	until_true ended "$perf"
	exec 5>&- 6>&- 7>&-
	wait "$target" "$perf"
	show log
	perf script --show-mmap-events -i data >events 2>log || show log
}

# names RECORD: of the pages that the program has mapped
names() {
	grep ^0x said >addresses
	sed -n "s,.*PERF_RECORD_$1 .*\[\(0x[0-9a-f]*\)(.* @ .*\]: r-xp \(.*\),\1 \2,p" events |
		awk 'NR == FNR { ours[$1]; next } $1 in ours { print $2 }' addresses -
}

# anonymous memory has one name, whoever recorded it
attach 1 0
verdict name_before "$(names MMAP2 | diff - /dev/fd/3 3<<-END
	//anon
	END
)"
verdict name_after "$(names MMAP3 | diff - /dev/fd/3 3<<-END
	//anon
	END
)"
verdict program_recorded "$([ "$(grep -c "MMAP2 .* r-xp $here/maps\$" events)" = 1 ] || echo "not once")"

# one set of records for the process, not one for each thread
attach 1 50
verdict threads_share_records_before "$([ "$(names MMAP2 | wc -l)" = 1 ] || names MMAP2 | wc -l)"
verdict threads_share_records_after "$([ "$(names MMAP3 | wc -l)" = 1 ] || names MMAP3 | wc -l)"
verdict threads_share_files "$([ "$(grep -c "MMAP2 .* r-xp $here/maps\$" events)" = 1 ] || echo "not once")"

# all of many, though the machine is busy
md5sum /dev/zero &
busy=$!
attach 5000 0
kill "$busy"
verdict many_before "$([ "$(names MMAP2 | wc -l)" = 5000 ] || names MMAP2 | wc -l)"
verdict many_after "$([ "$(names MMAP3 | wc -l)" = 1 ] || names MMAP3 | wc -l)"
finish
