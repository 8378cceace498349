#!/usr/bin/env python3
"""Runs ctest with the arguments given, then says at the very end what failed, how, and what was skipped.

Usage: tools/run_tests.py [--quarantine FILE] --preset PRESET [CTEST ARGUMENT ...]

A test that is skipped passes for ctest, and its reason stands in a log that nobody reads. So the
skipped tests are listed after ctest's own summary, by reason. The lines with which a test failed
are printed again after that, since of a long log often only the end is kept.

A failed test fails the run. Only the tests of the quarantine (FILE, else tests/quarantine.txt) may
fail once: if no other test failed, they run again, alone, and those that pass then are named at the
end. A failure that speaks of a violation is never repeated: want of time makes no database break
its promise. The exit code is ctest's, and 0 if all that failed passed alone.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SHOWN = 3  # names listed of the tests that share a reason
QUARANTINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "quarantine.txt")
MOST_LINES, WIDEST = 24, 240  # of each failed test
NEVER_RAN = ("Unable to find", "Fixture dependency failed")


def reason_of(output):
    """What a skipped test says: GoogleTest's message, or the line of a script that exits 77."""
    said = re.search(r"^SKIPPED: (.*)$", output, re.MULTILINE)
    if said:
        return said.group(1)
    message = re.search(r": Skipped\n(.*?)\n*(?=\n\[|\n*\Z)", output, re.DOTALL)
    if message and message.group(1).strip():
        return " ".join(message.group(1).split())
    return "no reason given"


def failure_lines(output):
    """Of the output of a failed test: GoogleTest's failures, else what looks like one, else its end."""
    lines = [line.rstrip()[:WIDEST] for line in output.splitlines() if line.strip()]
    found, inside = [], False
    for line in lines:
        if re.search(r": Failure$|^unknown file: Failure|^C\+\+ exception|^==\d+==ERROR", line):
            inside = True
        elif re.match(r"\[ *(RUN|OK|FAILED|PASSED|-+|=+) *\]", line):
            inside = False
        if inside:
            found.append(line)
    if not found:
        marks = [at for at, line in enumerate(lines) if re.match(r"\s*(FAIL|ERROR|E  )|.*(Error|error):", line)]
        found = [line for at, line in enumerate(lines) if any(mark <= at < mark + 4 for mark in marks)]
    if not found:
        found = lines[-10:]
    if len(found) > MOST_LINES:
        found = found[:MOST_LINES] + [f"... and {len(found) - MOST_LINES} more lines"]
    return found


def accuses(output):
    """Whether a failed test speaks of a violation: cupel may have called violated what was not."""
    return re.search(r"\bviolat", output) is not None


class Report:
    """What ctest wrote of a run (--output-junit)."""

    def __init__(self, text):
        root = ElementTree.fromstring(text)
        self.skipped = {}  # reason to names, in the order of the report
        self.failed = {}  # name to (ctest's word for it, output)
        self.passed = set()
        self.total = 0
        for case in root.iter("testcase"):
            self.total += 1
            name, output = case.get("name"), case.findtext("system-out") or ""
            skipped, failure = case.find("skipped"), case.find("failure")
            message = (skipped if skipped is not None else failure if failure is not None else {}).get("message", "")
            if failure is not None or message.startswith(NEVER_RAN) or case.get("status") == "fail":
                self.failed[name] = (message or "Failed", output)
            elif skipped is not None or case.get("status") in ("notrun", "skipped"):
                self.skipped.setdefault(reason_of(output), []).append(name)
            else:
                self.passed.add(name)


def run(arguments):
    """ctest's exit code, its report (none: it left none), and its lines from `N% tests passed` on."""
    closing = []
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        command = ["ctest", *arguments, "--output-junit", file.name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", errors="replace") as process:
            for line in process.stdout:
                print(line, end="", flush=True)
                if closing or re.match(r"\d+% tests passed", line):
                    closing.append(line)
        try:
            with open(file.name, encoding="utf-8", errors="replace") as text:
                return process.returncode, Report(text.read()), "".join(closing)
        except (OSError, ElementTree.ParseError) as error:
            print(f"run_tests: ctest left no report that can be read: {error}", file=sys.stderr)
            return process.returncode or 3, None, ""


def count_of(number, word):
    return f"{number} {word}" + ("" if number == 1 else "s")


def listing(reasons):
    lines = []
    for reason, names in reasons.items():
        shown = ", ".join(names[:SHOWN])
        if len(names) > SHOWN:
            shown += f" and {len(names) - SHOWN} more"
        lines.append(f"  {reason}\n    {shown}")
    return "\n".join(lines)


def failures(title, failed):
    if not failed:
        return
    print(f"\n{title} ({len(failed)}):")
    for name, (message, output) in failed.items():
        print(f"  {name}: {message}")
        for line in failure_lines(output):
            print(f"    {line}")


def quarantine(path):
    """The names in the list, each with its reason; a line that is none of NAME, DATE and reason ends the run."""
    names = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            found = re.fullmatch(r"(\S+)\s+\d{4}-\d\d-\d\d\s+(\S.*)", line.strip())
            if not found:
                sys.exit(f"run_tests: {path}:{number}: the line is not NAME DATE REASON. Write the date as 2026-11-29")
            names[found.group(1)] = found.group(2)
    return names


def listed_name(name):
    """As ctest's name, without what GoogleTest's discovery adds of the parameter."""
    return name.split("  #")[0]


def again_alone(arguments, failed, listed):
    """The report of the second run, of failed tests of the quarantine alone; none if there is none."""
    if not failed or any(listed_name(name) not in listed or accuses(output)
                         for name, (_, output) in failed.items()):
        return None
    print(f"\n== {count_of(len(failed), 'test')} of the quarantine failed; once more, alone", flush=True)
    # A letter in brackets stands for itself; ctest's expressions know no other way for all of them.
    names = "|".join(re.sub(r"[^\w ]", lambda sign: "[" + sign.group() + "]" if sign.group() != "^" else ".", name)
                     for name in failed)
    return run([*arguments, "--tests-regex", f"^({names})$", "-j1", "--output-on-failure"])[1]


def main():
    arguments = sys.argv[1:]
    path = QUARANTINE
    if arguments[:1] == ["--quarantine"]:
        path, arguments = arguments[1], arguments[2:]
    listed = quarantine(path)
    code, first, closing = run(arguments)
    if first is None:
        return code
    if first.total == 0:
        print("run_tests: no test ran", file=sys.stderr)
        return code or 3
    failed, recovered = first.failed, []
    second = again_alone(arguments, failed, listed)
    if second is not None:
        recovered = [name for name in failed if name in second.passed]
        print(f"\nThe first run, of all tests:\n{closing}", end="")

    count = sum(len(names) for names in first.skipped.values())
    if count:
        print(f"\nSkipped, with the reason ({count}):\n{listing(first.skipped)}")
    failures("Failed", failed)
    if second is not None:
        failures("Failed alone, too", {name: second.failed[name] for name in failed if name in second.failed})
    left = len(failed) - len(recovered)
    for name in recovered:
        print(f"\n{name} failed beside others and passed alone. It is in the quarantine: {listed[listed_name(name)]}")
    print(f"\n{first.total} tests: {first.total - left - count} passed, {left} failed, {count} skipped", flush=True)
    if left:
        return code or 1
    return 0 if recovered else code


if __name__ == "__main__":
    sys.exit(main())
