#!/usr/bin/env python3
"""tools/run_tests.py on tests of ctest's that pass, fail, are skipped, or pass only in their second run."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "run_tests.py")
PASSES = "true"
FAILS = "echo 'a_test.cpp:7: Failure'; echo 'Expected: better'; echo; echo '[  FAILED  ] A.Test'; exit 1"
IS_SKIPPED = "echo 'SKIPPED: there is no moon'; exit 77"
ONE = "# A list.\n\nOne 2026-11-29 waits for the moon\n"
# As one that was too late, and is not when it runs alone.
PASSES_LATER = "if [ -e later ]; then exit 0; fi; touch later; echo 'Error: too late'; exit 1"


def ran(tests, quarantine=""):
    """The exit code, and the output; `quarantine` is the list."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "quarantine"), "w", encoding="utf-8") as file:
            file.write(quarantine)
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            for name, script in tests.items():
                file.write(f'add_test({name} "/bin/sh" "-c" [==[{script}]==])\n')
                file.write(f'set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77 LABELS a)\n')
        done = subprocess.run([sys.executable, TOOL, "--quarantine", os.path.join(folder, "quarantine"),
                               "--test-dir", folder, "-L", "a", "-j2"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
        return done.returncode, done.stdout


class RunTests(unittest.TestCase):
    def test_all_pass(self):
        code, said = ran({"One": PASSES, "Two": IS_SKIPPED}, ONE)
        self.assertEqual(code, 0, said)
        self.assertTrue(said.endswith("\n2 tests: 1 passed, 0 failed, 1 skipped\n"), said)
        self.assertIn("there is no moon\n    Two", said)
        self.assertNotIn("alone", said)

    def test_what_failed_is_said_at_the_end(self):
        code, said = ran({"One": PASSES, "Two": FAILS})
        self.assertEqual(code, 8, said)
        self.assertTrue(said.endswith("Failed (1):\n  Two: Failed\n    a_test.cpp:7: Failure\n    Expected: better\n\n"
                                      "2 tests: 1 passed, 1 failed, 0 skipped\n"), said)
        self.assertNotIn("alone", said)

    def test_what_passes_alone_is_named(self):
        code, said = ran({"One": PASSES_LATER, "Two": PASSES}, ONE)
        self.assertEqual(code, 0, said)
        self.assertTrue(said.endswith("Failed (1):\n  One: Failed\n    Error: too late\n\n"
                                      "One failed beside others and passed alone. It is in the quarantine: "
                                      "waits for the moon\n\n2 tests: 2 passed, 0 failed, 0 skipped\n"), said)
        end = said[said.index("The first run, of all tests:"):]
        self.assertIn("50% tests passed, 1 tests failed out of 2", end)

    def test_names_with_parameters_and_signs(self):
        name = "Sizes/One.Is[big]+*?(so)/7^  # GetParam() = 7"
        code, said = ran({f'"{name}"': PASSES_LATER, "Ones": PASSES_LATER.replace("later", "never")},
                         "Sizes/One.Is[big]+*?(so)/7^ 2026-11-29 waits\nOnes 2026-11-29 waits\n")
        self.assertEqual(code, 0, said)
        self.assertIn("2 tests: 2 passed, 0 failed, 0 skipped", said)

    def test_no_other_test_is_repeated(self):
        code, said = ran({"One": PASSES, "Two": PASSES_LATER}, ONE)
        self.assertEqual(code, 8, said)
        self.assertNotIn("once more", said)
        self.assertTrue(said.endswith("\n2 tests: 1 passed, 1 failed, 0 skipped\n"), said)

    def test_nothing_is_repeated_beside_another_failure(self):
        code, said = ran({"One": PASSES_LATER, "Two": FAILS, "Three": IS_SKIPPED}, ONE)
        self.assertEqual(code, 8, said)
        self.assertNotIn("once more", said)
        self.assertTrue(said.endswith("\n3 tests: 0 passed, 2 failed, 1 skipped\n"), said)

    def test_an_accusation_is_not_repeated(self):
        code, said = ran({"One": PASSES_LATER.replace("too late", "violated: causal")}, ONE)
        self.assertEqual(code, 8, said)
        self.assertNotIn("once more", said)
        self.assertTrue(said.endswith("\n1 tests: 0 passed, 1 failed, 0 skipped\n"), said)

    def test_what_fails_twice_is_a_failure(self):
        code, said = ran({"One": FAILS}, ONE)
        self.assertEqual(code, 8, said)
        self.assertIn("Failed alone, too (1):\n  One: Failed", said)
        self.assertTrue(said.endswith("\n1 tests: 0 passed, 1 failed, 0 skipped\n"), said)

    def test_a_line_needs_a_date_and_a_reason(self):
        for line in ("One\n", "One 2026-11-29\n", "One waits for the moon\n"):
            code, said = ran({"One": PASSES}, line)
            self.assertNotEqual(code, 0, said)
            self.assertIn("quarantine:1: the line is not NAME DATE REASON", said)

    def test_the_quarantine_names_tests_that_exist(self):
        tests = pathlib.Path(__file__).resolve().parent.parent
        text = "".join(path.read_text(encoding="utf-8") for path in tests.rglob("*_test.cpp"))
        for line in (tests / "quarantine.txt").read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                found = re.search(r"(\w+)\.(\w+)", line.split()[0])
                self.assertRegex(text, rf"TEST(_F|_P)?\({found.group(1)},\s*{found.group(2)}\)", line)

    def test_a_program_that_is_not_there_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
                file.write('add_test(One "/no/such/program")\n')
                file.write('add_test(Setup "/bin/false")\nadd_test(Needs "/bin/true")\n')
                file.write('set_tests_properties(Setup PROPERTIES FIXTURES_SETUP a)\n')
                file.write('set_tests_properties(Needs PROPERTIES FIXTURES_REQUIRED a)\n')
            done = subprocess.run([sys.executable, TOOL, "--test-dir", folder], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, encoding="utf-8", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue(done.stdout.endswith("\n3 tests: 0 passed, 3 failed, 0 skipped\n"), done.stdout)


if __name__ == "__main__":
    unittest.main()
