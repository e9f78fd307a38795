#!/usr/bin/env python3
"""Boots a kernel in QEMU, watches it, and returns what the guest says.

usage: boot.py --arch ARCH --kernel FILE --image FILE --mode MODE --run DIR
               [--append WORDS] [--deadline S] [--icount] [--smp N] [--plugin FILE]
               [--interactive]

Fills DIR: ktap and out (what the guest wrote to its ports), console (the kernel's
log), qemu.log, result.json (how it ended), plugin (what a TCG plugin wrote). ACCEL=tcg|kvm
overrides the choice of accelerator, DEADLINE= the seconds a boot may take.

Exit code: what the guest said with `exit N` (0, 1 or 2), else 2 setup, 3 splat on
the console, 124 deadline, 128 guest lost (QEMU ended without `exit N`).
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import splat

FAILED, SETUP, SPLAT, DEADLINE, LOST = 1, 2, 3, 124, 128
HERE = Path(__file__).resolve().parent

# Seconds the whole boot may take, and what it usually takes before we know better.
DEADLINES = {"test": 1500, "demo": 180, "compare": 900, "bench": 1800, "shell": 0}
USUAL = {"test": 120, "demo": 20, "compare": 120, "bench": 120, "shell": 0}
# A kernel that has no user space by then hangs; with KVM it does so on some hosts.
USERSPACE = {"tcg": 180, "kvm": 45}
LOG_LIMIT = 64 << 20  # bytes; a guest that floods its log must not fill the disk
TICK = 10  # seconds between two status lines

EXIT = re.compile(rb"^exit (\d+)\r?$", re.M)
RESULT = re.compile(rb"^(not )?ok \d+ (.*)$")


class SetupError(Exception):
    """The boot cannot be tried; the text says what is missing and how to mend it."""


@dataclass
class Ended:
    how: str  # exit, deadline, lost, setup
    code: int = 0
    why: str = ""


def arch_row(name):
    """The arch's line of arches.tsv, by column name."""
    columns = []
    for line in (HERE / "arches.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#name"):
            columns = line[1:].split("\t")
        elif not line.startswith("#") and line.split("\t")[0] == name:
            return dict(zip(columns, line.split("\t"), strict=True))
    raise SetupError(f"unknown ARCH '{name}': see scripts/arches.tsv")


def accelerators(arch):
    """What to try, in order, and why. /dev/kvm alone proves nothing: it may open
    where a kernel then hangs, so the processor must show virtualisation too."""
    wanted = os.environ.get("ACCEL", "")
    if wanted:
        if wanted not in USERSPACE:
            raise SetupError(f"ACCEL={wanted}: use tcg or kvm")
        return [wanted], "ACCEL says so"
    if arch != "x86_64" or os.uname().machine != arch:
        return ["tcg"], f"guest {arch} on host {os.uname().machine}"
    if not re.search(r"^flags\s*:.*\b(vmx|svm)\b", Path("/proc/cpuinfo").read_text(), re.M):
        return ["tcg"], "no vmx or svm in the processor's flags"
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return ["tcg"], "/dev/kvm cannot be opened"
    return ["kvm", "tcg"], "same arch, vmx or svm, /dev/kvm opens"


def qemu_command(opt, row, accel):
    run = Path(opt.run)
    command = [row["qemu"], "-nodefaults", "-no-user-config", "-no-reboot", "-nic", "none"]
    machine = row["machine"]
    # By the PIT, which comes late on a loaded host, a kernel took 2596 MHz for 77: its
    # clock went 34 times too fast, and what has seconds to end had none. By the HPET it
    # was 19 % off at worst.
    if machine == "q35" and accel == "tcg" and not opt.icount:
        machine += ",pit=off"
    command += ["-display", "none", "-M", machine, "-cpu", row["cpu"], "-m", "1024"]
    if opt.icount:  # guest time is then the count of instructions
        command += ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"]
    else:
        command += ["-accel", "tcg,thread=multi" if accel == "tcg" else accel]
    command += ["-smp", str(opt.smp or (1 if opt.icount else 2))]
    if opt.plugin:
        command += ["-plugin", f"{opt.plugin},out={run / 'plugin'}"]
    command += ["-kernel", str(opt.kernel), "-initrd", str(opt.image)]
    words = [f"console={row['console']}", "panic=-1"]
    # Elsewhere they would only leave traces: the inodes that they took, for compare.
    kunit = int(opt.mode == "test")
    words += [f"kunit.enable={kunit}", f"kunit.autorun={kunit}"]
    # On a loaded host TCG's timer comes late, and the kernel's check of it panics.
    words += ["no_timer_check"] if opt.arch == "x86_64" else []
    # Nor may it give up a TSC that is a little off for it: the processors of a TCG guest
    # all read the same one.
    words += ["tsc=nowatchdog"] if opt.arch == "x86_64" else []
    words += ["loglevel=5"] if opt.interactive else []  # warnings, not the boot's log
    words += [f"mmap3.mode={opt.mode}", *opt.append.split()]
    command += ["-append", " ".join(words)]
    if opt.interactive:
        command += ["-chardev", f"stdio,id=con,signal=off,logfile={run / 'console'}"]
        command += ["-serial", "chardev:con"]
    else:
        command += ["-serial", f"file:{run / 'console'}"]
    command += ["-device", "virtio-serial-pci"]
    for port in ("ktap", "out"):
        command += ["-chardev", f"file,id={port},path={run / port}"]
        command += ["-device", f"virtserialport,chardev={port},name=org.perf-mmap3.{port}"]
    return command


