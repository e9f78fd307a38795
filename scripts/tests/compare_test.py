"""compare.py: what it masks, and that it sees everything else."""

import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPARE = Path(__file__).resolve().parent.parent / "compare.py"
MMAP2, TID_TIME = 10, 6


def mmap2(pid, time, addr=0x1000, generation=7, misc=2, name=b"/bin/x\0\0"):
    body = struct.pack("<IIQQQ", pid, pid, addr, 4096, 0)
    body += struct.pack("<IIQQII", 0, 1, 42, generation, 5, 2) + name
    trailer = struct.pack("<IIQ", pid, pid, time)
    size = 8 + len(body) + len(trailer)
    return (struct.pack("<IHH", MMAP2, misc, size) + body + trailer).hex()


def stream(*records):
    lines = ["EVENT mmap2 6"] + [f"REC mmap2 {r}" for r in records] + ["END mmap2"]
    return "\n".join(lines) + "\n"


def count(none, mmap2=(2000,) * 20, rounds=20):
    numbers = " ".join([str(none)] * rounds)
    return f"COUNT file none {numbers}\nCOUNT file mmap2 {' '.join(map(str, mmap2))}\n"


class CompareTest(unittest.TestCase):
    def compare(self, verb, base, patched):
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / "base", Path(folder) / "patched"]
            for file, text in zip(files, (base, patched), strict=True):
                file.write_text(text)
            done = subprocess.run(
                [sys.executable, COMPARE, verb, *files], capture_output=True, text=True, check=False
            )
        self.out, self.err = done.stdout, done.stderr
        return done.returncode

    def test_pids_times_and_generations_are_masked(self):
        a, b = mmap2(100, 5), mmap2(200, 9, generation=99)
        self.assertEqual(self.compare("stream", stream(a), stream(b)), 0, self.err)

    def test_a_generation_is_compared_as_part_of_a_build_id(self):
        misc = 2 | 1 << 14
        a, b = mmap2(100, 5, misc=misc), mmap2(100, 5, misc=misc, generation=99)
        self.assertEqual(self.compare("stream", stream(a), stream(b)), 1)

    def test_who_is_who_is_not_masked(self):
        a, b = [mmap2(1, 0), mmap2(2, 0)], [mmap2(1, 0), mmap2(1, 0)]
        self.assertEqual(self.compare("stream", stream(*a), stream(*b)), 1)

    def test_address_misc_and_order_are_compared(self):
        a = mmap2(1, 0)
        for b in (mmap2(1, 0, addr=0x2000), mmap2(1, 0, misc=3), mmap2(1, 0, name=b"/bin/x\0\1")):
            self.assertEqual(self.compare("stream", stream(a), stream(b)), 1)
            self.assertIn("-MMAP2", self.err)
        b = mmap2(1, 0, addr=0x2000)
        self.assertEqual(self.compare("stream", stream(a, b), stream(b, a)), 1)
        self.assertEqual(self.compare("stream", stream(a, b), stream(a)), 1)

    def test_cut_or_empty_output_is_no_comparison(self):
        whole = stream(mmap2(1, 0))
        for bad in ("", whole.replace("END mmap2\n", ""), stream(), whole.replace("REC", "WRECK")):
            self.assertEqual(self.compare("stream", bad, bad), 2)
            self.assertTrue(self.err.startswith("error: "))

    def test_count_within_and_beyond_the_limit(self):
        self.assertEqual(self.compare("count", count(10000), count(10049)), 0)
        self.assertEqual(self.compare("count", count(10000), count(10051)), 1)
        self.assertIn("BROKEN", self.out)
        # one that got cheaper is as suspect
        self.assertEqual(self.compare("count", count(10000), count(9940)), 1)

    def test_only_counts_without_event_are_limited(self):
        a, b = count(10000), count(10000, mmap2=(3000,) * 20)
        self.assertEqual(self.compare("count", a, b), 0)

    def test_too_few_rounds(self):
        few = count(10000, rounds=3)
        self.assertEqual(self.compare("count", few, few), 2)

    def test_patched_kernel_without_provider(self):
        absent = count(10000) + "COUNT file mmap3 unsupported Invalid argument\n"
        self.assertEqual(self.compare("count", absent, absent), 2)
        self.assertIn("no provider", self.err)
