#!/usr/bin/env python3
"""Judges what boots and host tests left behind.

usage: judge.py --kunit DIR [--allow FILE] RUN...

RUN is a folder that boot.py filled (ktap, console, result.json) or that holds the
ktap of tests run on the host (kind "host" in result.json). Prints what failed and
why, and as its last line `N passed, N failed, N skipped` over all RUNs, counted
in leaves of the KTAP tree.

Exit code, the first that is true of any RUN:
  2 a RUN cannot be judged    3 splat on the console    124 deadline
  128 guest lost    1 a test failed    4 everything was skipped    0 pass
"""

import argparse
import io
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import splat

PASS, FAILED, SETUP, SPLAT, ALL_SKIPPED, DEADLINE, LOST = 0, 1, 2, 3, 4, 124, 128
PRECEDENCE = [SETUP, SPLAT, DEADLINE, LOST, FAILED, ALL_SKIPPED, PASS]

EXIT = re.compile(r"^exit (\d+)$")
# A plan far beyond the lines of its log is garbage, and would be looped over.
PLAN_SLACK = 1000


class SetupError(Exception):
    """A RUN cannot be judged; the text says why and what to do."""


@dataclass
class Verdict:
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    problems: list = field(default_factory=list)  # (exit code, text)
    failures: list = field(default_factory=list)  # (name, diagnostic lines)
    notes: list = field(default_factory=list)  # skips and expected failures, by name

    def code(self):
        codes = {c for c, _ in self.problems}
        if self.failures:
            codes.add(FAILED)
        if not codes and not self.passed:
            # Nothing at all is no pass either (and judge_ktap said so already).
            codes.add(ALL_SKIPPED)
        return worst(codes)


def worst(codes):
    return next(c for c in PRECEDENCE if c in codes or c == PASS)


def load_parser(folder):
    """The kernel's own KTAP parser, from the tree under test."""
    if not (Path(folder) / "kunit_parser.py").is_file():
        raise SetupError(f"no kunit_parser.py in {folder}: give --kunit TREE/tools/testing/kunit")
    sys.path.insert(0, str(folder))
    import kunit_parser
    import kunit_printer

    return kunit_parser, kunit_printer.Printer


def read_run(run):
    run = Path(run)
    try:
        result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    except OSError as e:
        raise SetupError(f"{run} holds no result.json ({e.strerror}): run the boot again") from e
    except ValueError as e:
        raise SetupError(f"{run}/result.json is not JSON ({e}): run the boot again") from e
    try:
        text = (run / "ktap").read_bytes().decode("utf-8", "replace")
    except OSError as e:
        raise SetupError(f"{run}/ktap: {e.strerror}: run the boot again") from e
    return result, [splat.printable(line) for line in re.split(r"\r*\n", text)]


def judge_end(verdict, result, lines):
    """How the run ended. Returns the KTAP lines without the end mark."""
    while lines and not lines[-1].strip():
        lines.pop()
    if result.get("kind") == "host":
        if result.get("code", FAILED) != 0:
            verdict.problems.append((FAILED, f"the host tests ended with {result.get('code')}"))
        return lines
    ended = EXIT.match(lines[-1]) if lines else None
    if ended:
        lines.pop()
        if int(ended[1]) != 0:
            verdict.problems.append((FAILED, f"the guest itself says exit {ended[1]}"))
    elif result.get("end") == "deadline":
        verdict.problems.append(
            (DEADLINE, f"stopped at the deadline of {result.get('deadline', '?')} s")
        )
    else:
        verdict.problems.append((LOST, "guest lost: QEMU ended before the guest said `exit N`"))
    return lines


def judge_console(verdict, run, allowed):
    console = Path(run) / "console"
    try:
        splats, lines = splat.scan(console, allowed)
    except OSError as e:
        raise SetupError(f"{console}: {e.strerror}: no way to see splats") from e
    if not any("Linux version" in line for line in lines):
        # An empty log has no splats, which proves nothing.
        verdict.problems.append((LOST, f"{console} lacks the kernel's first line: nothing to scan"))
    for number, meaning, text in splats:
        verdict.problems.append((SPLAT, f"splat ({meaning}) at {console}:{number}\n{text}"))


