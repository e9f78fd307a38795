#!/usr/bin/env python3
"""Tells which functions an event's instructions are in.

usage: bench_profile.py OUTPUT PLUGIN SYMBOLS CASE

OUTPUT is what `bench profile CASE` printed in the guest, PLUGIN what
scripts/qemu-plugin/count.c wrote meanwhile with profile=on, SYMBOLS `nm -n vmlinux`.
Prints a Markdown table: for each function the instructions of one operation, less those
of the same operation without an event, medians over all operations. Iterations of rep
string instructions count, as on the guest's clock.
"""

import bisect
import statistics
import sys
from collections import Counter
from pathlib import Path

import bench
from counts import BadOutput

LEAST = 5  # instructions; the rest goes into one line


class Symbols:
    """Functions by address: the kernel's and those of the modules that the guest names."""

    def __init__(self, nm_lines, guest_lines):
        found = []
        for line in nm_lines:
            words = line.split()
            if len(words) == 3 and words[1] in "tTwW":
                found.append((int(words[0], 16), words[2]))
        for line in guest_lines:
            words = line.split()
            if words[:1] == ["SYMBOL"] and len(words) == 4:
                found.append((int(words[1], 16), f"{words[2]} {words[3]}"))
        if not found:
            raise BadOutput("no symbols")
        found.sort()
        self.starts = [address for address, _ in found]
        self.names = [name for _, name in found]

    def of(self, address):
        if address < 1 << 47:
            return "user space"
        at = bisect.bisect_right(self.starts, address) - 1
        return self.names[at] if at >= 0 else "?"


def read_operations(path, symbols):
    """[Counter of instructions by function] of each operation, in order."""
    operations, now = [], Counter()
    with open(path, encoding="ascii", errors="replace") as f:
        for line in f:
            words = line.split()
            if words[:1] == ["BLOCK"] and len(words) == 4:
                now[symbols.of(int(words[1], 16))] += int(words[2]) * int(words[3])
            elif words[:1] == ["FLUSH"]:
                operations.append(now)
                now = Counter()
            else:
                raise BadOutput(f"{path}: {line[:80]}")
    return operations


def profiles(guest_lines, operations, case):
    """{event: Counter of the median operation}."""
    found = {}
    for line in guest_lines:
        words = line.split()
        if words[:2] != ["ROUNDS", case]:
            continue
        ops, *before = map(int, words[3:])
        mine = [operations[first + i] for first in before for i in range(ops)]
        names = set().union(*mine)
        found[words[2]] = Counter({n: statistics.median(o[n] for o in mine) for n in names})
    if "none" not in found or len(found) < 2:
        raise BadOutput(f"no operations of {case}")
    return found


def report(found):
    events = [e for e in bench.EVENTS if e in found]
    added = {e: Counter(found[e]) for e in events}
    for event in events:
        added[event].subtract(found["none"])
    names = sorted(set().union(*added.values()), key=lambda n: -max(added[e][n] for e in events))
    lines, rest = [], Counter()
    for name in names:
        if max(abs(added[e][name]) for e in events) < LEAST:
            for event in events:
                rest[event] += added[event][name]
            continue
        lines.append([name, *(f"{added[e][name]:.0f}" for e in events)])
    lines.append(["the rest", *(f"{rest[e]:.0f}" for e in events)])
    lines.append(["all", *(f"{added[e].total():.0f}" for e in events)])
    bench.table(["function", *events], lines)


def main(argv):
    if len(argv) != 4:
        print("error: usage: bench_profile.py OUTPUT PLUGIN SYMBOLS CASE", file=sys.stderr)
        return 2
    try:
        guest = Path(argv[0]).read_text(encoding="ascii", errors="replace").splitlines()
        symbols = Symbols(Path(argv[2]).read_text(encoding="ascii").splitlines(), guest)
        report(profiles(guest, read_operations(argv[1], symbols), argv[3]))
    except (BadOutput, OSError, ValueError, IndexError) as e:
        print(f"error: cannot tell where instructions are: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
