"""The examples of docs/abi.md are what the page says they are.

The decoder here follows the page's table of the layout and shares no code with the
kernel, the selftests or perf."""

import contextlib
import re
import struct
import unittest
from pathlib import Path

DOC = Path(__file__).resolve().parents[2] / "docs" / "abi.md"
MMAP3 = 23
NO_FILE, DATA, BUILD_ID = 1 << 11, 1 << 13, 1 << 14
KNOWN_MISC = 7 | NO_FILE | DATA | BUILD_ID
USER = 2
PROT_EXEC = 4


def decode(record):
    """Every field of a record of an event with sample_type TID | TIME; refuses what the
    page rules out."""
    kind, misc, size = struct.unpack_from("<IHH", record)
    if kind != MMAP3 or size != len(record) or size % 8 or misc & ~KNOWN_MISC or misc & 7 != USER:
        raise ValueError(f"header {kind} {misc:#x} {size} of {len(record)} bytes")
    fields = dict(zip(("addr", "len", "pgoff"), struct.unpack_from("<QQQ", record, 8), strict=True))
    at = 32
    if misc & BUILD_ID:
        if misc & NO_FILE:
            raise ValueError("a build ID and no file")
        id_size = record[at]
        if not 1 <= id_size <= 20 or any(
            record[at + 1 : at + 4] + record[at + 4 + id_size : at + 24]
        ):
            raise ValueError("size or padding of the build ID")
        fields |= {"build_id_size": id_size, "build_id": record[at + 4 : at + 4 + id_size].hex()}
        at += 24
    elif not misc & NO_FILE:
        names = ("maj", "min", "ino", "ino_generation")
        fields |= dict(zip(names, struct.unpack_from("<IIQQ", record, at), strict=True))
        at += 24
    fields["prot"], fields["flags"] = struct.unpack_from("<II", record, at)
    name = record[at + 8 : -16]
    if len(name) % 8 or not name.endswith(b"\0") or len(name) - len(name.rstrip(b"\0")) > 8:
        raise ValueError("padding of the name")
    fields["filename"] = name.rstrip(b"\0").decode()
    fields["pid"], fields["tid"], fields["time"] = struct.unpack_from("<IIQ", record, size - 16)
    if bool(misc & DATA) == bool(fields["prot"] & PROT_EXEC):
        raise ValueError("the DATA bit and PROT_EXEC")
    return fields


def examples():
    """Title -> (bytes, fields that the page states)."""
    found = {}
    part = (
        DOC.read_text(encoding="utf-8").split("<!-- examples")[1].split("<!-- end of examples")[0]
    )
    for title, body in re.findall(r"^### (.*)\n((?:(?!^### ).*\n)*)", part, re.M):
        rows = re.findall(r"^    ( *\d+)  ([0-9a-f ]+)$", body, re.M)
        data = bytearray()
        for at, row in rows:
            if int(at) != len(data):
                raise ValueError(f"{title}: a row starts at {at}, not at {len(data)}")
            data += bytes.fromhex(row)
        stated = dict(re.findall(r"^\| (\w+) \| `(.*)` \|$", body, re.M))
        found[title] = (bytes(data), stated)
    return found


class Abi(unittest.TestCase):
    maxDiff = None

    def test_examples_decode_to_what_is_stated(self):
        all_examples = examples()
        self.assertEqual(len(all_examples), 6)
        for title, (data, stated) in all_examples.items():
            with self.subTest(title):
                fields = decode(data)
                self.assertGreater(fields.pop("time"), 0)
                # drawn at random by the file system; nothing to compare with
                fields.pop("ino_generation", None)
                text = ("filename", "build_id")
                self.assertEqual(
                    fields, {k: v if k in text else int(v, 0) for k, v in stated.items()}
                )

    def test_every_form_is_there(self):
        forms = {
            struct.unpack_from("<H", data, 4)[0] & (NO_FILE | DATA | BUILD_ID)
            for data, _ in examples().values()
        }
        self.assertEqual(forms, {0, BUILD_ID, BUILD_ID | DATA, NO_FILE, NO_FILE | DATA})

    def test_a_flipped_bit_is_seen(self):
        """No bit of any example is without meaning, but for time and generation."""
        for title, (data, _) in examples().items():
            free = set(range(len(data) - 8, len(data)))
            misc = struct.unpack_from("<H", data, 4)[0]
            if not misc & (NO_FILE | BUILD_ID):
                free |= set(range(48, 56))
            right = decode(data)
            for i in set(range(len(data))) - free:
                bad = bytearray(data)
                bad[i] ^= 1
                refused = contextlib.suppress(ValueError, struct.error)
                with self.subTest(title, byte=i), refused:
                    self.assertNotEqual(decode(bytes(bad)), right)

    def test_the_sizes_that_the_readme_names(self):
        """Anonymous memory: 24 bytes of union and 8 of pid and tid less than MMAP2."""
        data = examples()["A page of anonymous memory beside another that it is merged with"][0]
        self.assertEqual(len(data), 64)


if __name__ == "__main__":
    unittest.main()
