#!/usr/bin/env python3
"""Runs ctest with the arguments given, then lists the tests that were skipped, each with its reason.

Usage: tools/run_tests.py --preset PRESET [CTEST ARGUMENT ...]

A test that is skipped passes for ctest, and its reason stands in a log that nobody reads. So the
skipped tests are listed after ctest's own summary, by reason, and the summary's line is repeated
at the very end. The exit code is ctest's.
"""
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SHOWN = 3  # names listed of the tests that share a reason


def reason_of(output):
    """What a skipped test says: GoogleTest's message, or the line of a script that exits 77."""
    said = re.search(r"^SKIPPED: (.*)$", output, re.MULTILINE)
    if said:
        return said.group(1)
    message = re.search(r": Skipped\n(.*?)\n*(?=\n\[|\n*\Z)", output, re.DOTALL)
    if message and message.group(1).strip():
        return " ".join(message.group(1).split())
    return "no reason given"


def is_missing(case):
    """ctest calls a test whose program is not there `notrun`, as it does one that was skipped."""
    skipped = case.find("skipped")
    return skipped is not None and "Unable to find" in skipped.get("message", "")


def skipped_of(text):
    """Reason to names, in the order of the report."""
    root = ElementTree.fromstring(text)
    reasons = {}
    for case in root.iter("testcase"):
        if is_missing(case):
            continue
        if case.find("skipped") is not None or case.get("status") in ("notrun", "skipped"):
            output = case.findtext("system-out") or ""
            reasons.setdefault(reason_of(output), []).append(case.get("name"))
    return reasons


def listing(reasons):
    lines = []
    for reason, names in reasons.items():
        shown = ", ".join(names[:SHOWN])
        if len(names) > SHOWN:
            shown += f" and {len(names) - SHOWN} more"
        lines.append(f"  {reason}\n    {shown}")
    return "\n".join(lines)


def main():
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        ran = subprocess.run(["ctest", *sys.argv[1:], "--output-junit", report.name], check=False)
        try:
            text = open(report.name, encoding="utf-8", errors="replace").read()
            root = ElementTree.fromstring(text)
        except (OSError, ElementTree.ParseError) as error:
            print(f"run_tests: ctest left no report that can be read: {error}", file=sys.stderr)
            return ran.returncode or 3
    reasons = skipped_of(text)
    count = sum(len(names) for names in reasons.values())
    if count:
        print(f"\nSkipped, with the reason ({count}):\n{listing(reasons)}\n")
    missing = [case.get("name") for case in root.iter("testcase") if is_missing(case)]
    if missing:
        print(f"\nNot built, which is a failure ({len(missing)}): {', '.join(missing)}\n")
    total, failed = int(root.get("tests", 0)), int(root.get("failures", 0)) + len(missing)
    if total == 0:
        print("run_tests: no test ran", file=sys.stderr)
        return ran.returncode or 3
    print(f"{total} tests: {total - failed - count} passed, {failed} failed, {count} skipped", flush=True)
    return ran.returncode or (1 if failed else 0)


if __name__ == "__main__":
    sys.exit(main())
