"""image.sh refuses what it cannot use; elf_libs.py finds libraries, with a stand-in
for llvm-readelf that prints the file's own text."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent


class ImageTest(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)

    def run_in(self, *command):
        env = {"PATH": f"{self.dir}:{os.environ['PATH']}", "HOME": str(self.dir)}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        self.out, self.err = done.stdout, done.stderr
        return done.returncode

    def test_image_needs_a_known_arch_and_a_kernel(self):
        self.assertEqual(self.run_in(SCRIPTS / "image.sh", "vax"), 2)
        self.assertIn("unknown ARCH 'vax'", self.err)
        self.assertEqual(self.run_in(SCRIPTS / "image.sh", "x86_64"), 2)
        self.assertIn("make kernel ARCH=x86_64", self.err)
        self.assertEqual(list(self.dir.rglob("image*")), [])

    def elf(self, path, *needed):
        path = self.dir / path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f" 0x0001 (NEEDED)  Shared library: [{n}]\n" for n in needed]
        path.write_bytes(b"\x7fELF\n" + "".join(lines).encode())

    def libs(self):
        readelf = self.dir / "llvm-readelf"
        readelf.write_text('#!/bin/sh\ncat "$2"\n')
        readelf.chmod(0o755)
        tree, libdir = self.dir / "tree", self.dir / "lib"
        libdir.mkdir(exist_ok=True)
        return self.run_in(sys.executable, SCRIPTS / "elf_libs.py", tree, libdir)

    def test_libraries_of_libraries(self):
        self.elf("tree/bin/a b", "libone.so.1")
        self.elf("lib/libone.so.1", "libtwo.so")
        self.elf("lib/libtwo.so", "libone.so.1")
        self.elf("lib/libunused.so")
        self.assertEqual(self.libs(), 0, self.err)
        self.assertEqual(
            self.out.splitlines(),
            [f"{self.dir}/lib/libone.so.1", f"{self.dir}/lib/libtwo.so"],
        )

    def test_a_library_of_the_tree_itself_is_not_sought(self):
        self.elf("tree/a", "libown.so")
        self.elf("tree/sub/libown.so")
        (self.dir / "tree" / "script").write_text("(NEEDED) Shared library: [no.so]")
        self.assertEqual(self.libs(), 0, self.err)
        self.assertEqual(self.out.strip(), "")

    def test_a_library_found_nowhere(self):
        self.elf("tree/a", "libgone.so")
        self.assertEqual(self.libs(), 2)
        self.assertIn("needs libgone.so", self.err)
