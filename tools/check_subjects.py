#!/usr/bin/env python3
"""check_subjects: the subjects of commits follow the writing guide: `area: what changes`, imperative, at most 72
characters.

    tools/check_subjects.py [RANGE]

RANGE is as `git log` takes it, by default origin/main..HEAD. A program cannot tell every imperative, so it finds
the first words that none has: articles, pronouns, numbers, question words and prepositions.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONGEST = 72
AREA = re.compile(r"[a-z0-9][\w.,/ -]*: (.+)")
NO_VERB = set("""a an the this that these those its it they he she we one two three four five six seven eight nine ten eleven twelve
    what who whoever whatever where when why how which whose of in on at by with without from to for and or but if as
    every each all both no none another other more most less enough some any""".split())


def faults_of(subject):
    """What is wrong with a subject, one sentence each."""
    if subject.startswith(("Merge ", "Revert ", "fixup! ", "squash! ")):
        return
    if len(subject) > LONGEST:
        yield f"it has {len(subject)} characters. Use at most {LONGEST}"
    found = AREA.fullmatch(subject)
    if found is None:
        yield "it has no area. Begin with one, such as `docs: `"
        return
    first = found[1].split()[0].strip(",:;").lower()
    if first in NO_VERB:
        yield f"`{first}` is no verb. Begin with an imperative, such as `reject` or `add`"
    if subject.endswith("."):
        yield "it ends with a full stop. Leave it out"


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else "origin/main..HEAD"
    listed = subprocess.run(["git", "-C", ROOT, "log", "--format=%h %s", wanted, "--"], capture_output=True, text=True)
    if listed.returncode != 0:
        print(f"check_subjects: {wanted}: {listed.stderr.strip()}", file=sys.stderr)
        return 3
    found = []
    for line in listed.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        found += [f"{commit} \"{subject}\": {fault}" for fault in faults_of(subject)]
    for one in found:
        print(one)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
