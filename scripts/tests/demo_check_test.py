"""demo_check.py with a stand-in for llvm-readelf, which prints the file's text."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent.parent / "demo_check.py"


class DemoCheckTest(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        readelf = self.dir / "llvm-readelf"
        readelf.write_text('#!/bin/sh\ncat "$2"\n')
        readelf.chmod(0o755)
        (self.dir / "image" / "lib").mkdir(parents=True)
        (self.dir / "image" / "lib" / "a b.so").write_text("    Build ID: 00ff10\n")
        (self.dir / "image" / "lib" / "none.so").write_text("no note\n")

    def check(self, out, wanted=None):
        (self.dir / "out").write_text(out)
        command = [sys.executable, CHECK, self.dir / "out", self.dir / "image"]
        if wanted is not None:
            (self.dir / "wanted").write_text(wanted)
            command.append(self.dir / "wanted")
        env = {"PATH": f"{self.dir}:{os.environ['PATH']}"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        self.err = done.stderr
        return done.returncode

    def test_equal(self):
        self.assertEqual(self.check("ID 00ff10 /lib/a b.so\n"), 0, self.err)

    def test_different_short_or_empty(self):
        for shown in ("00ff11", "00ff", "00ff1000", ""):
            self.assertEqual(self.check(f"ID {shown} /lib/a b.so\n"), 1)
            self.assertIn("/lib/a b.so", self.err)

    def test_file_without_a_note_or_absent(self):
        self.assertEqual(self.check("ID 00ff10 /lib/none.so\n"), 1)
        self.assertEqual(self.check("ID 00ff10 /lib/gone.so\n"), 1)

    def test_nothing_compared(self):
        self.assertEqual(self.check("a table\n"), 1)
        self.assertIn("none was compared", self.err)

    def test_not_an_id_line(self):
        self.assertEqual(self.check("ID 00ff10 /lib/a b.so\nID garbage\n"), 1)

    def test_wanted_kinds(self):
        out = "ID 00ff10 /lib/a b.so\n7f00 vdso\n"
        self.assertEqual(self.check(out, "# comment\nvdso$\tthe vdso\n"), 0, self.err)
        self.assertEqual(self.check(out, "vdso$\tthe vdso\nheap\theap made executable\n"), 1)
        self.assertIn("lacks heap made executable", self.err)

    def test_missing_record(self):
        self.assertEqual(self.check("ID 00ff10 /lib/a b.so\nMISSING heap-2nd\n"), 1)
        self.assertIn("heap-2nd", self.err)
