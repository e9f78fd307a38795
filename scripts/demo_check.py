#!/usr/bin/env python3
"""Checks what the demo printed against the files of the image.

usage: demo_check.py OUT IMAGE_DIR [WANTED]

Every `ID <hex> <path>` of OUT must be the build ID that readelf reads from that very
file of the image, and every line of WANTED (a regular expression and, behind a tab,
what it stands for) must match a line of OUT. A line `MISSING <what>`, by which the
demo tells of a mapping without a record, is a failure. Exit code 1 where one fails.
"""

import re
import subprocess
import sys
from pathlib import Path

ID = re.compile(r"^ID ([0-9a-f]*) (/.*)$")
NOTE = re.compile(r"Build ID: ([0-9a-f]+)")


def id_of(path):
    """The build ID by readelf: of the note named GNU, wherever another one stands."""
    done = subprocess.run(
        ["llvm-readelf", "--notes", path], capture_output=True, text=True, check=False
    )
    found = NOTE.search(done.stdout)
    return found[1] if found else None


def check_ids(lines, image):
    bad, seen = [], set()
    for line in lines:
        match = ID.match(line)
        if line.startswith("ID ") and not match:
            bad.append(f"not an ID line: {line}")
        if not match or match[0] in seen:
            continue
        seen.add(match[0])
        shown, path = match.groups()
        file = image / path.lstrip("/")
        if not file.is_file():
            bad.append(f"{path} is not in the image: its ID cannot be checked")
            continue
        real = id_of(file)
        if shown != real:
            bad.append(f"{path}: the kernel says {shown or 'nothing'}, readelf says {real}")
    if not seen:
        bad.append("no build ID was shown, so none was compared")
    return bad, len(seen)


def check_wanted(lines, wanted):
    bad = []
    for row in wanted:
        pattern, _, what = row.partition("\t")
        if not any(re.search(pattern, line) for line in lines):
            bad.append(f"the table lacks {what or pattern}")
    return bad


def main(argv):
    if len(argv) not in (2, 3):
        print("error: usage: demo_check.py OUT IMAGE_DIR [WANTED]", file=sys.stderr)
        return 2
    try:
        lines = Path(argv[0]).read_text(encoding="utf-8", errors="replace").splitlines()
        wanted = Path(argv[2]).read_text(encoding="utf-8").splitlines() if argv[2:] else []
    except OSError as e:
        print(f"error: {e.filename}: {e.strerror}", file=sys.stderr)
        return 2
    bad, compared = check_ids(lines, Path(argv[1]))
    bad += [f"no record of: {x.split(None, 1)[1]}" for x in lines if x.startswith("MISSING ")]
    bad += check_wanted(lines, [w for w in wanted if w and not w.startswith("#")])
    for text in bad:
        print(f"error: {text}", file=sys.stderr)
    if not bad:
        print(f"{compared} build IDs compared with readelf -n: all equal")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