class Watch:
    """Follows the ktap port and says what happens there."""

    def __init__(self, opt, usual):
        self.name, self.usual = opt.arch, usual
        self.path = Path(opt.run) / "ktap"
        self.start = self.tick = time.monotonic()
        self.taken, self.rest, self.alive, self.done = 0, b"", False, 0
        self.last = self.start

    def seconds(self):
        return time.monotonic() - self.start

    def say(self, text):
        usual = f", usually {self.usual:.0f} s" if self.usual else ""
        print(f"   {self.name} {self.seconds():4.0f} s{usual}: {text}", flush=True)
        self.tick = time.monotonic()

    def poll(self):
        try:
            with self.path.open("rb") as f:
                f.seek(self.taken)
                data = f.read()
        except FileNotFoundError:
            return
        self.taken += len(data)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.alive = True
            result = RESULT.match(line)
            if result:
                self.done += 1
                took = time.monotonic() - self.last
                self.last = time.monotonic()
                word = "not ok" if result[1] else "ok"
                name = splat.printable(result[2].decode("utf-8", "replace"))
                self.say(f"{word} {name} ({took:.1f} s)")
        if time.monotonic() - self.tick > TICK:
            self.say(f"{self.done} done" if self.alive else "boots")


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def too_large(run):
    return any(
        (Path(run) / name).exists() and (Path(run) / name).stat().st_size > LOG_LIMIT
        for name in ("console", "ktap", "out")
    )


def run_qemu(opt, command, accel, usual):
    """Runs QEMU to its end or the deadline."""
    run = Path(opt.run)
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    stdin = None if opt.interactive else subprocess.DEVNULL
    with (run / "qemu.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=stdin, stdout=None if opt.interactive else log, stderr=log
        )
    watch = Watch(opt, usual)
    ended = None
    # with more time in all there is more for the boot
    longer = max(1, opt.deadline / (DEADLINES.get(opt.mode) or 900))
    # Counts of instructions are as good on a host that has little time for them.
    longer *= 4 if opt.icount else 1
    userspace = USERSPACE[accel] * longer if opt.deadline else 0
    try:
        while process.poll() is None and ended is None:
            time.sleep(0.1)
            if opt.interactive:
                continue
            watch.poll()
            if opt.deadline and watch.seconds() > opt.deadline:
                ended = Ended("deadline", why=f"not done after {opt.deadline} s")
            elif not watch.alive and userspace and watch.seconds() > userspace:
                ended = Ended("deadline", why=f"no user space after {userspace:.0f} s")
            elif too_large(run):
                ended = Ended("lost", why=f"a log grew beyond {LOG_LIMIT >> 20} MiB")
    finally:
        if process.poll() is None:
            stop(process)
    if not opt.interactive:
        watch.poll()
    said = EXIT.findall((run / "ktap").read_bytes()) if (run / "ktap").exists() else []
    if ended is None and said:
        ended = Ended("exit", int(said[-1]))
    elif ended is None and process.returncode != 0 and not has_text(run / "console"):
        text = (run / "qemu.log").read_text(errors="replace").strip().splitlines()
        ended = Ended("setup", why=f"QEMU did not start: {text[0] if text else 'no message'}")
    elif ended is None:
        ended = Ended("lost", why=f"QEMU ended (status {process.returncode}) without `exit N`")
    return ended, watch


