#!/usr/bin/env python3
"""Pages for users have no figures of one machine or one day: those belong to docs/internals."""
import glob
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MEASURED = re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b|\b(one|two|2|loaded) cores?\b|\botherwise idle\b|\bhardware threads?\b"
                      r"|\bquiet machine\b|\bloaded machine\b|\bat (a )?load\b|\btimes faster\b|\| (before|after) \|")


def measured_in(text):
    """(line, words) outside code blocks."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and MEASURED.search(line):
            yield number, MEASURED.search(line)[0]


class UserPages(unittest.TestCase):
    def test_finds_a_figure_of_a_machine(self):
        text = "It takes 2 s on two cores.\n```\nINFO [2017-08-19 06:23:31]\n```\n| size | before | after |\nOn 2026-11-26.\n"
        self.assertEqual([*measured_in(text)], [(1, "two cores"), (5, "| before |"), (6, "2026-11-26")])

    def test_pages_have_none(self):
        pages = ["README.md"] + [page for kind in ("tutorials", "how-to", "reference")
                                 for page in glob.glob(f"docs/{kind}/**/*.md", root_dir=ROOT, recursive=True)]
        self.assertGreater(len(pages), 60)
        found = []
        for page in sorted(pages):
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                found += [f"{page}:{line}: {words}" for line, words in measured_in(file.read())]
        self.assertEqual(found, [], "move the figures to docs/internals:\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()
