"""check-series.sh asks what it has to, once, and a table says what was answered."""

import re
import unittest

from small_base import SCRIPTS, SmallBase

HEAD = "#name\tscript\tarch\tvariant\tkey\tbase\tpatches\twhat\n"
# Says what DIR/answer holds, and notes that it was asked.
FAKE = """#!/bin/sh
cd "${0%/*}"
echo "$N $1 $2" >>asked
if [ -e "answer-$N" ]; then cat "answer-$N"; exit "$(cat code)"; fi
"""


class CheckSeries(SmallBase):
    def setUp(self):
        super().setUp()
        self.make_series()
        tools = self.dir / "root" / "usr" / "bin"
        tools.mkdir(parents=True)
        for t in ("clang", "ld.lld", "rustc", "bindgen", "make"):
            (tools / t).write_text("")
        self.checks = self.dir / "checks"
        self.checks.mkdir()
        fake = self.checks / "fake.sh"
        fake.write_text(FAKE)
        fake.chmod(0o755)
        self.table("fake\tfake\t-\t-\tcommit\t-\tall\tsays so")

    def table(self, *lines):
        (self.checks / "checks.tsv").write_text(HEAD + "\n".join(lines) + "\n")

    def answer(self, number, text, code):
        (self.checks / f"answer-{number}").write_text(text)
        (self.checks / "code").write_text(str(code))

    def check(self, **env):
        return self.script(
            "check-series.sh",
            TOOLROOT=str(self.dir / "root"),
            CHECKS_TABLE=str(self.checks / "checks.tsv"),
            REPORT=str(self.dir / "report.md"),
            **env,
        )

    def asked(self):
        f = self.checks / "asked"
        lines = f.read_text().split("\n")[:-1] if f.exists() else []
        f.unlink(missing_ok=True)
        return lines

    def row(self, name):
        text = (self.dir / "report.md").read_text()
        return [c.strip() for c in re.search(rf"^\| {name} \|(.*)\|$", text, re.M)[1].split("|")]

    def test_each_patch_once(self):
        self.passes(self.check())
        self.assertEqual(self.asked(), ["1 - -", "2 - -"])
        self.assertEqual(self.row("fake"), ["ok", "ok"])
        self.passes(self.check())
        self.assertEqual(self.asked(), [])
        # only what depends on the change is asked again
        p = self.patches / "kernel" / "0002-mm-Say-thirty.patch"
        p.write_text(p.read_text().replace("Say thirty", "Say 30"))
        self.passes(self.check())
        self.assertEqual(self.asked(), ["2 - -"])

    def test_no_is_told_and_asked_again(self):
        self.answer(2, "it breaks\n", 1)
        r = self.check()
        self.assertEqual(r.returncode, 1, r.stdout + r.stderr)
        self.assertEqual(self.row("fake"), ["ok", "**no**"])
        self.assertIn("fake, patch 2: no: it breaks", (self.dir / "report.md").read_text())
        self.asked()
        (self.checks / "answer-2").unlink()
        self.passes(self.check())
        self.assertEqual(self.asked(), ["2 - -"])
        self.assertEqual(self.row("fake"), ["ok", "ok"])

    def test_stopped_in_the_middle(self):
        """What was answered is told and kept."""
        slow = self.checks / "fake.sh"
        slow.write_text(FAKE + '[ "$N" = 1 ] || { kill -TERM $PPID; sleep 9; }\n')
        r = self.check()
        self.assertEqual(r.returncode, 2, r.stdout + r.stderr)
        self.assertIn("was stopped by signal", r.stderr)
        self.assertEqual(self.row("fake"), ["ok", ""])

    def test_skip_is_named(self):
        self.answer(1, "no such tool\n", 77)
        self.passes(self.check())
        self.assertEqual(self.row("fake"), ["skip", "ok"])
        self.assertIn("fake, patch 1: SKIP: no such tool", (self.dir / "report.md").read_text())

    def test_what_is_not_asked_is_empty(self):
        self.passes(self.check(PATCH="2"))
        self.assertEqual(self.asked(), ["2 - -"])
        self.assertEqual(self.row("fake"), ["", "ok"])

    def test_a_sample_leaves_out_what_is_between(self):
        self.passes(self.script("tree.sh"))
        (self.tree / "rust").mkdir()
        (self.tree / "rust" / "mm.rs").write_text("// new\n")
        self.git("add", "-f", "rust/mm.rs")
        self.commit("rust: mm: Add what the provider calls")
        self.edit("mm/mmap.c", "line 20\n", "line twenty\n")
        self.commit("mm: Say twenty")
        self.passes(self.script("refresh.sh"))
        self.table(
            "fake\tfake\t-\t-\tcommit\t-\tsample\tsays so",
            "end\tfake\t-\tend\tcommit\t-\tlast\tsays so",
        )
        self.passes(self.check())
        self.assertEqual(self.asked(), ["1 - -", "3 - -", "4 - -", "4 - end"])
        self.assertEqual(self.row("fake"), ["ok", "·", "ok", "ok"])
        self.assertIn("4 not in the sample", (self.dir / "report.md").read_text())
        # what is asked by number is told, too
        self.passes(self.check(PATCH="2", CHECKS="fake"))
        self.assertIn("2 - -", self.asked())
        self.assertEqual(self.row("fake"), ["ok"] * 4)

    def test_checks_and_arches_can_be_chosen(self):
        lines = [
            f"{n}\tfake\t{a}\t{n}\tcommit\t-\tall\tx"
            for n, a in (("a", "-"), ("b", "x86_64"), ("c", "arm64"))
        ]
        self.table(*lines)
        self.passes(self.check(ARCH="arm64", PATCH="1"))
        self.assertEqual(self.asked(), ["1 - a", "1 arm64 c"])
        self.passes(self.check(CHECKS="b", PATCH="1"))
        self.assertEqual(self.asked(), ["1 x86_64 b"])

    def test_the_unpatched_source_first(self):
        self.table("fake\tfake\t-\t-\tcommit\tbase\tall\tsays so")
        self.passes(self.check(PATCH="2"))
        self.assertEqual(self.asked(), ["0 - -", "2 - -"])

    def test_the_tools_series_is_cut_behind_the_kernel_series(self):
        fake = self.checks / "fake.sh"
        fake.write_text(FAKE + 'git -C "$TREE" log -1 --format=%s >>subjects\n')
        self.table("fake\tfake\t-\t-\tperf\tbase\tall\tsays so")
        self.passes(self.check(SERIES="tools"))
        self.assertEqual(self.asked(), ["0 - -", "1 - -"])
        self.assertEqual(
            (self.checks / "subjects").read_text().splitlines(),
            ["mm: Say thirty", "perf record: Add --mmap3"],
        )
        self.assertIn("# Each patch of the tools series", (self.dir / "report.md").read_text())
        self.assertEqual(self.row("fake"), ["ok"])
        # and the other series is checked in the same tree again
        self.table("fake\tfake\t-\t-\tcommit\t-\tall\tsays so")
        self.passes(self.check())
        self.assertEqual(self.asked(), ["1 - -", "2 - -"])
        self.refused(self.check(SERIES="perf"), "SERIES", "perf", "tools")

    def test_a_later_patch_of_the_same_kernel_is_not_built(self):
        self.passes(self.script("tree.sh"))
        self.edit("tools/testing/selftests/perf_events/Makefile", "include", "# new\ninclude")
        self.commit("selftests/perf_events: Add a line")
        self.passes(self.script("refresh.sh"))
        self.table("fake\tfake\t-\t-\tkernel\t-\tall\tsays so")
        self.passes(self.check())
        self.assertEqual(self.asked(), ["1 - -", "2 - -"])
        self.assertEqual(self.row("fake"), ["ok", "ok", "ok"])

    def test_apply_takes_no_offset(self):
        apply = self.checks / "apply.sh"
        apply.write_text(f'#!/bin/sh\nexec {SCRIPTS}/series/apply.sh "$@"\n')
        apply.chmod(0o755)
        self.table("apply\tapply\t-\t-\tcommit\t-\tall\tapplies")
        self.passes(self.check())
        p = self.patches / "kernel" / "0002-mm-Say-thirty.patch"
        p.write_text(p.read_text().replace("@@ -27,7 +27,7 @@", "@@ -26,7 +26,7 @@"))
        r = self.check()
        self.assertEqual(r.returncode, 1, r.stdout + r.stderr)
        self.assertEqual(self.row("apply"), ["ok", "**no**"])
        self.assertIn("offset", (self.dir / "report.md").read_text())


if __name__ == "__main__":
    unittest.main()
