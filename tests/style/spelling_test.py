#!/usr/bin/env python3
"""The spelling of every text of the repository, by codespell: pages, help texts, messages, comments and test
names. spelling_words.txt lists the words that are right here. Recorded histories, damaged files for the fuzz
targets and the proofs, whose digest fixes their text, are not read."""
import glob
import os
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORDS = os.path.join(HERE, "spelling_words.txt")
FOLDERS = (".ci", "adapters", "bench", "cmake", "docs", "examples", "fuzz", "include", "node", "packaging", "python", "src", "tests", "tools", "web")
ENDINGS = (".c", ".cjs", ".clj", ".cmake", ".cpp", ".css", ".go", ".h", ".hpp", ".html", ".java", ".js", ".json", ".md", ".mjs",
           ".php", ".py", ".rb", ".sh", ".txt", ".yml")
UNREAD = ("tests/golden/", "fuzz/corpus/", "tests/style/spelling_words.txt")


def misspelled(paths, folder):
    done = subprocess.run(["codespell", "--ignore-words", WORDS, *paths], cwd=folder, capture_output=True, text=True)
    return [line for line in done.stdout.split("\n") if "==>" in line]


def texts():
    found = [path for path in os.listdir(ROOT) if path.endswith(ENDINGS)]
    for folder in FOLDERS:
        for path in glob.glob(f"{folder}/**/*", root_dir=ROOT, recursive=True):
            last = os.path.basename(path)
            if (path.endswith(ENDINGS) or "." not in last) and os.path.isfile(os.path.join(ROOT, path)):
                found.append(path)
    return sorted(path for path in found
                  if not path.startswith(UNREAD) and "node_modules" not in path and not path.endswith("package-lock.json"))


class Spelling(unittest.TestCase):
    def test_finds_a_misspelling(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "page.md"), "w", encoding="utf-8") as file:
                file.write("An EDN file.\nIt is reciev" "ed.\n")
            self.assertEqual(misspelled(["page.md"], folder), ["page.md:2: reciev" "ed ==> received"])

    def test_every_listed_word_would_be_found(self):
        with open(WORDS, encoding="utf-8") as file:
            words = [line.strip() for line in file if line.strip() and not line.startswith("#")]
        self.assertEqual(words, list(dict.fromkeys(words)))
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "words.txt"), "w", encoding="utf-8") as file:
                file.write("\n".join(words))
            done = subprocess.run(["codespell", "words.txt"], cwd=folder, capture_output=True, text=True)
        found = {line.split(": ")[1].split(" ==>")[0].lower() for line in done.stdout.split("\n") if "==>" in line}
        self.assertEqual(set(words) - found, set())

    def test_repository(self):
        paths = texts()
        self.assertGreater(len(paths), 1000)
        self.assertIn("README.md", paths)
        found = misspelled(paths, ROOT)
        self.assertEqual(found, [], "correct the word, or add it to tests/style/spelling_words.txt:\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()
