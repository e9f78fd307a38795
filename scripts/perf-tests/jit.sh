#!/bin/sh
# perf inject --jit: the share of samples in jitted code that get the symbol of
# another function, with MMAP2 beside MMAP3, for each way in which JITs map memory.
# With MMAP3 there must be none.
SHAPES='anon mprotect file wxflip file-wxflip'
# shellcheck source=ktap.inc
. "${0%/*}/ktap.inc"
plan 5

# wrong FILE: `samples wrong-samples`; the program prints `address symbol`, and each
# function is in a page of its own
wrong() {
	perf inject --jit -i "$1" -o "$1.jit" >"$1.log" 2>&1 || { show "$1.log"; return 1; }
	perf script -i "$1.jit" -F ip,sym 2>/dev/null | awk '
		{ page = $1; sub(/...$/, "", page) }
		NR == FNR { symbol[page] = $2; next }
		page in symbol { samples++; wrong += $2 != symbol[page] }
		END { print samples + 0, wrong + 0 }' "$1.out" - >"$1.count"
	read -r samples wrong <"$1.count"
	[ "$samples" -gt 0 ]
}

for shape in $SHAPES; do
	what='' why=''
	for form in mmap2 mmap3; do
		if record "$form" "$form" perf test -w jitmaps "$shape" 50 && wrong "$form"; then
			what="$what$form: $wrong of $samples samples wrong ($((100 * wrong / samples)) %); "
		else
			why="no samples with $form"
			wrong=1
		fi
	done
	say "jit $shape: $what"
	[ "$wrong" = 0 ] || why="${why:-$wrong samples with MMAP3}"
	verdict "jit_$shape" "$why"
done
finish
