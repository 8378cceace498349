#!/usr/bin/env python3
"""check_links is shown a folder with good links, then the same with one mistake each, because a
check that finds nothing may be a check that looks at nothing. Then it checks the repository."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "tools", "check_links.py")
GOOD = {
    "README.md": "# One\n[there](docs/page.md#the-heading), [here](#one), [out](https://a.b/c.md)\n",
    "docs/page.md": "# Page\n\n## The `heading`\n\n```\n# no heading\n[no](link.md)\n```\n"
                    "A link over two [lines\nof text](../README.md).\n",
    "src/a.cpp": "// Says docs/page.md#page, and page.md.\n",
}


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return run(folder)


def run(folder):
    ran = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)
    return ran.returncode, ran.stdout + ran.stderr


class CheckLinks(unittest.TestCase):
    def test_accepts_good_links(self):
        self.assertEqual(check(GOOD), (0, ""))

    def test_finds_one_mistake_each(self):
        for name, old, new, expected in [
                ("README.md", "docs/page.md#", "docs/pages.md#",
                 "README.md:2: leads to docs/pages.md, which does not exist"),
                ("README.md", "#the-heading", "#no-heading",
                 "README.md:2: leads to docs/page.md#no-heading, but no heading there"),
                ("README.md", "(#one)", "(#two)",
                 "README.md:2: leads to README.md#two, but no heading there"),
                ("docs/page.md", "../README.md", "README.md",
                 "docs/page.md:10: leads to docs/README.md, which does not exist"),
                ("src/a.cpp", "docs/page.md", "docs/engine.md",
                 "src/a.cpp:1: leads to docs/engine.md, which does not exist"),
                ("src/a.cpp", "and page.md", "and engine.md",
                 "src/a.cpp:1: cites engine.md, which does not exist")]:
            self.assertIn(old, GOOD[name])
            code, text = check({**GOOD, name: GOOD[name].replace(old, new)})
            self.assertEqual(code, 1, text)
            self.assertIn(expected, text)

    def test_the_repository_has_no_broken_links(self):
        self.assertEqual(run(ROOT), (0, ""))


if __name__ == "__main__":
    unittest.main()
