#!/usr/bin/env python3
"""Runs the host tests (*_test.py beside this file) and prints KTAP.

usage: ktap.py [NAME...]   only modules of these names
"""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def flat(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flat(item)
        else:
            yield item


class Ktap(unittest.TestResult):
    """Prints one KTAP line a test, with what went wrong as diagnostics above."""

    count = 0
    subtests = ""

    def line(self, ok, test, directive="", text=""):
        self.count += 1
        for row in text.splitlines():
            print("# " + row)
        name = test.id().replace("#", "")
        print(f"{'ok' if ok else 'not ok'} {self.count} {name}{directive}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line(True, test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(False, test, text=self._exc_info_to_string(err, test))

    def addError(self, test, err):
        super().addError(test, err)
        self.line(False, test, text=self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line(True, test, f" # SKIP {reason}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:  # one line a test, however many of its subtests fail
            self.subtests += f"{subtest}\n{self._exc_info_to_string(err, test)}"

    def stopTest(self, test):
        super().stopTest(test)
        if self.subtests:
            self.line(False, test, text=self.subtests)
            self.subtests = ""


def main(names):
    sys.path.insert(0, str(HERE))
    pattern = [f"{n}.py" for n in names] or ["*_test.py"]
    tests = [t for p in pattern for t in flat(unittest.TestLoader().discover(str(HERE), p))]
    print(f"KTAP version 1\n1..{len(tests)}", flush=True)
    result = Ktap()
    for test in tests:
        test.run(result)
    return 0 if tests and result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
