#!/usr/bin/env python3
"""Give perf files with mutated MMAP3 records; it must say so and read the rest.

usage: fuzz.py PERF [SECONDS] [SEED]

PERF should be built with ASan and UBSan (make ... EXTRA_CFLAGS=-fsanitize=address,undefined).
Each file has some hundred records, each other one mutated, and ends with a good
MMAP3 and a sample in it. A run fails if perf crashes, hangs, prints nothing of that
sample, or a sanitizer speaks. The file of a failure is kept.
"""

import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

ATTR, SAMPLE, MMAP3 = 64, 9, 23
BUILD_ID, MMAP_DATA, NO_FILE = 1 << 14, 1 << 13, 1 << 11
FORMS = (0, BUILD_ID, NO_FILE)
PID, LAST = 4242, 0x77770000
BAD = re.compile(rb"runtime error:|Sanitizer|Assertion|SIGSEGV|SIGABRT")
READERS = (
    ("script", "--show-mmap-events", "-i"),
    ("report", "--stdio", "--mmaps", "-i"),
    ("inject", "--convert-mmap3", "-o", "/dev/null", "-i"),
    ("inject", "-b", "-o", "/dev/null", "-i"),
    ("inject", "--aslr", "-o", "/dev/null", "-i"),
    ("inject", "--jit", "-o", "/dev/null", "-i"),
)


class Maker:
    """Records in one byte order."""

    def __init__(self, order):
        self.order = order
        self.clock = 0

    def pack(self, form, *args):
        return struct.pack(self.order + form, *args)

    def record(self, kind, misc, body):
        return self.pack("IHH", kind, misc, 8 + len(body)) + body

    def sample_id(self):
        self.clock += 1
        return self.pack("IIQ", PID, PID, self.clock)

    def start(self):
        """Pipe header and attr: dummy, IP|TID|TIME, disabled, mmap, sample_id_all, mmap2, mmap3"""
        bits = (0, 8, 18, 23, 40)
        if self.order == "<":
            flags = sum(1 << bit for bit in bits).to_bytes(8, "little")
        else:
            # bit fields are laid out from the other end of each byte
            flags = bytearray(8)
            for bit in bits:
                flags[bit // 8] |= 0x80 >> bit % 8
        attr = self.pack("IIQQQQ", 1, 128, 9, 0, 7, 0) + bytes(flags)
        return self.pack("QQ", 0x32454C4946524550, 16) + self.record(
            ATTR, 0, attr + bytes(128 - len(attr))
        )

    def mmap3(self, addr, form, name, ident=b""):
        body = self.pack("QQQ", addr, 0x1000, 0)
        if form == BUILD_ID:
            body += ident or bytes([20, 0, 0, 0]) + bytes(range(1, 21))
        elif form == 0:
            body += self.pack("IIQQ", 8, 1, 42, 43)
        body += self.pack("II", 5, 2) + name + bytes(8 - len(name) % 8)
        return self.record(MMAP3, 2 | form, body + self.sample_id())

    def sample(self, addr):
        return self.record(SAMPLE, 2, self.pack("Q", addr) + self.sample_id())


def mutate(make, rnd, record):
    """One record with something wrong; its size stays one that can be stepped over."""
    how = rnd.randrange(7)
    record = bytearray(record)
    if how == 0:  # any byte behind the header
        for _ in range(rnd.randint(1, 8)):
            record[rnd.randrange(8, len(record))] = rnd.randrange(256)
    elif how == 1:  # shorter
        del record[8 * rnd.randint(1, len(record) // 8) :]
    elif how == 2:  # no end of the name
        record = bytearray(record[:40]) + bytes([65]) * 8 * rnd.randint(1, 40)
    elif how == 3:  # longer than any name
        record = bytearray(
            make.mmap3(0x10000, rnd.choice(FORMS), b"/" + b"n" * rnd.randint(4000, 60000))
        )
    elif how == 4:  # any misc
        record[4:6] = rnd.randbytes(2)
    elif how == 5:  # any size of the build ID
        record = bytearray(
            make.mmap3(
                0x20000, BUILD_ID, b"/bin/prog", bytes([rnd.randrange(256)]) + rnd.randbytes(23)
            )
        )
    else:  # both bits
        record[4:6] = make.pack("H", 2 | BUILD_ID | NO_FILE)
    record[6:8] = make.pack("H", len(record))
    return bytes(record)


def file_of(rnd, count=300):
    make = Maker(rnd.choice("<>"))
    out = [make.start()]
    mutated = 0
    for _ in range(count):
        name = rnd.choice((b"//anon", b"/bin/prog", b"[vdso]", b"/tmp/a b.so"))
        record = make.mmap3(rnd.randrange(1, 1 << 20) << 12, rnd.choice(FORMS), name)
        if rnd.random() < 0.5:
            record, mutated = mutate(make, rnd, record), mutated + 1
        out.append(record)
    out.append(make.mmap3(LAST, 0, b"/bin/last"))
    out.append(make.sample(LAST + 0x10))
    return b"".join(out), mutated


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    perf = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    rnd = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    env = dict(
        os.environ,
        ASAN_OPTIONS="detect_leaks=0",
        UBSAN_OPTIONS="print_stacktrace=1",
        DEBUGINFOD_URLS="",
    )
    end, files, records, warned, bad = time.monotonic() + seconds, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        env["HOME"] = folder
        path = os.path.join(folder, "fuzz.data")
        while time.monotonic() < end:
            data, mutated = file_of(rnd)
            with open(path, "wb") as f:
                f.write(data)
            reader = READERS[files % len(READERS)]
            files, records = files + 1, records + mutated
            try:
                done = subprocess.run(
                    [perf, *reader, path],
                    capture_output=True,
                    env=env,
                    timeout=120,
                    check=False,
                    stdin=subprocess.DEVNULL,
                )
                said = done.stderr
                why = (
                    f"status {done.returncode}"
                    if done.returncode < 0 or 128 < done.returncode < 255
                    else ""
                )
                if BAD.search(said):
                    why = "sanitizer"
                elif reader[0] == "script" and b"%x" % (LAST + 0x10) not in done.stdout:
                    why = why or "the last sample was not read"
                warned += said.count(b"WARNING")
            except subprocess.TimeoutExpired:
                said, why = b"", "it hangs"
            if why:
                bad += 1
                kept = os.path.abspath(f"fuzz-failure-{bad}.data")
                with open(kept, "wb") as f:
                    f.write(data)
                print(
                    f"perf {' '.join(reader)} {kept}: {why}\n"
                    + said[-3000:].decode(errors="replace"),
                    file=sys.stderr,
                )
                if bad >= 5:
                    break
    print(f"{files} files, {records} mutated records, {warned} warnings, {bad} failures")
    return 1 if bad or not files else 0


sys.exit(main())
