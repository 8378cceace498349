#!/usr/bin/env python3
"""Comments begin with their subject, not with *What* or *Of*, and messages say what is wrong and what to do, not
"found X, expected Y". Older ones are counted in comments_allowed.txt, whose numbers may only fall."""
import glob
import os
import re
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ALLOWED = os.path.join(HERE, "comments_allowed.txt")
BEGINS = re.compile(r"//+ (?:.*[.:] )?(What|Whatever|Who|Whoever|Where|Of|That)\b")
CONTINUES = re.compile(r"^\s*//")
POURED = re.compile(r'"[^"\n]*\bfound [^"\n]*, expected\b')


def comments_in(text):
    """Lines whose comment begins a sentence with one of the words: the first line of a comment, or after a full stop."""
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        found = BEGINS.search(line)
        # A line within a sentence may begin with any word.
        inside = CONTINUES.match(before) and not re.search(r"[.:]\s*$", before) and before.strip(" /") != ""
        if found and not (inside and re.match(r"\s*//+ " + found[1] + r"\b", line)):
            yield number
        before = line


def messages_in(text):
    for number, line in enumerate(text.split("\n"), 1):
        if POURED.search(line):
            yield number


def counted():
    """By folder: how many comments and messages are to be rewritten."""
    counts = {}
    for top, depth in (("src", 2), ("include", 1), ("tests", 1)):
        for path in glob.glob(f"{top}/**/*.?pp", root_dir=ROOT, recursive=True):
            folder = "/".join(path.split("/")[:depth])
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                text = file.read()
            for kind, found in (("comments", comments_in(text)), ("messages", messages_in(text) if top == "src" else ())):
                counts[kind, folder] = counts.get((kind, folder), 0) + len([*found])
    return {what: count for what, count in counts.items() if count > 0}


def allowed():
    with open(ALLOWED, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {(kind, folder): int(count) for kind, folder, count in rows}


class Comments(unittest.TestCase):
    def test_finds_a_comment_without_its_subject(self):
        text = "// What it is.\nint a;  // Of b\n// The order\n// of c. Where d ends\n// That is not\n// Whatever. A\n// what.\n"
        self.assertEqual([*comments_in(text)], [1, 2, 4])

    def test_finds_a_poured_message(self):
        self.assertEqual([*messages_in('a("found {}, expected b");\nb("{} is wrong. Give c");\n')], [1])

    def test_numbers_only_fall(self):
        now, most = counted(), allowed()
        self.assertGreater(len(now), 5)
        worse = [f"{kind} of {folder}: {count}, more than {most.get((kind, folder), 0)}: rewrite the new ones"
                 for (kind, folder), count in sorted(now.items()) if count > most.get((kind, folder), 0)]
        self.assertEqual(worse, [], "\n" + "\n".join(worse))


if __name__ == "__main__":
    unittest.main()
