#!/usr/bin/env python3
"""Pages for users have no figures of one machine or one day, which belong to docs/internals, and no sentence
that begins with a word such as *What* or *Of* instead of its subject. No paragraph has more than 120 words. Code
blocks are not read; sentences of tables and headings are free."""
import glob
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MEASURED = re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b|\b(one|two|2|loaded) cores?\b|\botherwise idle\b|\bhardware threads?\b"
                      r"|\bquiet machine\b|\bloaded machine\b|\bat (a )?load\b|\btimes faster\b|\| (before|after) \|")
MOST_WORDS = 120
BEGINS = re.compile(r"(?:^[-*\s]*|[.:] )(What|Whatever|Who|Whoever|Where|Of|That)\b")


def prose(text):
    """(number, line) outside code blocks."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def measured_in(text):
    for number, line in prose(text):
        if MEASURED.search(line):
            yield number, MEASURED.search(line)[0]


def begins_in(text):
    for number, line in prose(text):
        if not line.startswith(("|", "#")) and BEGINS.search(line):
            yield number, BEGINS.search(line)[1]


def dense_in(text):
    """Paragraphs, and items of lists, of more words than a reader takes in at once. Tables are free."""
    fenced, begin, words = False, 0, 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        apart = fence or fenced or not line.strip() or line.startswith(("|", "#"))
        if apart or re.match(r"\s*([-*]|\d+\.) ", line):
            if words > MOST_WORDS:
                yield begin, f"{words} words"
            begin, words = number, 0
        begin = begin if words else number
        words += 0 if apart else len(line.split())


class UserPages(unittest.TestCase):
    def test_finds_a_figure_of_a_machine(self):
        text = "It takes 2 s on two cores.\n```\nINFO [2017-08-19 06:23:31]\n```\n| size | before | after |\nOn 2026-11-26.\n"
        self.assertEqual([*measured_in(text)], [(1, "two cores"), (5, "| before |"), (6, "2026-11-26")])

    def test_finds_a_sentence_without_its_subject(self):
        text = "# What it is\n| What | b |\nWhat is held is small.\nIt is. Of a list it is all. Here\nof one.\n- Where it is\nThatcher.\n"
        self.assertEqual([*begins_in(text)], [(3, "What"), (4, "Of"), (6, "Where")])

    def test_finds_a_dense_paragraph(self):
        long = "\n".join(["word " * 40] * 3)
        text = f"# {'word ' * 130}\n{long} more\n\n- {long}\n- {long}\n| {'word ' * 130} |\n{long}\n```\n{long} more\n```\n"
        self.assertEqual([*dense_in(text)], [(2, "121 words"), (6, "121 words"), (9, "121 words")])

    def check(self, found_in, advice):
        pages = ["README.md"] + [page for kind in ("tutorials", "how-to", "reference")
                                 for page in glob.glob(f"docs/{kind}/**/*.md", root_dir=ROOT, recursive=True)]
        self.assertGreater(len(pages), 60)
        found = []
        for page in sorted(pages):
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                found += [f"{page}:{line}: {words}" for line, words in found_in(file.read())]
        self.assertEqual(found, [], advice + ":\n" + "\n".join(found))

    def test_pages_have_no_measurements(self):
        self.check(measured_in, "move the figures to docs/internals")

    def test_paragraphs_are_short(self):
        self.check(dense_in, "make a list, a table or two paragraphs of it")

    def test_sentences_begin_with_their_subject(self):
        self.check(begins_in, "begin with the subject of the sentence")


if __name__ == "__main__":
    unittest.main()
