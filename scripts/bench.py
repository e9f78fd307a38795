#!/usr/bin/env python3
"""Computes what scripts/guest/bench.c measured.

usage: bench.py rows ARCH OUTPUT...        a CSV on stdout; OUTPUT is KERNEL=FILE[,PLUGIN]
       bench.py report CSV                 tables in Markdown; exit code 1 if a goal is missed
       bench.py diff BEFORE.csv AFTER.csv  what changed between two kernels

KERNEL is the variant that printed FILE: base is the unpatched one, default the one
whose figures the tables show. PLUGIN is what scripts/qemu-plugin/count.c wrote in the
same boot.

A row of the CSV is the median of the rounds with their quartiles (a round's figure is its
median operation), of one of
  total   instructions of one operation
  added   the same, less what the operation costs in the same round without an event
  bytes   what one operation writes into one ring
counted by
  clock   the guest's, on which every iteration of a rep string instruction is one
  rep1    with these taken as one (x86 alone)
"""

import csv
import statistics
import sys
from itertools import pairwise

import counts
from counts import BadOutput

FIELDS = ["arch", "kernel", "case", "event", "count", "unit", "median", "q1", "q3", "rounds"]
EVENTS = ["mmap2", "mmap2+build_id", "mmap3", "mmap3+build_id"]


# --- rows ---


def read_plugin(path):
    """Returns [iterations beyond the first of rep string instructions] by number of flush."""
    found = []
    with open(path, encoding="ascii", errors="replace") as f:
        for line in f:
            words = line.split()
            if words[:1] == ["BLOCK"]:
                continue
            if len(words) != 4 or words[0] != "FLUSH" or int(words[1]) != len(found):
                raise BadOutput(f"{path}: {line[:80]}")
            found.append(int(words[3]))
    return found


def rounds_of(values, rounds, iterations=None):
    """The median operation of each round; with iterations, these are no instructions."""
    ops, *before = rounds
    if len(values) != ops * len(before) or len(before) < counts.MIN_ROUNDS:
        raise BadOutput(f"{len(values)} operations in {len(before)} rounds of {ops}")
    found = []
    for r, first in enumerate(before):
        of_round = values[r * ops : (r + 1) * ops]
        if iterations is not None:
            extra = iterations[first : first + ops]
            if len(extra) != ops:
                raise BadOutput("the plugin saw fewer operations than the guest")
            of_round = [v - e for v, e in zip(of_round, extra, strict=True)]
        found.append(statistics.median(of_round))
    return found


def row(values, **key):
    q1, median, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return key | {"median": round(median), "q1": round(q1), "q3": round(q3), "rounds": len(values)}


def rows_of(arch, kernel, path, plugin=None):
    found = counts.read(path, ("COUNT", "ROUNDS", "BYTES"))
    measured = {k: v for k, v in found["COUNT"].items() if v is not None}
    if not measured:
        raise BadOutput(f"{path}: nothing was measured")
    totals = {"clock": {k: rounds_of(v, found["ROUNDS"][k]) for k, v in measured.items()}}
    if plugin:
        extra = read_plugin(plugin)
        totals["rep1"] = {k: rounds_of(v, found["ROUNDS"][k], extra) for k, v in measured.items()}
    rows = []
    for count, values in totals.items():
        for (case, event), rounds in values.items():
            key = {"arch": arch, "kernel": kernel, "case": case, "event": event, "count": count}
            rows.append(row(rounds, **key, unit="total"))
            if event in EVENTS:
                bare = values[case, "none"]
                added = [a - b for a, b in zip(rounds, bare, strict=True)]
                rows.append(row(added, **key, unit="added"))
    for (case, event), (size,) in found["BYTES"].items():
        if event in EVENTS:
            key = {"arch": arch, "kernel": kernel, "case": case, "event": event, "count": "clock"}
            rows.append(key | {"unit": "bytes"} | dict.fromkeys(("median", "q1", "q3"), size))
            rows[-1]["rounds"] = 1
    return rows


def write_rows(arch, outputs):
    writer = csv.DictWriter(sys.stdout, FIELDS, lineterminator="\n")
    writer.writeheader()
    for output in outputs:
        kernel, _, files = output.partition("=")
        path, _, plugin = files.partition(",")
        writer.writerows(rows_of(arch, kernel, path, plugin))
    return 0


# --- what rows say ---


class Figures:
    """The rows of one arch and one way of counting."""

    def __init__(self, rows, arch, count):
        self.rows = {
            (r["kernel"], r["case"], r["event"], r["unit"]): r
            for r in rows
            if r["arch"] == arch and (r["count"] == count or r["unit"] == "bytes")
        }

    def row(self, case, event, unit="added", kernel="default"):
        return self.rows.get((kernel, case, event, unit))

    def get(self, case, event, unit="added", kernel="default"):
        found = self.row(case, event, unit, kernel)
        return found and float(found["median"])

    def cases(self, prefix):
        """Those of the patched kernel called prefix-<number>, in order of the number."""
        names = {c for k, c, _, _ in self.rows if k == "default" and c.startswith(prefix + "-")}
        return sorted(names, key=lambda name: int(name.rpartition("-")[2]))


