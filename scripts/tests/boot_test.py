"""boot.py with a stand-in for QEMU: how each end of a guest is told apart."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BOOT = Path(__file__).resolve().parent.parent / "boot.py"

# Finds the files behind the chardevs, then does what GUEST says.
FAKE_QEMU = r"""#!/bin/sh
for word; do
	case $word in
	file:*) console=${word#file:} ;;
	file,id=ktap,path=*) ktap=${word#*path=} ;;
	file,id=out,path=*) out=${word#*path=} ;;
	esac
done
eval "$GUEST"
"""
BANNER = 'echo "[ 0.0] Linux version 7.3" >$console; echo "KTAP version 1" >$ktap;'


class BootTest(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        qemu = self.dir / "qemu-system-x86_64"
        qemu.write_text(FAKE_QEMU)
        qemu.chmod(0o755)
        for name in ("kernel", "image"):
            (self.dir / name).write_text("x")

    def boot(self, guest, *more, path=None, **env):
        command = [sys.executable, BOOT, "--arch", "x86_64", "--mode", "test"]
        command += ["--kernel", self.dir / "kernel", "--image", self.dir / "image"]
        command += ["--run", self.dir / "run", *more]
        env = {
            "PATH": f"{path or self.dir}:{os.environ['PATH']}" if path != "" else "/nowhere",
            "GUEST": guest,
            "ACCEL": "tcg",
        } | env
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        self.out, self.err = done.stdout, done.stderr
        return done.returncode

    def result(self):
        return json.loads((self.dir / "run" / "result.json").read_text())

    def test_exit_0(self):
        self.assertEqual(self.boot(BANNER + "echo exit 0 >>$ktap"), 0, self.out)
        self.assertEqual(self.result()["end"], "exit")
        self.assertIn("scripts/in-toolroot.sh qemu-system-x86_64 ", self.out)

    def test_exit_1(self):
        self.assertEqual(self.boot(BANNER + "echo exit 1 >>$ktap"), 1)

    def test_unknown_guest_code_is_a_failure(self):
        self.assertEqual(self.boot(BANNER + "echo exit 77 >>$ktap"), 1)

    def test_lost(self):
        self.assertEqual(self.boot(BANNER + "echo '  exit 0' >>$ktap"), 128)
        self.assertIn("without `exit N`", self.err)
        self.assertIn(str(self.dir / "run" / "console"), self.err)

    def test_deadline(self):
        self.assertEqual(self.boot(BANNER + "exec sleep 60", DEADLINE="2"), 124)
        self.assertIn("not done after 2 s", self.err)

    def test_qemu_that_ignores_sigterm_is_ended(self):
        guest = BANNER + "trap '' TERM; while :; do sleep 0.2; done"
        self.assertEqual(self.boot(guest, DEADLINE="1"), 124)

    def no_user_space(self, **env):
        script = (
            "import boot; boot.USERSPACE['tcg'] = 2; import sys; sys.exit(boot.main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", script, "--arch", "x86_64", "--mode", "test"]
        command += ["--kernel", self.dir / "kernel", "--image", self.dir / "image"]
        command += ["--run", self.dir / "run"]
        env |= {"PATH": f"{self.dir}:{os.environ['PATH']}", "ACCEL": "tcg"}
        env |= {"GUEST": "exec sleep 60", "PYTHONPATH": str(BOOT.parent)}
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 124)
        return done.stderr

    def test_no_user_space(self):
        self.assertIn("no user space after 2 s", self.no_user_space())

    def test_slow_kernels_have_longer_to_user_space(self):
        self.assertIn("no user space after 4 s", self.no_user_space(DEADLINE="3000"))

    def test_a_short_deadline_is_no_short_boot(self):
        self.assertIn("no user space after 2 s", self.no_user_space(DEADLINE="100"))

    def test_splat_after_exit_0(self):
        guest = BANNER + "echo exit 0 >>$ktap; echo '[ 1.0] BUG: bad' >>$console"
        self.assertEqual(self.boot(guest), 3)
        self.assertIn("BUG: bad", self.err)

    def test_panic_without_exit_is_a_splat(self):
        self.assertEqual(self.boot(BANNER + "echo 'Kernel panic - not syncing' >>$console"), 3)

    def test_qemu_does_not_start(self):
        self.assertEqual(self.boot("echo 'no such device' >&2; exit 1"), 2)
        self.assertIn("no such device", self.err)

    def test_flood(self):
        guest = BANNER + "dd if=/dev/zero of=$out bs=1M count=80 2>/dev/null; exec sleep 60"
        self.assertEqual(self.boot(guest), 128)
        self.assertIn("grew beyond", self.err)

    def test_missing_qemu_kernel_image(self):
        self.assertEqual(self.boot("", path=""), 2)
        self.assertIn("qemu-system-x86_64 is missing", self.err)
        for name in ("kernel", "image"):
            (self.dir / name).unlink()
            self.assertEqual(self.boot(""), 2)
            self.assertIn(f"no {name} at", self.err)
            self.assertEqual(len(self.err.splitlines()), 1)
            (self.dir / name).write_text("x")

    def test_bad_settings(self):
        self.assertEqual(self.boot("", ACCEL="hvf"), 2)
        self.assertIn("ACCEL=hvf", self.err)
        self.assertEqual(self.boot("", DEADLINE="soon"), 2)
        self.assertIn("DEADLINE=soon", self.err)
        self.assertEqual(self.boot("", "--arch", "vax"), 2)
        self.assertIn("unknown ARCH 'vax'", self.err)

    def test_an_older_result_is_gone(self):
        self.boot(BANNER + "echo exit 0 >>$ktap")
        self.assertEqual(self.boot(BANNER), 128)
        self.assertEqual(self.result()["end"], "lost")
