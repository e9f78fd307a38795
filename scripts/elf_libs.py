#!/usr/bin/env python3
"""Prints the shared libraries that the ELF files below a folder need.

usage: elf_libs.py TREE LIBDIR...

One path a line, of libraries found in a LIBDIR and not in TREE itself; theirs
too. A library found nowhere is an error: its program would not start.
"""

import re
import subprocess
import sys
from pathlib import Path

NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(.+)\]")


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as f:
        return f.read(4) == b"\x7fELF"


def needed(path):
    """DT_NEEDED of one file; none where readelf cannot read it (broken fixtures)."""
    done = subprocess.run(
        ["llvm-readelf", "--dynamic", path], capture_output=True, text=True, check=False
    )
    return NEEDED.findall(done.stdout)


def main(argv):
    if len(argv) < 2:
        print("error: usage: elf_libs.py TREE LIBDIR...", file=sys.stderr)
        return 2
    tree, dirs = Path(argv[0]), [Path(d) for d in argv[1:]]
    files = [p for p in sorted(tree.rglob("*")) if is_elf(p)]
    own = {p.name for p in tree.rglob("*")}
    found = {}
    while files:
        path = files.pop()
        for name in needed(path):
            if name in own or name in found:
                continue
            lib = next((d / name for d in dirs if (d / name).exists()), None)
            if lib is None:
                print(f"error: {path} needs {name}, not in {' '.join(argv[1:])}", file=sys.stderr)
                return 2
            found[name] = lib
            files.append(lib)
    print("\n".join(str(lib) for lib in sorted(found.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
