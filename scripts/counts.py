"""Reads what the guest's measuring programs print (scripts/guest/compare.c, bench.c).

Lines `COUNT <case> <event> <n>...` are the instructions of one operation, a number for
each round, or `unsupported` where the kernel has no such event.
"""

import statistics
from pathlib import Path

MIN_ROUNDS = 15


class BadOutput(Exception):
    """The guest's output is not what its program prints."""


def read(path, kinds=("COUNT",)):
    """Returns {kind: {(case, event): [number of each round]}}; None where unsupported."""
    found = {kind: {} for kind in kinds}
    for line in Path(path).read_text(encoding="ascii", errors="replace").splitlines():
        words = line.split()
        if len(words) < 4 or words[0] not in found or tuple(words[1:3]) in found[words[0]]:
            raise BadOutput(f"{path}: {line[:80]}")
        if words[3] == "unsupported":
            found[words[0]][words[1], words[2]] = None
            continue
        try:
            numbers = [int(w) for w in words[3:]]
        except ValueError as e:
            raise BadOutput(f"{path}: {line[:80]}") from e
        if words[0] == "COUNT" and len(numbers) < MIN_ROUNDS:
            raise BadOutput(f"{path}: {len(numbers)} rounds of {words[1]} {words[2]}")
        found[words[0]][words[1], words[2]] = numbers
    return found


def read_medians(path):
    counts = read(path)["COUNT"]
    return {
        key: None if rounds is None else statistics.median(rounds) for key, rounds in counts.items()
    }
