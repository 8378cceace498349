"""Prints the outcome of each test of unittest on a line of its own, for compare.py.

    outcomes.py FOLDER [TOP]  # runs the tests of a package; TOP: the folder of its outermost package
"""

import os
import sys
import unittest


class Result(unittest.TextTestResult):
    """A test has one outcome, also if several of its parts fail."""

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "ok"

    def stopTest(self, test):
        super().stopTest(test)
        # A line of its own: the runner may have printed a part of one.
        self.stream.write(f"\noutcome {test.id()} {self.outcome}\n")
        self.stream.flush()

    def addError(self, test, err):
        super().addError(test, err)
        self.outcome = "failed"

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.outcome = "failed"

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.outcome = "failed"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcome = "skipped"

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.outcome = "failed"


if __name__ == "__main__":
    folder = os.path.abspath(sys.argv[1])
    top = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else os.path.dirname(folder)
    tests = unittest.defaultTestLoader.discover(folder, top_level_dir=top)
    unittest.TextTestRunner(resultclass=Result).run(tests)
