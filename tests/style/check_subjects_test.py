#!/usr/bin/env python3
"""tools/check_subjects.py on subjects that follow the guide, and on some that do not."""
import importlib.util
import os
import subprocess
import sys
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "check_subjects.py")
spec = importlib.util.spec_from_file_location("check_subjects", TOOL)
check_subjects = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_subjects)


class Subjects(unittest.TestCase):
    def test_accepts_what_the_guide_asks_for(self):
        for subject in ("crdt: reject a counter outside 64 bits", "run, lab: keep the port", "cli: reject \"-\" where a file is needed",
                        "a: " + "x" * 69, "Merge branch 'main'"):
            self.assertEqual([*check_subjects.faults_of(subject)], [], subject)

    def test_finds_the_others(self):
        for subject, word in (("docs: " + "x" * 67, "73 characters"), ("fix the build", "no area"), ("run: a fault that came late", "`a`"),
                              ("levels: Two answers", "`two`"), ("docs: what a user gains", "`what`"), ("docs: name it.", "full stop")):
            self.assertIn(word, " ".join(check_subjects.faults_of(subject)), subject)

    def test_a_range_that_git_does_not_know_is_an_error(self):
        done = subprocess.run([sys.executable, TOOL, "no..such-range"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