def read_csv(path):
    with open(path, encoding="ascii", newline="") as f:
        rows = list(csv.DictReader(f))
    if not rows or set(rows[0]) != set(FIELDS):
        raise BadOutput(f"{path} is not what `bench.py rows` writes")
    return rows


def in_order(rows, field):
    return list(dict.fromkeys(r[field] for r in rows))


# --- goals ---


def ratio(a, b):
    return a / b if a is not None and b else None


def files(figures):
    return figures.cases("file") + figures.cases("ext4")


def worst(values):
    values = list(values)
    return max(values) if values and None not in values else None


def case_ratio(case, event, other, unit="added"):
    """Of what the unpatched kernel's event adds: the patched one's may have got cheaper."""
    return lambda f: ratio(f.get(case, event, unit), f.get(case, other, unit, "base"))


def file_ratio(event, other):
    return lambda f: worst(case_ratio(c, event, other)(f) for c in files(f))


def change(f, case, event, kernel, before):
    """In per cent, of an operation's total against the unpatched kernel."""
    after = f.get(case, event, "total", kernel)
    base = f.get(case, before, "total", "base")
    return (after / base - 1) * 100 if after and base else None


NOBODY = [f"nobody-{op}" for op in ("file", "anon", "mprotect", "brk", "exec")]


def nobody(kernel, provider, before="absent"):
    """Both ways: a kernel that got cheaper is as suspect."""
    return lambda f: worst(
        None if (c := change(f, case, provider, kernel, before)) is None else abs(c)
        for case in NOBODY
    )


def legacy(f):
    return worst(
        change(f, case, event, "default", event)
        for case in ("file-40", "anon", "exec")
        for event in ("mmap2", "mmap2+build_id")
    )


def flat(event):
    """The dearest against the cheapest, from few maps to many."""

    def compute(f):
        values = [f.get(c, event) for c in f.cases("maps")]
        return max(values) / min(values) if values and all(values) else None

    return compute


def linear(event):
    """The steepest step against the flattest, of what one more listener adds."""

    def compute(f):
        names = f.cases("events")
        points = [(int(c.rpartition("-")[2]), f.get(c, event)) for c in names]
        if len(points) < 3 or any(v is None for _, v in points):
            return None
        steps = [(v1 - v0) / (n1 - n0) for (n0, v0), (n1, v1) in pairwise(points)]
        return max(steps) / min(steps) if min(steps) > 0 else None

    return compute


# what, limit, how it is computed
GOALS = [
    ("MMAP3 + build ID of MMAP2 + build ID, any name", 0.65, file_ratio(EVENTS[3], EVENTS[1])),
    ("stretch: MMAP3 + build ID of MMAP2 without", 1.00, file_ratio(EVENTS[3], EVENTS[0])),
    ("MMAP3 of MMAP2, any name", 0.90, file_ratio(EVENTS[2], EVENTS[0])),
    ("anonymous: MMAP3 of MMAP2", 0.85, case_ratio("anon", EVENTS[2], EVENTS[0])),
    ("event on another task: MMAP3 of MMAP2", 0.15, case_ratio("other-task", EVENTS[2], EVENTS[0])),
    ("exec: bytes, with build ID", 0.85, case_ratio("exec", EVENTS[3], EVENTS[1], "bytes")),
    ("exec: instructions, with build ID", 0.75, case_ratio("exec", EVENTS[3], EVENTS[1])),
    ("nobody listens, provider absent: per cent", 0.20, nobody("default", "absent")),
    ("nobody listens, provider loaded: per cent", 0.20, nobody("default", "present", "again")),
    ("nobody listens, provider built in: per cent", 0.20, nobody("builtin", "present")),
    ("only MMAP2 listens: per cent more than unpatched", 0.50, legacy),
    ("10 to 60,000 maps, MMAP3: dearest of cheapest", 1.10, flat(EVENTS[2])),
    ("10 to 60,000 maps, MMAP3 + build ID", 1.10, flat(EVENTS[3])),
    ("1 to 256 listeners, MMAP3: steepest of flattest step", 1.10, linear(EVENTS[2])),
    ("1 to 256 listeners, MMAP3 + build ID", 1.10, linear(EVENTS[3])),
]


def judge(figures):
    """Yields (what, limit, value or None, met)."""
    for what, limit, compute in GOALS:
        value = compute(figures)
        yield what, limit, value, value is not None and value <= limit