def judge_ktap(verdict, lines, parser, printer_class):
    say = io.StringIO()
    printer = printer_class(output=say)
    plans = [int(m[1]) for m in map(parser.TEST_PLAN.match, lines) if m]
    if any(plan > len(lines) + PLAN_SLACK for plan in plans):
        verdict.problems.append((FAILED, f"broken KTAP: a plan of {max(plans)} tests"))
        return
    stream = parser.extract_tap_lines(lines)
    if not stream:
        verdict.problems.append((FAILED, "no KTAP at all"))
        return
    try:
        root = parser.parse_test(stream, 0, [], False, printer)
    except RecursionError:
        verdict.problems.append((FAILED, "broken KTAP: nested without end"))
        return
    if root.expected_count is None:
        verdict.problems.append((FAILED, "the plan is missing (no `1..N` line)"))
    # The parser stops when the plan is full and would not see these.
    rest = []
    while stream:
        line = stream.pop()
        if parser.TEST_RESULT.match(line):
            rest.append(line.strip())
    if rest:
        verdict.problems.append((FAILED, f"{len(rest)} results beyond the plan: {rest[0]}"))
    for line in lines:
        if line.lstrip().startswith("Bail out!"):
            verdict.problems.append((FAILED, f"a test gave up: {line.strip()}"))
    for line in say.getvalue().splitlines():
        if "[ERROR]" in line:
            verdict.problems.append((FAILED, "KTAP: " + line.split("[ERROR]", 1)[1].strip()))
    for test in root.subtests:
        count_leaves(verdict, test, "", parser.TestStatus)


def count_leaves(verdict, test, prefix, status):
    name = prefix + (test.name.strip() or "(no name)")
    if test.subtests:
        before = verdict.failed
        for sub in test.subtests:
            count_leaves(verdict, sub, name + ".", status)
        bad = test.status not in (status.SUCCESS, status.SKIPPED)
        if bad and verdict.failed == before:
            # e.g. the program crashed after its last test: the leaves know nothing of it
            verdict.failed += 1
            verdict.failures.append((name + " (as a whole)", test.log))
        if test.expected_count is None:
            verdict.problems.append((FAILED, f"{name}: the plan is missing (no `1..N` line)"))
        return
    if test.status == status.SUCCESS:
        verdict.passed += 1
    elif test.status == status.SKIPPED:
        verdict.skipped += 1
        verdict.notes.append(f"SKIP {name}: {test.skip_reason or 'no reason given'}")
    else:
        verdict.failed += 1
        verdict.failures.append((name, test.log))


def judge(run, parser, printer_class, allowed):
    result, lines = read_run(run)
    verdict = Verdict(result.get("name") or Path(run).name)
    ktap = judge_end(verdict, result, lines)
    judge_ktap(verdict, ktap, parser, printer_class)
    for line in ktap:
        if re.match(r"\s*(not )?ok \d+ .*# XFAIL", line):
            verdict.notes.append(f"XFAIL {line.strip()}")
    if result.get("kind") != "host":
        judge_console(verdict, run, allowed)
    return verdict


def report(verdict, run):
    print(
        f"-- {verdict.name}: {verdict.passed} passed, {verdict.failed} failed,"
        f" {verdict.skipped} skipped; logs: {run}"
    )
    for note in verdict.notes:
        print("  " + note)
    for name, log in verdict.failures:
        print(f"  FAILED {name}")
        for line in log[-30:]:
            print("    " + line.strip())
    for code, text in verdict.problems:
        print(f"  PROBLEM (exit {code}) " + text.replace("\n", "\n    "))


def main(argv):
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--kunit", required=True, metavar="DIR")
    here = Path(__file__).resolve().parent
    args.add_argument("--allow", default=here / "console-allow.toml", metavar="FILE")
    args.add_argument("runs", nargs="+", metavar="RUN")
    opt = args.parse_args(argv)
    codes, total = set(), [0, 0, 0]
    try:
        parser, printer_class = load_parser(opt.kunit)
        allowed = splat.load_allow(opt.allow)
    except (SetupError, splat.AllowError) as e:
        print(f"error: {e}", file=sys.stderr)
        return SETUP
    for run in opt.runs:
        try:
            verdict = judge(run, parser, printer_class, allowed)
        except SetupError as e:
            print(f"error: {e}", file=sys.stderr)
            codes.add(SETUP)
            total[1] += 1
            continue
        if verdict.problems and not verdict.failed:
            verdict.failed = 1  # the last line must not look like a pass
        report(verdict, run)
        codes.add(verdict.code())
        for i, n in enumerate((verdict.passed, verdict.failed, verdict.skipped)):
            total[i] += n
    print("{} passed, {} failed, {} skipped".format(*total))
    return worst(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
