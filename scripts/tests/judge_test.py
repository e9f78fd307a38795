"""The judge on recorded runs: what each must come to, by exit code and last line.

Files a fixture lacks come from fixtures/default.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
JUDGE = HERE.parent / "judge.py"
FIXTURES = HERE / "fixtures"

# fixture: (exit code, last line, text that must be in the report)
CASES = {
    "pass": (0, "5 passed, 0 failed, 0 skipped", "x86_64"),
    "failing_subtest": (1, "2 passed, 1 failed, 0 skipped", "Expected rec->len (8192)"),
    "crash_after_last": (1, "1 passed, 1 failed, 0 skipped", "mmap3_test (as a whole)"),
    "missing_plan": (1, "2 passed, 1 failed, 0 skipped", "plan is missing"),
    "missing_nested_plan": (1, "1 passed, 1 failed, 0 skipped", "mmap3_test: the plan is missing"),
    "short_plan": (1, "2 passed, 1 failed, 0 skipped", "missing expected subtest"),
    "short_nested_plan": (1, "2 passed, 2 failed, 0 skipped", "missing expected subtest"),
    "beyond_plan": (1, "1 passed, 1 failed, 0 skipped", "beyond the plan: not ok 2 hidden"),
    "no_ktap": (1, "0 passed, 1 failed, 0 skipped", "no KTAP at all"),
    "empty_plan": (1, "0 passed, 1 failed, 0 skipped", "0 tests run"),
    "splat": (3, "5 passed, 1 failed, 0 skipped", "perf_event_mmap3+0x10"),
    "splat_after_exit": (3, "5 passed, 1 failed, 0 skipped", "unable to handle page fault"),
    "splat_and_failure": (3, "2 passed, 1 failed, 0 skipped", "Expected rec->len"),
    "lost": (128, "2 passed, 2 failed, 0 skipped", "guest lost"),
    "deadline": (124, "2 passed, 2 failed, 0 skipped", "deadline of 900 s"),
    "fake_exit": (128, "1 passed, 1 failed, 0 skipped", "guest lost"),
    "all_skipped": (4, "0 passed, 0 failed, 2 skipped", "SKIP mmap3_module: no such kernel"),
    "nested_skip_xfail": (0, "2 passed, 0 failed, 3 skipped", "XFAIL"),
    "garbage": (0, "2 passed, 0 failed, 0 skipped", "x86_64"),
    "garbage_failing": (1, "0 passed, 1 failed, 0 skipped", "?[31mred?"),
    "duplicate_numbers": (1, "3 passed, 1 failed, 0 skipped", "Expected test number 2"),
    "bail_out": (1, "1 passed, 1 failed, 0 skipped", "Bail out! cannot open an event"),
    "bail_out_alone": (1, "1 passed, 1 failed, 0 skipped", "a test gave up: Bail out!"),
    "exit_disagrees": (1, "1 passed, 1 failed, 0 skipped", "the guest itself says exit 1"),
    "huge_plan": (1, "0 passed, 1 failed, 0 skipped", "plan of 4000000000"),
    "host": (0, "2 passed, 0 failed, 0 skipped", "host"),
    "host_crash": (1, "2 passed, 1 failed, 0 skipped", "ended with 1"),
    "allowed_splat": (0, "5 passed, 0 failed, 0 skipped", "x86_64"),
    "nearly_allowed": (3, "5 passed, 1 failed, 0 skipped", "a known one, and more"),
    "empty_console": (128, "5 passed, 1 failed, 0 skipped", "nothing to scan"),
}

ALLOW = '[[allow]]\nline = "WARNING: a known one"\nreason = "a fixture"\n'


class JudgeTest(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        self.allow = self.dir / "allow.toml"
        self.allow.write_text(ALLOW)

    def run_dir(self, fixture):
        run = self.dir / fixture
        shutil.copytree(FIXTURES / "default", run)
        shutil.copytree(FIXTURES / fixture, run, dirs_exist_ok=True)
        return run

    def judge(self, *runs, kunit=None):
        kunit = kunit or os.environ.get("KUNIT_DIR")
        self.assertTrue(kunit, "set KUNIT_DIR to tools/testing/kunit of the tree")
        command = [sys.executable, JUDGE, "--kunit", kunit, "--allow", self.allow, *runs]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        last = done.stdout.splitlines()[-1] if done.stdout else ""
        return done.returncode, last, done.stdout, done.stderr

    def check(self, fixture):
        code, last, out, err = self.judge(self.run_dir(fixture))
        self.assertEqual((code, last), CASES[fixture][:2], out + err)
        self.assertIn(CASES[fixture][2], out)
        self.assertTrue(out.isprintable() or all(c.isprintable() or c in "\n\t" for c in out))
        self.assertEqual(err, "")

    def test_every_fixture_has_a_case(self):
        found = {d.name for d in FIXTURES.iterdir()} - {"default"}
        self.assertEqual(found, set(CASES))

    def test_worst_of_two_runs_wins(self):
        runs = [self.run_dir(f) for f in ("pass", "failing_subtest")]
        code, last, *_ = self.judge(*runs)
        self.assertEqual((code, last), (1, "7 passed, 1 failed, 0 skipped"))
        code, *_ = self.judge(*runs, self.run_dir("splat"), self.run_dir("lost"))
        self.assertEqual(code, 3)
        code, *_ = self.judge(runs[0], self.run_dir("all_skipped"))
        self.assertEqual(code, 4)

    def test_missing_file_is_setup(self):
        for name in ("ktap", "console", "result.json"):
            run = self.run_dir("pass")
            (run / name).unlink()
            code, last, _, err = self.judge(run)
            self.assertEqual((code, last), (2, "0 passed, 1 failed, 0 skipped"))
            self.assertIn(name, err)
            self.assertEqual(len(err.splitlines()), 1)
            shutil.rmtree(run)

    def test_broken_result_is_setup(self):
        run = self.run_dir("pass")
        (run / "result.json").write_text("{")
        self.assertEqual(self.judge(run)[0], 2)

    def test_no_parser_is_setup(self):
        code, _, _, err = self.judge(self.run_dir("pass"), kunit=str(self.dir))
        self.assertEqual(code, 2)
        self.assertIn("kunit_parser.py", err)

    def test_allow_entry_needs_a_reason(self):
        self.allow.write_text('[[allow]]\nline = "WARNING: a known one"\n')
        code, _, _, err = self.judge(self.run_dir("pass"))
        self.assertEqual(code, 2)
        self.assertIn("reason", err)


def _add(fixture):
    setattr(JudgeTest, f"test_{fixture}", lambda self: self.check(fixture))


for _fixture in CASES:
    _add(_fixture)
