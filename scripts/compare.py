#!/usr/bin/env python3
"""Compares what scripts/guest/compare.c saw on two kernels.

usage: compare.py stream BASE PATCHED      outputs of `compare stream`
       compare.py count BASE PATCHED       outputs of `compare count`

stream: the records must be equal byte for byte, with times, ids and the random
inode generations masked. count: with no event that asks for MMAP3 the medians must
be within LIMIT of each other. Prints a Markdown table; exit code 1 if they differ.
"""

import difflib
import struct
import sys
from pathlib import Path

import counts
from counts import BadOutput

LIMIT = 0.5  # per cent, no event open

MMAP, COMM, EXIT, FORK, MMAP2 = 1, 3, 4, 7, 10
NAMES = {MMAP: "MMAP", 2: "LOST", COMM: "COMM", EXIT: "EXIT", FORK: "FORK", MMAP2: "MMAP2"}
MISC_BUILD_ID = 1 << 14
TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER = 1 << 1, 1 << 2, 1 << 6, 1 << 9, 1 << 7, 1 << 16
TRAILER = [TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER]  # in the order of struct sample_id


class Masker:
    """Replaces numbers that a run chooses (pids, times, ids) by 0, 1, 2... or 0."""

    def __init__(self):
        self.pids = {}

    def pid(self, data, at):
        value = struct.unpack_from("<I", data, at)[0]
        struct.pack_into("<I", data, at, self.pids.setdefault(value, len(self.pids)))

    def record(self, data, sample_type):
        kind, misc, size = struct.unpack_from("<IHH", data)
        if size != len(data):
            raise BadOutput(f"a record of {size} bytes was printed as {len(data)}")
        if kind in (MMAP, MMAP2, COMM):
            pids = (8, 12)
        elif kind in (EXIT, FORK):
            pids = (8, 12, 16, 20)
            data[24:32] = bytes(8)
        else:
            pids = ()
        for at in pids:
            self.pid(data, at)
        if kind == MMAP2 and not misc & MISC_BUILD_ID:
            data[56:64] = bytes(8)  # random on tmpfs, where the image lies
        at = size - 8 * sum(1 for bit in TRAILER if sample_type & bit)
        for bit in TRAILER:
            if not sample_type & bit:
                continue
            if bit == TID:
                self.pid(data, at)
                self.pid(data, at + 4)
            elif bit != CPU:
                data[at : at + 8] = bytes(8)
            at += 8
        return f"{NAMES.get(kind, kind)} {data.hex()}"


def read_streams(path):
    """Returns {event name: [masked record]}."""
    streams, types, ended = {}, {}, set()
    masker = Masker()
    for line in Path(path).read_text(encoding="ascii", errors="replace").splitlines():
        words = line.split()
        if line.startswith("EVENT ") and len(words) == 3:
            types[words[1]] = int(words[2], 16)
            streams[words[1]] = []
        elif line.startswith("REC ") and len(words) == 3 and words[1] in streams:
            data = bytearray.fromhex(words[2])
            streams[words[1]].append(masker.record(data, types[words[1]]))
        elif line.startswith("END ") and len(words) == 2:
            ended.add(words[1])
        else:
            raise BadOutput(f"{path}: {line[:80]}")
    if not streams or ended != set(streams):
        raise BadOutput(f"{path} is cut: {len(ended)} of {len(streams)} events are whole")
    return streams


def compare_stream(base, patched):
    ours, theirs = read_streams(patched), read_streams(base)
    if set(ours) != set(theirs):
        raise BadOutput("the two outputs hold different events")
    same = True
    print("| event | records | bytes | equal |\n|---|---|---|---|")
    for name, records in theirs.items():
        equal = records == ours[name]
        same &= equal
        size = sum(len(r.split()[1]) // 2 for r in records)
        print(f"| {name} | {len(records)} | {size} | {'yes' if equal else 'NO'} |")
        if not equal:
            diff = difflib.unified_diff(records, ours[name], "base", "patched", lineterm="", n=1)
            print("\n".join(list(diff)[:40]), file=sys.stderr)
    if not any(theirs.values()):
        raise BadOutput("no record at all: nothing was compared")
    return same


def compare_count(base, patched):
    ours, theirs = counts.read_medians(patched), counts.read_medians(base)
    if not theirs or set(ours) != set(theirs):
        raise BadOutput("the two outputs hold different counts")
    good = True
    print("| map | event | base | patched | difference | limit |\n|---|---|---|---|---|---|")
    for (what, event), before in theirs.items():
        after = ours[what, event]
        if after is None:
            raise BadOutput(f"the patched kernel has no event '{event}': no provider there?")
        limited = event.startswith("none")
        if limited and not (before and after):
            raise BadOutput(f"no count of {what} without an event")
        change = f"{(after / before - 1) * 100:+.2f}%" if before and after else "-"
        within = not limited or abs(after / before - 1) * 100 <= LIMIT
        good &= within
        limit = (f"{LIMIT}%" if within else f"{LIMIT}%, BROKEN") if limited else ""
        row = [what, event, f"{before or '-'}", f"{after or '-'}", change, limit]
        print("| " + " | ".join(row) + " |")
    return good


def main(argv):
    verbs = {"stream": compare_stream, "count": compare_count}
    if len(argv) != 3 or argv[0] not in verbs:
        print("error: usage: compare.py stream|count BASE PATCHED", file=sys.stderr)
        return 2
    try:
        return 0 if verbs[argv[0]](argv[1], argv[2]) else 1
    except (BadOutput, OSError, ValueError, struct.error) as e:
        print(f"error: cannot compare: {e}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
