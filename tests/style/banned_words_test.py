#!/usr/bin/env python3
"""No banned word in an identifier, in a message (src, include), or in a heading.

banned_words.txt lists them, each with the field's own word. A word is found as a part of an identifier
(snake_case or CamelCase) and, in texts and headings, as a word of its own; hyphens and blanks between
its parts count as the same. Each check is first shown an injected mistake.
"""
import glob
import importlib.machinery
import importlib.util
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
WHERE = {"identifier", "help", "heading"}

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("measure_functions", os.path.join(ROOT, "tools", "measure_functions"))
spec = importlib.util.spec_from_loader("measure_functions", loader)
measure = importlib.util.module_from_spec(spec)
loader.exec_module(measure)


def parse(text):
    """A row: its word's parts, what to write instead, and where it is banned."""
    rows = []
    for line in text.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        word, instead, where = (cell.strip() for cell in line.split("|"))
        places = {place.strip() for place in where.split(",")}
        assert places and places <= WHERE, line
        rows.append((tuple(word.lower().split()), instead, places))
    return rows


def parts_of(identifier):
    return tuple(part.lower() for part in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+", identifier))


def holds(parts, word):
    return any(parts[i:i + len(word)] == word for i in range(len(parts) - len(word) + 1))


def may_hold(rows, text):
    """Whether a banned word may be in the text at all: most texts are let go by this."""
    first = "|".join(sorted({word[0] for word, _, _ in rows}))
    return re.search(first, text, re.IGNORECASE) is not None


def in_identifiers(rows, path, text):
    code, _ = measure.blank(text)
    for number, line in enumerate(code.split("\n"), 1):
        if not may_hold(rows, line):
            continue
        for identifier in re.findall(r"[A-Za-z_]\w*", line):
            parts = parts_of(identifier)
            for word, instead, places in rows:
                if "identifier" in places and holds(parts, word):
                    yield f"{path}:{number}: `{identifier}`: write {instead}"


def in_text(rows, place, path, number, text):
    if not may_hold(rows, text):
        return
    parts = tuple(re.findall(r"[a-z]+", text.lower()))
    for word, instead, places in rows:
        if place in places and holds(parts, word):
            yield f"{path}:{number}: \"{' '.join(word)}\" in a {place}: write {instead}"


def in_help(rows, path, text):
    """The string literals. Not: an option's spelling that stays as a hidden alias, a name of a field
    (one word, or in quotes inside of a literal), what is included."""
    for number, line in enumerate(text.split("\n"), 1):
        code = re.sub(r"//.*$", "", line) if '"' not in line.rpartition("//")[2] else line
        if code.lstrip().startswith("#"):
            continue
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', code):
            if re.fullmatch(r"--?[a-z,-]+|[a-z_]+", literal):
                continue
            yield from in_text(rows, "help", path, number, re.sub(r'\\"\w+\\"|`\w+`', " ", literal))


def in_headings(rows, path, text):
    code = False
    for number, line in enumerate(text.split("\n"), 1):
        code ^= line.startswith("```")
        if not code and re.match(r"#+ ", line):
            yield from in_text(rows, "heading", path, number, line)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(*patterns):
    found = sorted(path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern), recursive=True))
    return [(os.path.relpath(path, ROOT), read(path)) for path in found]


INJECTED = parse("# word | instead | where\nsoft chain | optional | identifier\ncircle | cycle | identifier, help, heading\n")


class Injected(unittest.TestCase):
    def test_identifiers(self):
        found = list(in_identifiers(INJECTED, "a", 'int softChains, soft_chain; // circle\nauto s = "circle"; Circle c;'))
        self.assertEqual(len(found), 2, found)
        self.assertEqual(found[1], "a:2: `Circle`: write cycle")
        self.assertFalse(list(in_identifiers(INJECTED, "a", "int encircled, software_chain;")))

    def test_help(self):
        self.assertEqual(len(list(in_help(INJECTED, "a", 'add("--x", "Draw the circle of it");'))), 1)
        self.assertFalse(list(in_help(INJECTED, "a", 'add("--circle", "Draw the cycle");  // circle\n')))

    def test_messages(self):
        self.assertEqual(len(list(in_help(INJECTED, "a", 'fail("circle: {} is open");'))), 1)
        self.assertEqual(len(list(in_help(INJECTED, "a", 'out += "{\\"id\\": 1} is a circle";'))), 1)
        self.assertFalse(list(in_help(INJECTED, "a", '#include "a/circle of.hpp"\nfield("circle", at);\n'
                                                     'out += "\\"circle\\": {";\nfail("expected `circle`");')))

    def test_headings(self):
        self.assertEqual(len(list(in_headings(INJECTED, "a", "# The Circle\ncircle\n```\n# circle\n```\n"))), 1)


class Repository(unittest.TestCase):
    def setUp(self):
        self.rows = parse(read(os.path.join(HERE, "banned_words.txt")))
        self.assertGreater(len(self.rows), 5)
        self.maxDiff = None

    def check(self, found, seen):
        self.assertGreater(len(seen), 5)
        self.assertEqual([], found, "\n" + "\n".join(found))

    def test_identifiers(self):
        seen = files("src/**/*.?pp", "include/**/*.?pp")
        self.check([finding for path, text in seen for finding in in_identifiers(self.rows, path, text)], seen)

    def test_help(self):
        seen = files("src/**/*.?pp", "include/**/*.?pp")
        self.check([finding for path, text in seen for finding in in_help(self.rows, path, text)], seen)

    def test_headings(self):
        seen = files("README.md", "CONTRIBUTING.md", "docs/**/*.md")
        self.check([finding for path, text in seen for finding in in_headings(self.rows, path, text)], seen)


if __name__ == "__main__":
    unittest.main()
