#!/usr/bin/env python3
"""Puts what scripts/guest/records.c printed into docs/abi.md, between its two marks.

usage: abi_examples.py OUT DOC
"""

import sys
from pathlib import Path

BEGIN = "<!-- examples: written by scripts/abi-examples.sh -->\n"
END = "<!-- end of examples -->\n"
# What each case shows; the order is that of the page.
TITLES = {
    "inode": "A file without a build ID",
    "build-id": "A file with a build ID of 20 bytes",
    "short-build-id": "A file with a build ID of 8 bytes",
    "data": "The same, not executable (`mmap_data`)",
    "memory": "A page of anonymous memory beside another that it is merged with",
    "not-executable-any-more": "mprotect() takes PROT_EXEC from the first of these pages",
}


class BadOutput(Exception):
    """The guest's output is not what records.c prints."""


def read(text):
    """Name -> (fields as asked for, bytes)."""
    cases = {}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "CASE":
            fields = {}
            name = rest
        elif word == "WANT":
            field, _, value = rest.partition(" ")
            fields[field] = value
        elif word == "REC":
            cases[name] = (fields, bytes.fromhex(rest))
    if list(cases) != list(TITLES):
        raise BadOutput(f"cases {', '.join(cases)} where {', '.join(TITLES)} were to be")
    return cases


def dump(data):
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        yield f"    {at:3}  {row[:8].hex(' ')}  {row[8:].hex(' ')}".rstrip()


def section(cases):
    for name, (fields, data) in cases.items():
        yield f"### {TITLES[name]}"
        yield ""
        yield from dump(data)
        yield ""
        yield "| field | value |"
        yield "|---|---|"
        for field, value in fields.items():
            yield f"| {field} | `{value}` |"
        yield ""


def main(out, doc):
    text = Path(doc).read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise BadOutput(f"{doc} has not one pair of marks for the examples")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    body = "\n".join(section(read(Path(out).read_text(encoding="utf-8"))))
    Path(doc).write_text(head + BEGIN + "\n" + body + "\n" + END + tail, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
