"""bench.py and bench_plot.py: what they compute from a guest's output, and what they refuse."""

import csv
import io
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
ROUNDS = 21
EVENTS = ["none", "mmap2", "mmap2+build_id", "mmap3", "mmap3+build_id"]
CASES = ["file-8", "file-40", "exec", "anon", "other-task", "maps-10", "maps-60000"]
OPS = ["file", "anon", "mprotect", "brk", "exec"]


def lines(case, event, value, size=100, start=0, ops=3, rounds=ROUNDS, drift=0):
    """What bench.c prints for an event; drift is what each round costs more than the last."""
    values = " ".join(str(value + drift * r) for r in range(rounds) for _ in range(ops))
    before = " ".join(str(start + r * ops) for r in range(rounds))
    return (
        f"COUNT {case} {event} {values}\nROUNDS {case} {event} {ops} {before}\n"
        f"BYTES {case} {event} {size}\n"
    )


def good(added=None, sizes=None, nobody=10000, none=10000, unsupported=()):
    """A kernel that meets every goal, but for what is given as {(case, event): n}."""
    usual = dict(zip(EVENTS, (0, 2000, 4000, 1000, 2000), strict=True))
    want = {(c, e): usual[e] for c in CASES for e in EVENTS}
    want |= {("other-task", e): 200 for e in EVENTS[3:]}
    want |= {(f"events-{n}", e): usual[e] * n for n in (1, 16, 256) for e in EVENTS}
    want |= added or {}
    out = ""
    for (case, event), value in want.items():
        if event in unsupported:
            out += f"COUNT {case} {event} unsupported\n"
            continue
        size = (sizes or {}).get((case, event), 80 if "mmap3" in event else 100)
        out += lines(case, event, none + value, size)
    for provider in ("absent", "present"):
        for op in OPS:
            out += lines(f"nobody-{op}", provider, nobody)
    return out


def base(again=10000, **how):
    out = good(unsupported=("mmap3", "mmap3+build_id"), **how)
    return out + "".join(lines(f"nobody-{op}", "again", again) for op in OPS)


class BenchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def tool(self, script, *args):
        done = subprocess.run(
            [sys.executable, SCRIPTS / script, *map(str, args)],
            capture_output=True,
            text=True,
            check=False,
        )
        self.out, self.err = done.stdout, done.stderr
        return done.returncode

    def rows(self, text, plugin=None):
        """{(case, event, count, unit): row} of one guest's output."""
        files = str(self.file("out", text))
        if plugin is not None:
            files += f",{self.file('plugin', plugin)}"
        self.assertEqual(self.tool("bench.py", "rows", "arm64", f"default={files}"), 0, self.err)
        read = csv.DictReader(io.StringIO(self.out))
        return {(r["case"], r["event"], r["count"], r["unit"]): r for r in read}

    def report(self, patched, unpatched=None, builtin=None):
        outputs = [f"default={self.file('patched', patched)}"]
        outputs.append(f"base={self.file('base', unpatched or base())}")
        outputs.append(f"builtin={self.file('builtin', builtin or patched)}")
        self.assertEqual(self.tool("bench.py", "rows", "arm64", *outputs), 0, self.err)
        return self.tool("bench.py", "report", self.file("csv", self.out))

    def goal(self, name):
        found = [line for line in self.out.splitlines() if line.startswith(f"| {name}")]
        self.assertEqual(len(found), 1, self.out)
        return found[0]

    # rows

    def test_added_is_taken_round_by_round(self):
        text = lines("anon", "none", 5000, drift=300) + lines("anon", "mmap2", 5700, drift=300)
        added = self.rows(text)["anon", "mmap2", "clock", "added"]
        self.assertEqual([added[k] for k in ("median", "q1", "q3", "rounds")], ["700"] * 3 + ["21"])

    def test_an_operation_with_a_tick_moves_nothing(self):
        text = lines("anon", "none", 5000) + lines("anon", "mmap2", 5700)
        # in one operation of each round
        text = text.replace(" 5700 5700 5700", " 5700 99999 5700")
        self.assertEqual(text.count("99999"), ROUNDS)
        added = self.rows(text)["anon", "mmap2", "clock", "added"]
        self.assertEqual([added[k] for k in ("median", "q1", "q3")], ["700"] * 3)

    def test_iterations_of_rep_are_those_of_the_same_round(self):
        text = lines("anon", "none", 5000, start=0) + lines("anon", "mmap2", 5700, start=3 * ROUNDS)
        flushes = "".join(
            f"BLOCK ffff 3 9\nFLUSH {n} 77 {10 if n < 3 * ROUNDS else 210}\n"
            for n in range(6 * ROUNDS)
        )
        rows = self.rows(text, flushes)
        self.assertEqual(rows["anon", "none", "rep1", "total"]["median"], "4990")
        self.assertEqual(rows["anon", "mmap2", "rep1", "added"]["median"], "500")
        self.assertEqual(rows["anon", "mmap2", "clock", "added"]["median"], "700")

    def test_a_plugin_that_saw_other_operations_is_refused(self):
        text = self.file("out", lines("anon", "none", 5000))
        short = "".join(f"FLUSH {n} 1 1\n" for n in range(3 * ROUNDS - 1))
        for bad in (short, short.replace("FLUSH 3 ", "FLUSH 4 "), "FLUSH 0 1\n", ""):
            plugin = self.file("plugin", bad)
            self.assertEqual(self.tool("bench.py", "rows", "x86_64", f"default={text},{plugin}"), 2)
            self.assertTrue(self.err.startswith("error: "))

    def test_cut_or_foreign_output_is_refused(self):
        text = lines("anon", "none", 5000)
        few = lines("anon", "none", 5000, rounds=14)
        uneven = text.replace("ROUNDS anon none 3 ", "ROUNDS anon none 2 ")
        for bad in ("", few, uneven, text + text, text + "Killed\n", text.replace("5000", "5O00")):
            out = self.file("out", bad)
            self.assertEqual(self.tool("bench.py", "rows", "arm64", f"default={out}"), 2, bad)
            self.assertTrue(self.err.startswith("error: "))

    # goals

    def test_all_goals_are_met(self):
        self.assertEqual(self.report(good()), 0, self.out)
        self.assertNotIn("MISSED", self.out)
        self.assertNotIn("not measured", self.out)

    def test_each_goal_can_be_missed(self):
        missed = {
            "MMAP3 + build ID of MMAP2 + build ID": {("file-8", "mmap3+build_id"): 2610},
            "MMAP3 of MMAP2, any name": {("file-40", "mmap3"): 1810},
            "anonymous": {("anon", "mmap3"): 1710},
            "event on another task": {("other-task", "mmap3"): 310},
            "exec: instructions": {("exec", "mmap3+build_id"): 3010},
            "10 to 60,000 maps, MMAP3: ": {("maps-60000", "mmap3"): 1110},
            "10 to 60,000 maps, MMAP3 + ": {("maps-10", "mmap3+build_id"): 1810},
            "1 to 256 listeners, MMAP3: ": {("events-256", "mmap3"): 300000},
            "1 to 256 listeners, MMAP3 + ": {("events-16", "mmap3+build_id"): 36000},
            "only MMAP2 listens": {("exec", "mmap2"): 2061},
        }
        for name, added in missed.items():
            self.assertEqual(self.report(good(added=added)), 1, name)
            self.assertIn("MISSED", self.goal(name))

    def test_at_the_limit_a_goal_is_met(self):
        self.assertEqual(self.report(good(added={("file-8", "mmap3+build_id"): 2600})), 0, self.out)
        self.assertIn("0.65 pass", self.goal("MMAP3 + build ID of MMAP2 + build ID"))

    def test_a_stretch_goal_may_be_missed(self):
        added = {(c, "mmap3+build_id"): 2400 for c in ("file-8", "file-40")}
        self.assertEqual(self.report(good(added=added)), 0, self.out)
        self.assertIn("MISSED", self.goal("stretch"))

    def test_bytes_of_exec(self):
        self.assertEqual(self.report(good(sizes={("exec", "mmap3+build_id"): 86})), 1)
        self.assertIn("0.86 **MISSED**", self.goal("exec: bytes"))

    def test_nobody_listens_both_ways(self):
        for nobody in (10021, 9979):
            self.assertEqual(self.report(good(nobody=nobody), builtin=good()), 1)
            for provider in ("absent", "loaded"):
                self.assertIn("0.21 **MISSED**", self.goal(f"nobody listens, provider {provider}"))
            self.assertIn("0.00 pass", self.goal("nobody listens, provider built in"))

    def test_a_provider_that_was_loaded_is_compared_with_what_was_as_late(self):
        self.assertEqual(self.report(good(), base(again=10100)), 1)
        self.assertIn("MISSED", self.goal("nobody listens, provider loaded"))
        for provider in ("absent", "built in"):
            self.assertIn("0.00 pass", self.goal(f"nobody listens, provider {provider}"))

    def test_what_was_not_measured_is_missed(self):
        self.assertEqual(self.report(base()), 1)
        self.assertIn("not measured **MISSED**", self.goal("anonymous"))

    def test_it_is_the_mmap2_of_the_unpatched_kernel_that_counts(self):
        self.assertEqual(self.report(good(), base(added={("anon", "mmap2"): 1100})), 1)
        self.assertIn("0.91 **MISSED**", self.goal("anonymous"))

    # the other outputs

    def test_diff_tells_the_change(self):
        files = []
        for name, value in (("before", 6000), ("after", 5500)):
            text = lines("anon", "none", 5000) + lines("anon", "mmap3", value)
            out = self.file("out", text)
            self.assertEqual(self.tool("bench.py", "rows", "arm64", f"default={out}"), 0)
            files.append(self.file(name, self.out))
        self.assertEqual(self.tool("bench.py", "diff", *files), 0, self.err)
        self.assertIn("| anon | mmap3 | added | 1000 | 500 | -50.0% |", self.out)

    def test_the_plot_has_a_bar_or_line_for_what_was_measured(self):
        self.report(good())
        self.assertEqual(self.tool("bench_plot.py", self.folder / "csv"), 0, self.err)
        svg = ET.fromstring(self.out)
        name = "{http://www.w3.org/2000/svg}"
        bars = [r for r in svg.iter(f"{name}rect") if r.get("height") not in ("12", "100%")]
        # four events of file-8, file-40, anon and other-task
        self.assertEqual(len(bars), 16)
        self.assertEqual(len(svg.findall(f".//{name}polyline")), 8)
        heights = [float(b.get("height")) for b in bars[:4]]
        self.assertAlmostEqual(heights[1] / heights[0], 2, places=1)

    def test_a_profile_is_the_median_of_operations_less_those_without(self):
        events = {"none": 40, "mmap3": 130}
        guest = "SYMBOL ffffffffc0000000 compose [perf_mmap3]\n"
        plugin, first = "", 0
        for event, calls in events.items():
            guest += lines("anon", event, 1, start=first)
            for op in range(3 * ROUNDS):
                tick = 9000 if op == 1 else 0
                plugin += f"BLOCK ffffffff81000010 2 {calls + tick}\nBLOCK 401000 1 7\n"
                plugin += "BLOCK ffffffffc0000008 10 3\n" if event == "mmap3" else ""
                plugin += f"FLUSH {first + op} 1 1\n"
            first += 3 * ROUNDS
        symbols = "ffffffff81000000 T mmap_region\nffffffff81002000 T other\n"
        files = [self.file(n, t) for n, t in (("o", guest), ("p", plugin), ("s", symbols))]
        self.assertEqual(self.tool("bench_profile.py", *files, "anon"), 0, self.err)
        self.assertIn("| mmap_region | 180 |", self.out)
        self.assertIn("| compose [perf_mmap3] | 30 |", self.out)
        self.assertIn("| all | 210 |", self.out)
        self.assertEqual(self.tool("bench_profile.py", *files, "brk"), 2)


if __name__ == "__main__":
    unittest.main()
