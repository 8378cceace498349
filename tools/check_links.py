#!/usr/bin/env python3
"""check_links: every link between the pages of the manual leads somewhere.

Reads the Markdown files that git knows, and the comments of the sources. A link
to a file must name a file of the repository; a link with an anchor must name a
heading of that page. A page that a source comment or a string cites by its path
(docs/reference/levels.md, CONTRIBUTING.md) must exist too, and so must a citation of a
page by its bare name (engine.md). Prints FILE:LINE and a sentence for each that
does not, and exits with 1. An argument names another folder to check than this
repository.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else \
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"\]\(([^)\s]+)\)")
CITED = re.compile(r"(?<![\w./-])((?:[\w.-]+/)*[\w-]+\.md)(#[\w-]+)?")
SOURCES = (".cpp", ".hpp", ".h", ".py", ".txt", ".cmake")
FOLDERS = ("src/", "include/", "examples/", "fuzz/", "bench/", "tools/", "cmake/")
# Files that the program writes, not pages of the manual.
WRITTEN = {"summary.md", "SIZE.md"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def slug(heading):
    """The anchor that GitHub makes of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.lower())
    return text.replace(" ", "-")


def prose(text):
    """The lines outside code blocks, with their numbers."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(path, known={}):
    if path not in known:
        known[path], seen = set(), {}
        for _, line in prose(read(path)):
            heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
            if heading:
                name = slug(heading.group(1))
                known[path].add(name + (f"-{seen[name]}" if name in seen else ""))
                seen[name] = seen.get(name, 0) + 1
            known[path].update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return known[path]


def listed():
    """The files that git knows; outside a repository, all files but those of a build."""
    if os.path.exists(os.path.join(ROOT, ".git")):
        names = subprocess.run(["git", "-C", ROOT, "ls-files"], check=True, capture_output=True,
                               text=True).stdout.split("\n")
        return [name for name in names if name]
    names = []
    for folder, folders, here in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in ("build", "node_modules"))
        names += [os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(here)]
    return names


def main():
    files = [file for file in listed() if os.path.exists(os.path.join(ROOT, file))]
    pages = [file for file in files if file.endswith(".md")]
    names = {os.path.basename(page) for page in pages}
    findings = []

    def check(file, number, target, anchor):
        if not os.path.exists(os.path.join(ROOT, target)):
            findings.append(f"{file}:{number}: leads to {target}, which does not exist")
        elif anchor and target.endswith(".md") and anchor not in anchors(target):
            findings.append(f"{file}:{number}: leads to {target}#{anchor}, but no heading there "
                            "has this anchor")

    for page in pages:
        for number, line in prose(read(page)):
            for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", link):
                    continue
                target, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target \
                    else page
                check(page, number, target, anchor)
    for file in files:
        if not file.startswith(FOLDERS) or not file.endswith(SOURCES) \
                or file == "tools/check_links.py":
            continue
        for number, line in enumerate(read(file).split("\n"), 1):
            for target, anchor in CITED.findall(line):
                if target in WRITTEN or "OUTPUT" in target:
                    continue
                if "/" in target:
                    check(file, number, target, anchor[1:])
                elif target not in names:
                    findings.append(f"{file}:{number}: cites {target}, which does not exist")
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