def has_text(path):
    return path.exists() and path.stat().st_size > 0


def usual_seconds(opt):
    """What this boot took the last time it ended by itself, kept beside the runs."""
    try:
        return json.loads(usual_file(opt).read_text())["seconds"]
    except (OSError, ValueError, KeyError):
        return USUAL.get(opt.mode, 0)


def usual_file(opt):
    run = Path(opt.run)
    return run.parent / f"usual-{run.name}.json"


def boot(opt, row):
    tries, why = accelerators(opt.arch)
    if opt.icount:
        tries, why = ["tcg"], "instruction counts need it"
    usual = usual_seconds(opt)
    for accel in tries:
        command = qemu_command(opt, row, accel)
        print(f"== boot {opt.arch}, mode {opt.mode}, accelerator {accel} ({why}); deadline")
        print(f"   {opt.deadline or 'none'} s; logs: {opt.run}")
        print("   scripts/in-toolroot.sh " + shlex.join(command), flush=True)
        ended, watch = run_qemu(opt, command, accel, usual)
        if accel == tries[-1] or watch.alive or ended.how == "exit":
            break
        print(f"note: with KVM {ended.why}; once more with TCG", file=sys.stderr)
        why = "KVM does not work here"
    return ended, watch, command


def main(argv):
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--arch", "--kernel", "--image", "--mode", "--run"):
        args.add_argument(name, required=True)
    args.add_argument("--append", default="")
    args.add_argument("--deadline", type=int)
    args.add_argument("--icount", action="store_true")
    args.add_argument("--smp", type=int, help="processors; 2, with --icount 1")
    args.add_argument("--plugin", help="a TCG plugin, with its arguments")
    args.add_argument("--interactive", action="store_true", help="on this terminal")
    opt = args.parse_args(argv)
    try:
        row = arch_row(opt.arch)
        if not shutil.which(row["qemu"]):
            raise SetupError(f"{row['qemu']} is missing: run this by scripts/in-toolroot.sh")
        for what, path in (("kernel", opt.kernel), ("image", opt.image)):
            if not has_text(Path(path)):
                raise SetupError(f"no {what} at {path}: make it with 'make image ARCH={opt.arch}'")
        if opt.deadline is None:
            try:
                opt.deadline = int(os.environ.get("DEADLINE") or DEADLINES.get(opt.mode, 900))
            except ValueError as e:
                raise SetupError(f"DEADLINE={os.environ['DEADLINE']}: give seconds") from e
        allowed = splat.load_allow(HERE / "console-allow.toml")
        ended, watch, command = boot(opt, row)
    except (SetupError, splat.AllowError) as e:
        print(f"error: {e}", file=sys.stderr)
        return SETUP
    result = {"kind": "guest", "name": opt.arch, "mode": opt.mode, "end": ended.how}
    result |= {"code": ended.code, "why": ended.why, "deadline": opt.deadline}
    result |= {"seconds": round(watch.seconds(), 1), "command": command}
    run = Path(opt.run)
    (run / "result.json").write_text(json.dumps(result, indent=1) + "\n")
    return verdict(opt, ended, watch, allowed)


def verdict(opt, ended, watch, allowed):
    console = Path(opt.run) / "console"
    splats = splat.scan(console, allowed)[0] if console.exists() else []
    for number, meaning, text in splats:
        print(f"error: splat ({meaning}) at {console}:{number}\n{text}", file=sys.stderr)
    if ended.how == "exit":
        if "mmap3.run" not in opt.append:  # one program tells nothing of all
            usual_file(opt).write_text(json.dumps({"seconds": watch.seconds()}))
        print(f"   {opt.arch}: guest says exit {ended.code} after {watch.seconds():.0f} s")
        code = ended.code if ended.code in (0, FAILED, SETUP) else FAILED
    else:
        code = {"setup": SETUP, "deadline": DEADLINE, "lost": LOST}[ended.how]
        print(f"error: boot {opt.arch}: {ended.why}; console: {console}", file=sys.stderr)
        tail = console.read_bytes()[-1500:] if console.exists() else b""
        for line in tail.decode("utf-8", "replace").splitlines()[-8:]:
            print("   | " + splat.printable(line), file=sys.stderr)
    return SPLAT if splats and code != SETUP else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
