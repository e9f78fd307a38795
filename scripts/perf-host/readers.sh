#!/bin/sh
# Other readers of perf.data are given what perf inject --convert-mmap3 makes of files that
# were recorded in a guest: Debian's perf, which is older than this one, the crate
# linux-perf-data, and the tools of LLVM that read what perf script prints. They must
# see the same mappings and the same symbols.
#
#   readers.sh CRATE OBJDUMP      CRATE: the folder in which perf-host.sh built the crate's
#                                 reader; OBJDUMP: that of the arch
#
# The files are in /data, those that were mapped in /image, this tree's perf in /perf.
# shellcheck source=../perf-tests/ktap.inc
. "${0%/*}/../perf-tests/ktap.inc"
crate=$1 objdump=$2
old=/usr/bin/perf
plan 15

# mmaps FILE: the records of mappings that perf script of this tree prints, as MMAP2
mmaps() {
	perf script --show-mmap-events -i "$1" 2>/dev/null |
		sed -n 's/.*PERF_RECORD_MMAP[23] \(.*\)/PERF_RECORD_MMAP2 \1/p'
}

# symbols PERF FILE: each sample's thread, time, address, symbol and file
symbols() { "$1" script --symfs /image -F tid,time,ip,sym,dso -i "$2" 2>/dev/null; }

# same NAME FILE1 FILE2: passed if they are equal and not empty
same() {
	verdict "$1" "$([ -s "$2" ] || echo "nothing to compare with"
		diff "$2" "$3" | head -n 3 | tr '\n' ' ')"
}

# llvm NAME PROGRAM PATTERN FILE: what a program of LLVM has written into FILE
llvm() {
	show "$4"
	verdict "$1" "$(grep -qE "$3" "$4" || echo "$2 does not say '$3'")"
}

for name in threads dlopen; do
	data=/data/$name.data
	if ! [ -s "$data" ]; then
		for test in converted annotate debian_perf_mmaps debian_perf_symbols linux_perf_data; do
			not_ok "${name}_$test" "the guest left no $name.data"
		done
		continue
	fi
	perf inject --convert-mmap3 -i "$data" -o "$name.data" 2>log || show log
	perf script --show-mmap-events -i "$data" 2>/dev/null | grep -c PERF_RECORD_MMAP3 >count
	mmaps "$data" >"$name.mmaps"
	mmaps "$name.data" >got
	[ "$(cat count)" -gt 0 ] || : >"$name.mmaps"
	same "${name}_converted" "$name.mmaps" got

	# not in the guest, which has no objdump
	for file in "$data" "$name.data"; do
		perf annotate --stdio --symfs /image --objdump "$objdump" -i "$file" 2>log |
			grep -v '^ *Percent' >"${file##*/}.annotated.$([ "$file" = "$data" ] && echo 3 || echo 2)"
	done
	same "${name}_annotate" "$name.data.annotated.3" "$name.data.annotated.2"

	if [ -x "$old" ]; then
		say "$("$old" version)"
		"$old" script --show-mmap-events -i "$name.data" 2>log |
			sed -n 's/.*\(PERF_RECORD_MMAP.*\)/\1/p' >got
		show log
		same "${name}_debian_perf_mmaps" "$name.mmaps" got
		symbols perf "$data" >expected
		symbols "$old" "$name.data" >got
		same "${name}_debian_perf_symbols" expected got
	else
		skip "${name}_debian_perf_mmaps" "no perf in the toolchain root"
		skip "${name}_debian_perf_symbols" "no perf in the toolchain root"
	fi
	if [ -e "$crate/.stamp" ]; then
		"$crate/target/debug/mmaps" "$name.data" >got 2>log || show log
		same "${name}_linux_perf_data" "$name.mmaps" got
	else
		skip "${name}_linux_perf_data" "$(cat "$crate/why")"
	fi
done
# The others must see that it is not converted.
if [ -e "$crate/.stamp" ]; then
	"$crate/target/debug/mmaps" /data/threads.data >/dev/null 2>log
	verdict linux_perf_data_sees_mmap3 "$([ "$(cat log)" = "error: /data/threads.data: a PERF_RECORD_MMAP3 is left" ] ||
		echo "it says: $(cat log)")"
else
	skip linux_perf_data_sees_mmap3 "$(cat "$crate/why")"
fi

# The program that ran is perf itself.
samples=$(perf script -F ip -i threads.data 2>/dev/null | grep -c .)
if command -v perf2bolt-19 >/dev/null && [ -x "$old" ]; then
	# it runs `perf` of the PATH
	PATH=/usr/bin:/bin perf2bolt-19 -p threads.data -nl -o bolt /image/perf/perf >log 2>&1
	grep -E 'build-id|samples' log >said
	llvm perf2bolt_finds_the_program perf2bolt 'matched build-id and file name' said
	llvm perf2bolt_reads_the_samples perf2bolt "read $samples samples" said
else
	skip perf2bolt_finds_the_program "no perf2bolt or no perf in the toolchain root"
	skip perf2bolt_reads_the_samples "no perf2bolt or no perf in the toolchain root"
fi

# It wants branches, which this machine does not record: each sample is taken for one.
branches() { perf script -F ip -i "$1" 2>/dev/null | awk '{ e = "0x" $1 "/0x" $1 "/P/-/-/0"; print " " $1, e, e, "" }'; }
profgen() {
	rm -f profile
	llvm-profgen-19 --perfscript=text --binary=/image/perf/perf --output=profile --skip-symbolization >log 2>&1
}
if command -v llvm-profgen-19 >/dev/null; then
	for form in data threads; do
		file=threads.data
		if [ "$form" = data ]; then file=/data/threads.data; fi
		{
			perf script --show-mmap-events -i "$file" 2>/dev/null | grep PERF_RECORD_MMAP
			branches threads.data
		} >text
		profgen
		if [ "$form" = data ]; then
			grep -m1 'Cannot parse' log >first; mv first log
			llvm llvm_profgen_cannot_parse_mmap3 llvm-profgen 'Cannot parse mmap event' log
		else
			show log
			verdict llvm_profgen_reads_the_samples "$(grep -qE 'Cannot parse|No samples' log && echo "it lacks mappings or samples"
				[ -s profile ] || echo "no profile")"
		fi
	done
else
	skip llvm_profgen_cannot_parse_mmap3 "no llvm-profgen in the toolchain root"
	skip llvm_profgen_reads_the_samples "no llvm-profgen in the toolchain root"
fi
finish
