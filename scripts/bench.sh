#!/bin/bash
# What PERF_RECORD_MMAP3 costs, in the guest's instructions: boots the patched kernel,
# the unpatched one and the one with the provider built in, all with the same image and
# under -icount, and writes tables and plots.
#
#   bench.sh [ARCH]...       all arches if none is named
#
# Writes docs/bench.{md,csv,svg} when all arches were measured, and $CACHE/runs/bench.*
# always. Exit code 1 if a goal is missed.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
. "$SCRIPTS/bench-lib.sh"

report=$CACHE/runs/bench
mkdir -p "$CACHE/runs"

bench_plugin
all=()
for arch in "$@"; do
	for variant in base builtin; do "$SCRIPTS/kernel.sh" "$arch" "$variant"; done
	"$SCRIPTS/ready.sh" "$arch"
	out=()
	bench_boot "$arch" default all "$report-$arch-default"
	out+=("default=$(bench_output "$report-$arch-default")")
	for variant in base builtin; do
		bench_boot "$arch" "$variant" base "$report-$arch-$variant"
		out+=("$variant=$(bench_output "$report-$arch-$variant")")
	done
	for cpus in 1 2 4; do
		bench_boot "$arch" default cpus "$report-$arch-cpus$cpus" --smp "$cpus"
		# Workers on several processors can't be told apart by the plugin.
		out+=("default=$report-$arch-cpus$cpus.out")
	done
	bench_tool bench.py rows "$arch" "${out[@]}" >"$report-$arch.csv"
	all+=("$report-$arch.csv")
done
awk 'FNR > 1 || NR == 1' "${all[@]}" >"$report.csv"
rc=0
bench_tool bench.py report "$report.csv" >"$report.md" || rc=$?
[ "$rc" -le "$E_FAIL" ] || die "$rc" "what was measured cannot be told: see above"
bench_tool bench_plot.py "$report.csv" >"$report.svg"
cat "$report.md"
if [ $# = "$(arches | wc -l)" ]; then
	{ bench_head; cat "$report.md"; } >"$REPO/docs/bench.md.tmp"
	mv "$REPO/docs/bench.md.tmp" "$REPO/docs/bench.md"
	cp "$report.csv" "$report.svg" "$REPO/docs/"
	say "wrote docs/bench.{md,csv,svg}"
fi
[ "$rc" = 0 ] || die "$rc" "a goal is missed: see the tables above, or $report.md"
say "bench: all goals are met"
