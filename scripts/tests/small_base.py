"""A base of a few files that stands in for the kernel, through the same scripts."""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
SCRIPTS = REPO / "scripts"
SETUP = 2

BASE_FILES = {
    "Makefile": "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\nEXTRAVERSION =\n",
    ".gitignore": "*.o\n/*\n",
    "mm/mmap.c": "".join(f"line {i}\n" for i in range(1, 41)),
    "MAINTAINERS": "PERFORMANCE EVENTS SUBSYSTEM\nF:\tkernel/events/*\nF:\ttools/perf/\n",
    "tools/Makefile": "all:\n",
    "tools/perf/builtin-record.c": "record\n",
    "tools/testing/selftests/perf_events/Makefile": "include ../lib.mk\n",
    "kernel/events/Makefile": "obj-y := core.o\n",
    "init/Kconfig": 'config PERF_EVENTS\n\tbool "perf"\n\nconfig NEXT\n\tbool\n',
}


class SmallBase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="mmap3-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.cache = self.dir / "cache"
        self.patches = self.dir / "patches"
        self.tree = self.cache / "tree"
        for d in (self.patches / "kernel", self.patches / "tools", self.cache / "source"):
            d.mkdir(parents=True)
        src = self.dir / "linux-source-7.3"
        for name, text in self.base_files().items():
            (src / name).parent.mkdir(parents=True, exist_ok=True)
            (src / name).write_text(text)
        self.tarball = self.cache / "source" / "linux-source-7.3.tar.gz"
        with tarfile.open(self.tarball, "w:gz") as t:
            t.add(src, src.name)
        self.write_base(hashlib.sha256(self.tarball.read_bytes()).hexdigest())

    def base_files(self):
        return BASE_FILES

    def write_base(self, sha256):
        (self.patches / "BASE").write_text(
            "VERSION=7.3.4\nTAG=v7.3.4\nDEB_PACKAGE=linux-source-7.3\nDEB_VERSION=7.3.4-1\n"
            f"DEB_TARBALL=usr/src/{self.tarball.name}\nDEB_SHA256={sha256}\n"
        )

    def run_in(self, *cmd, **env):
        keep = {k: os.environ[k] for k in ("PATH", "HOME") if k in os.environ}
        keep |= {"CACHE": str(self.cache), "PATCHES": str(self.patches)} | env
        return subprocess.run(
            cmd, cwd=REPO, env=keep, capture_output=True, text=True, timeout=120, check=False
        )

    def script(self, name, *args, **env):
        return self.run_in(SCRIPTS / name, *args, **env)

    def passes(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def refused(self, result, *words, code=SETUP):
        """One line on stderr that starts with error: and holds all the words."""
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        lines = [x for x in result.stderr.splitlines() if x.startswith("error: ")]
        self.assertEqual(len(lines), 1, result.stderr)
        for word in words:
            self.assertIn(word, lines[0])

    def git(self, *args, tree=None):
        return subprocess.run(
            [
                "git",
                "-c",
                "user.name=T",
                "-c",
                "user.email=t@localhost",
                "-C",
                tree or self.tree,
                *args,
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def edit(self, name, old, new):
        f = self.tree / name
        self.assertIn(old, f.read_text())
        f.write_text(f.read_text().replace(old, new))

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def make_series(self):
        """Two kernel patches and one of tools, made the way a user makes them."""
        self.passes(self.script("tree.sh"))
        self.edit("mm/mmap.c", "line 5\n", "line five\n")
        self.commit("mm: Say five\n\nBecause grüße are wider than ASCII.")
        self.edit("mm/mmap.c", "line 30\n", "line thirty\n")
        self.commit("mm: Say thirty")
        self.edit("tools/perf/builtin-record.c", "record", "record --mmap3")
        self.commit("perf record: Add --mmap3")
        self.passes(self.script("refresh.sh"))

    def series(self):
        return {
            str(p.relative_to(self.patches)): p.read_bytes() for p in self.patches.rglob("*.patch")
        }
