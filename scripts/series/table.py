#!/usr/bin/env python3
"""Writes the table of `make check-series`, as Markdown.

usage: table.py CHECKS ANSWERS SERIES VERSION

CHECKS is checks.tsv or tools.tsv. ANSWERS has a line for each patch and check: number, check,
subject, answer (ok, no, SKIP, -, empty: not asked, .: not in the sample), seconds, reason.
"""

import sys
from pathlib import Path

CELLS = {"ok": "ok", "no": "**no**", "SKIP": "skip", "-": "-", "": " ", ".": "·"}


def read_checks(path):
    """Name and what it asks, in order."""
    rows = [line.split("\t") for line in Path(path).read_text().splitlines() if line[:1] != "#"]
    return {row[0]: row[7] for row in rows}


def read_answers(path):
    """(check, patch) -> (answer, seconds, reason), and patch -> subject."""
    answers, subjects = {}, {}
    for line in Path(path).read_text().splitlines():
        number, check, subject, answer, seconds, reason = (line.split("\t") + [""] * 3)[:6]
        if answer not in CELLS:
            raise ValueError(f"{path}: '{answer}' is no answer")
        answers[check, int(number)] = (answer, int(seconds or 0), reason)
        subjects[int(number)] = subject
    return answers, subjects


def write(checks, answers, subjects, series, version):
    count = {a: sum(1 for x, _, _ in answers.values() if x == a) for a in CELLS}
    yield f"# Each patch of the {series} series, checked on {version}"
    yield ""
    command = "check-series" if series == "kernel" else f"check-series SERIES={series}"
    yield f"Written by `make {command}`; do not edit. The series is cut behind each patch; the"
    yield "columns are the patches, listed below. `-`: the patch has nothing of the kind, or not"
    yield "enough is there yet; `·`: not in the sample; empty: not asked."
    yield ""
    yield (
        f"{count['ok']} ok, {count['no']} no, {count['SKIP']} skipped, {count['-']} without "
        f"object, {count['.']} not in the sample, {count['']} not asked; "
        f"{sum(s for _, s, _ in answers.values()) // 60} minutes."
    )
    yield ""
    yield "| check | " + " | ".join(str(n) for n in subjects) + " |"
    yield "|---" * (len(subjects) + 1) + "|"
    for name in checks:
        cells = [CELLS[answers.get((name, n), ("",))[0]] for n in subjects]
        yield f"| {name} | " + " | ".join(cells) + " |"
    notes = [
        (name, n, *answers[name, n])
        for name in checks
        for n in subjects
        if answers.get((name, n), ("",))[0] in ("no", "SKIP")
    ]
    if notes:
        yield ""
        yield "## What was not ok"
        yield ""
        for name, n, answer, _, reason in notes:
            yield f"- {name}, patch {n}: {answer}: {reason or 'see the log'}"
    yield ""
    yield "## The checks"
    yield ""
    for name, what in checks.items():
        yield f"- {name}: {what}"
    yield ""
    yield "## The patches"
    yield ""
    for n, subject in subjects.items():
        yield f"{n}. {subject}"


def main(checks, answers, series, version):
    print("\n".join(write(read_checks(checks), *read_answers(answers), series, version)))


if __name__ == "__main__":
    main(*sys.argv[1:])
