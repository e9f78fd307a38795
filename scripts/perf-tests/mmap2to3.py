#!/usr/bin/env python3
"""Turn the MMAP2 records of a perf.data file into MMAP3 records.

What perf says about the output must be what it says about the input, so this
makes test data for readers on a machine whose kernel has no MMAP3. Records
that perf synthesised stay MMAP2, as in a real file. Little-endian files only.

usage: mmap2to3.py IN OUT
"""

import struct
import sys

MMAP2, MMAP3 = 10, 23
BUILD_ID, NO_FILE = 1 << 14, 1 << 11
TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER = 1 << 1, 1 << 2, 1 << 6, 1 << 9, 1 << 7, 1 << 16
SAMPLE_ID_ALL, ATTR_MMAP3 = 1 << 18, 1 << 40
HEADER = "<QQQQQQQQQ"


def die(why):
    sys.exit(f"mmap2to3.py: {sys.argv[1]}: {why}")


def convert(record, misc, id_size):
    """The MMAP3 record for a MMAP2 record, or None if it has to stay as it is."""
    pid, tid = struct.unpack_from("<II", record, 8)
    sample_id = record[len(record) - id_size :]
    if struct.unpack_from("<II", sample_id) != (pid, tid) or not pid:
        return None
    ident, rest = record[40:64], record[64:]
    if not misc & BUILD_ID and not any(ident):
        misc, ident = misc | NO_FILE, b""
    body = record[16:40] + ident + rest
    return struct.pack("<IHH", MMAP3, misc, 8 + len(body)) + body


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[-1].strip())
    with open(sys.argv[1], "rb") as src:
        data = bytearray(src.read())
    if data[:8] != b"PERFILE2":
        die("not a little-endian perf.data file")
    (_, size, attr_size, attrs, attrs_len, start, length, _, _) = struct.unpack_from(HEADER, data)
    if size < 104:
        die("piped data")
    id_size = None
    for off in range(attrs, attrs + attrs_len, attr_size):
        (sample_type,) = struct.unpack_from("<Q", data, off + 24)
        (flags,) = struct.unpack_from("<Q", data, off + 40)
        if not flags & SAMPLE_ID_ALL or not sample_type & TID:
            die("no sample_id_all or no TID")
        this = 8 * sum(
            bool(sample_type & bit) for bit in (TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER)
        )
        if id_size not in (None, this):
            die("events with different sample IDs")
        id_size = this
        struct.pack_into("<Q", data, off + 40, flags | ATTR_MMAP3)
    out, pos, done = bytearray(), start, 0
    while pos < start + length:
        kind, misc, size = struct.unpack_from("<IHH", data, pos)
        record = bytes(data[pos : pos + size])
        new = convert(record, misc, id_size) if kind == MMAP2 else None
        done += new is not None
        out += new or record
        pos += size
    delta = len(out) - length
    tail = bytearray(data[start + length :])
    # The table of the feature sections is right behind the data.
    features = sum(bin(word).count("1") for word in struct.unpack_from("<4Q", data, 72))
    for i in range(features):
        (off,) = struct.unpack_from("<Q", tail, 16 * i)
        struct.pack_into("<Q", tail, 16 * i, off + delta)
    struct.pack_into("<Q", data, 48, len(out))
    with open(sys.argv[2], "wb") as dst:
        dst.write(data[:start] + out + tail)
    print(f"{done} records turned into MMAP3")


main()
