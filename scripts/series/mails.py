#!/usr/bin/env python3
"""Completes a folder of mails that git format-patch made, and puts them into an mbox.

usage: mails.py --tree TREE --cover FILE --docs DIR --base VERSION --version N FOLDER MBOX

The cover letter gets its subject (first line of FILE) and text. Every mail gets To and
Cc from TREE's get_maintainer.pl, the cover letter all of them; who is there, and why,
goes to FOLDER/recipients.txt.

In the text, @BASE@ becomes the version, @COST@ the table of instructions of
docs/compare.md, @CHECKED@ the first line of docs/check-series.md.
"""

import argparse
import email.header
import email.utils
import re
import subprocess
import sys
from pathlib import Path

LINE = re.compile(r"^(?P<who>.*?) \((?P<role>.*)\)$")
FROM = re.compile(r"^From ", re.M)


class SeriesError(Exception):
    """One line for the user."""


def recipients(tree, patch):
    """(mail address, role) of everyone whom a patch concerns."""
    cmd = [
        "perl",
        "scripts/get_maintainer.pl",
        "--no-git",
        "--no-git-fallback",
        "--roles",
        "--norolestats",
    ]
    r = subprocess.run(
        [*cmd, str(patch.resolve())], cwd=tree, capture_output=True, text=True, check=False
    )
    found = [(m["who"], m["role"]) for m in map(LINE.match, r.stdout.splitlines()) if m]
    if r.returncode or not found:
        raise SeriesError(f"get_maintainer.pl names nobody for {patch.name}: {r.stderr.strip()}")
    return found


def header(name, who):
    """A folded header; a name that is not ASCII is encoded."""
    rows = []
    for person in who:
        real, address = email.utils.parseaddr(person)
        if not real.isascii():
            real = email.header.Header(real, "utf-8").encode()
        rows.append(email.utils.formataddr((real, address)) if real.isascii() else address)
    return f"{name}: " + ",\n ".join(rows) + "\n" if rows else ""


def cost_table(docs):
    """The tables of counts of docs/compare.md, under the names of their arches."""
    try:
        text = (docs / "compare.md").read_text(encoding="utf-8")
    except OSError as e:
        raise SeriesError(f"{docs}/compare.md is missing ({e.strerror}): run 'make compare'") from e
    out = []
    for arch, table in re.findall(r"^## (\S+), count\n\n((?:\|.*\n)+)", text, re.M):
        rows = [[c.strip() for c in line.strip("|").split("|")] for line in table.splitlines()]
        out.append(f"  {arch}")
        for row in rows[:1] + rows[2:]:
            out.append(f"    {row[0]:5} {row[1]:16} {row[2]:>7} {row[3]:>8} {row[4]:>11}")
        out.append("")
    if not out:
        raise SeriesError(f"{docs}/compare.md has no table of counts: run 'make compare'")
    return "\n".join(out).rstrip()


def checked(docs):
    try:
        text = (docs / "check-series.md").read_text(encoding="utf-8")
    except OSError as e:
        raise SeriesError(
            f"{docs}/check-series.md is missing ({e.strerror}): run 'make check-series'"
        ) from e
    line = re.search(r"^\d+ ok, .*$", text, re.M)
    if not line:
        raise SeriesError(f"{docs}/check-series.md has no count: run 'make check-series'")
    return line[0].split(";")[0]


def fill(mail, cover, values):
    """The cover letter's mail with subject and text; the list of patches stays."""
    subject, _, text = cover.partition("\n")
    for name, value in values.items():
        if f"@{name}@" in text:
            text = text.replace(f"@{name}@", value())
    left = re.search(r"@[A-Z]+@", text)
    if left:
        raise SeriesError(f"the cover letter has {left[0]}, which nothing fills in")
    for old, new in (("*** SUBJECT HERE ***", subject), ("*** BLURB HERE ***", text.strip())):
        if old not in mail:
            raise SeriesError(f"git format-patch made no '{old}' in the cover letter")
        mail = mail.replace(old, new)
    if not subject.isascii() or not text.isascii():
        raise SeriesError("the cover letter is not ASCII: its mail would need an encoding")
    return mail


def add_headers(mail, to, cc):
    head, blank, body = mail.partition("\n\n")
    return head + "\n" + (header("To", to) + header("Cc", cc)).rstrip("\n") + blank + body


def main(args):
    mails = sorted(args.folder.glob("*.patch"))
    if len(mails) < 2:
        raise SeriesError(f"{args.folder} holds no series")
    cover, patches = mails[0], mails[1:]
    everyone = {}
    for patch in patches:
        people = recipients(args.tree, patch)
        for who, role in people:
            everyone.setdefault(who, []).append((role, patch.name[:4]))
        is_to = [who for who, role in people if role.startswith(("maintainer", "supporter"))]
        cc = [who for who, _ in people if who not in is_to]
        text = patch.read_text(encoding="utf-8")
        patch.write_text(add_headers(text, is_to, cc), encoding="utf-8")
    is_to = [
        w
        for w, why in everyone.items()
        if any(r.startswith(("maintainer", "supporter")) for r, _ in why)
    ]
    values = {
        "BASE": lambda: args.base,
        "COST": lambda: cost_table(args.docs),
        "CHECKED": lambda: checked(args.docs),
    }
    text = fill(cover.read_text(encoding="utf-8"), args.cover.read_text(encoding="utf-8"), values)
    cover.write_text(
        add_headers(text, is_to, [w for w in everyone if w not in is_to]), encoding="utf-8"
    )
    with open(args.folder / "recipients.txt", "w", encoding="utf-8") as f:
        for who, why in everyone.items():
            roles = ", ".join(dict.fromkeys(role for role, _ in why))
            f.write(f"{who} ({roles}): {' '.join(n for _, n in why)}\n")
    with open(args.mbox, "w", encoding="utf-8") as f:
        for mail in mails:
            text = mail.read_text(encoding="utf-8")
            # The first line is the separator; another would split the mail.
            first, _, rest = text.partition("\n")
            f.write(first + "\n" + FROM.sub(">From ", rest).rstrip("\n") + "\n\n")


def parse(argv):
    p = argparse.ArgumentParser()
    for name in ("--tree", "--cover", "--docs"):
        p.add_argument(name, type=Path, required=True)
    p.add_argument("--base", required=True)
    p.add_argument("--version", type=int, required=True)
    p.add_argument("folder", type=Path)
    p.add_argument("mbox", type=Path)
    return p.parse_args(argv)


if __name__ == "__main__":
    try:
        main(parse(sys.argv[1:]))
    except SeriesError as e:
        print(f"error: {e}", file=sys.stderr)
        sys.exit(2)