# --- tables ---


def table(head, lines):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(line) + " |")


def with_spread(found):
    if not found:
        return "-"
    low, high = (int(found[q]) - int(found["median"]) for q in ("q1", "q3"))
    return f"{found['median']} ({low:+d} {high:+d})"


COUNTS = {"clock": "every instruction", "rep1": "rep string instructions taken as one"}


def report_goals(rows, arch, kinds):
    results = {count: list(judge(Figures(rows, arch, count))) for count in kinds}
    good = True
    lines = []
    for goal in zip(*results.values(), strict=True):
        line = [goal[0][0], f"{goal[0][1]:.2f}"]
        for what, _, value, met in goal:
            good &= met or what.startswith("stretch")
            text = "not measured" if value is None else f"{value:.2f}"
            line.append(f"{text} {'pass' if met else '**MISSED**'}")
        lines.append(line)
    table(["goal", "at most", *(COUNTS[c] for c in kinds)], lines)
    return good


def report_arch(rows, arch):
    mine = [r for r in rows if r["arch"] == arch]
    kinds = in_order(mine, "count")
    print(f"\n## {arch}\n\n### Goals\n")
    good = report_goals(rows, arch, kinds)
    for count in kinds:
        figures = Figures(rows, arch, count)
        listed = [
            r for r in mine if (r["kernel"], r["unit"], r["count"]) == ("default", "added", count)
        ]
        print(f"\n### What an event adds, {COUNTS[count]}\n")
        lines = []
        for case in in_order(listed, "case"):
            bare = figures.row(case, "none", "total")
            lines.append([case, bare["median"]])
            lines[-1] += [with_spread(figures.row(case, event)) for event in EVENTS]
        table(["case", "without", *EVENTS], lines)
    figures = Figures(rows, arch, "clock")
    print("\n### Bytes of an operation in one ring\n")
    cases = in_order([r for r in mine if r["unit"] == "bytes" and r["kernel"] == "default"], "case")
    lines = []
    for case in cases:
        sizes = [figures.row(case, event, "bytes") for event in EVENTS]
        if not case.startswith(("events-", "maps-", "cpus-")):
            lines.append([case, *(s["median"] if s else "-" for s in sizes)])
    table(["case", *EVENTS], lines)
    print("\n### No event open, and MMAP2's events alone: whole operations\n")
    lines = []
    for case in [*NOBODY, "file-40", "anon", "exec"]:
        for kernel, event, before in (
            ("default", "absent", "absent"),
            ("default", "present", "again"),
            ("builtin", "present", "absent"),
            ("default", "mmap2", "mmap2"),
            ("default", "mmap2+build_id", "mmap2+build_id"),
        ):
            after, base = (
                figures.row(case, event, "total", kernel),
                figures.row(case, before, "total", "base"),
            )
            if after and base:
                by = change(figures, case, event, kernel, before)
                lines.append([case, kernel, event, base["median"], after["median"], f"{by:+.2f}%"])
    table(["case", "kernel", "provider or event", "unpatched", "patched", "change"], lines)
    return good


def report(path):
    rows = read_csv(path)
    results = [report_arch(rows, arch) for arch in in_order(rows, "arch")]
    return 0 if all(results) else 1


def diff(before_path, after_path):
    before, after = read_csv(before_path), read_csv(after_path)
    for arch in in_order(after, "arch"):
        for count in in_order([r for r in after if r["arch"] == arch], "count"):
            old, new = Figures(before, arch, count), Figures(after, arch, count)
            lines = []
            for kernel, case, event, unit in new.rows:
                if kernel != "default" or (unit == "total" and event in EVENTS):
                    continue
                a, b = old.get(case, event, unit), new.get(case, event, unit)
                if a is None or b is None:
                    continue
                by = f"{(b / a - 1) * 100:+.1f}%" if a else "-"
                lines.append([case, event, unit, f"{a:.0f}", f"{b:.0f}", by])
            if not lines:
                raise BadOutput(f"{before_path} and {after_path} have nothing in common")
            print(f"\n## {arch}, {COUNTS[count]}\n")
            table(["case", "event", "unit", "before", "after", "change"], lines)
    return 0


def main(argv):
    try:
        if argv[:1] == ["rows"] and len(argv) > 2:
            return write_rows(argv[1], argv[2:])
        if argv[:1] == ["report"] and len(argv) == 2:
            return report(argv[1])
        if argv[:1] == ["diff"] and len(argv) == 3:
            return diff(argv[1], argv[2])
    except (BadOutput, OSError, ValueError, KeyError) as e:
        print(f"error: cannot tell what was measured: {e}", file=sys.stderr)
        return 2
    print("error: usage: bench.py rows|report|diff ARGS: see its head", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
