#!/usr/bin/env python3
"""site: the manual as a static, searchable site, with the playground beside it.

    tools/site.py [-o FOLDER] [--wasm FOLDER]

Stages the pages of docs/, the pages of the repository that they lead to and the sources that they cite,
runs Sphinx on them (web/site/conf.py), adds the playground as playground.html (tools/playground.py) and then
checks every link and anchor of the result. The front page, index.html, is docs/README.md with a search. FOLDER is build/site by default. The site asks no other one
for anything and works from disk.
"""
import argparse
import html.parser
import os
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
# Pages of the repository outside docs/, and their names in the site.
PAGES = {path: name + ".md" for path, name in {
    "README.md": "readme", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog", "SECURITY.md": "security",
    "docs/README.md": "index", "node/README.md": "node"}.items()}
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".c": "c", ".py": "python", ".cjs": "javascript", ".mjs": "javascript",
             ".js": "javascript", ".go": "go", ".java": "java", ".clj": "clojure", ".yml": "yaml", ".json": "json",
             ".cmake": "cmake", ".sh": "bash"}
PLAIN = (".png", ".svg", ".schema.json")
ORPHAN = "---\norphan: true\n---\n\n"  # in no table of contents
SEARCH = """<form class="front-search" role="search" aria-label="Manual" action="search.html" method="get">
<input type="search" name="q" aria-label="Search the manual" placeholder="Search the manual">
<button type="submit">Search</button>
</form>
"""
# Repairs of Furo's pages, for keyboards and screen readers: headings have a level, landmarks a name, and the drawers
# are opened by buttons (web/site/_static/cupel.js). Each must match on every page.
REPAIRS = [(re.compile(pattern, re.S), new) for pattern, new in (
    (r'<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    (r'<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    (r'<aside class="toc-drawer', '<aside aria-label="Contents of this page" class="toc-drawer'),
    (r'<form class="sidebar-search-container"', '<form aria-label="Sidebar" class="sidebar-search-container"'),
    (r'<label class="overlay', '<label aria-hidden="true" class="overlay'),
    (r'<div class="content-icon-container">', '<div class="content-icon-container" role="region" aria-label="Tools">'),
    (r'<label class="((?:nav|toc)-overlay-icon[^"]*)" for="(\w+)">(.*?)</label>',
     r'<button type="button" class="\1" data-drawer="\2" aria-expanded="false">\3</button>'))]


def tracked():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached"],
                            check=True, capture_output=True, text=True).stdout
    return {path for path in listed.split("\0") if path and os.path.exists(os.path.join(ROOT, path))}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def title_of(path):
    found = re.search(r"^# (.+)$", read(path), re.M)
    return found.group(1) if found else path


class Stage:
    """The pages as Sphinx gets them."""

    def __init__(self, folder):
        self.folder = folder
        self.files = tracked()
        self.sources = []  # cited, in the order found

    def staged(self, path):
        """The name of a file or folder of the repository in the site."""
        if path in PAGES:
            return PAGES[path]
        if path.startswith("docs/") and path.endswith(".md") or path.startswith("docs/") and path.endswith(PLAIN):
            return path[len("docs/"):]
        if path not in self.files:  # a folder
            if path.startswith("docs/"):
                return path[len("docs/"):] + "/index.md"
            return f"source/{path}/index.md"
        return f"source/{path}" if path.endswith(PLAIN) else f"source/{path}.md"

    def write(self, name, content):
        target = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(content)

    def link(self, page, target):
        """The target of a link on a page, as it is called in the site."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if path not in self.files and not any(one.startswith(path + "/") for one in self.files):
            raise SystemExit(f"site: {page}: leads to {path}, which does not exist")
        name = self.staged(path)
        self.cite(path, name)
        relative = posixpath.relpath(name, posixpath.dirname(self.staged(page)) or ".")
        return relative + ("#" + anchor if anchor else "")

    def cite(self, path, name):
        is_page = path in PAGES or path.startswith("docs/") and path.endswith(".md") and path in self.files
        if not is_page and path not in self.sources:
            self.sources.append(path)

    def page(self, path, before="", after=""):
        fenced, lines = False, []
        for line in read(path).split("\n"):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                line = LINK.sub(lambda one: one.group(1) + self.link(path, one.group(2)) + one.group(3), line)
            lines.append(line)
        self.write(self.staged(path), before + "\n".join(lines) + after)

    def source(self, path):
        name = self.staged(path)
        if path in self.files and path.endswith(PLAIN):
            os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, path), os.path.join(self.folder, name))
        elif path in self.files and path.endswith(".md"):
            self.page(path, before=ORPHAN)
        elif path in self.files:
            text = read(path)
            fence = "`" * (max([2] + [len(run) for run in re.findall(r"`+", text)]) + 1)
            language = LANGUAGES.get(os.path.splitext(path)[1], "")
            self.write(name, f"{ORPHAN}# {path}\n\n{fence}{language}\n{text}\n{fence}\n")
        else:
            inside = sorted(one for one in self.files if one.startswith(path + "/"))
            lines = []
            for one in inside:
                if one.startswith("docs/") and one.endswith(".md"):
                    lines.append(f"- [{title_of(one)}]({posixpath.relpath(self.staged(one), posixpath.dirname(name))})")
                else:
                    lines.append(f"- `{one}`")
            heading = posixpath.basename(path).capitalize() if path.startswith("docs/") else path + "/"
            self.write(name, f"{ORPHAN}# {heading}\n\n" + "\n".join(lines) + "\n")

    def pages_of(self, index):
        """The pages that an index leads to, in its order; a folder stands for the pages in it."""
        pages = []
        for _, target, _ in LINK.findall(read(index)):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(index), target.partition("#")[0]))
            inside = sorted(one for one in self.files if one.startswith(path + "/") and one.endswith(".md"))
            pages += [one for one in ([path] if path in self.files else inside) if one.endswith(".md")]
        return pages

    def contents(self):
        """The tables of contents: one for each index that docs/README.md leads to. It has the pages of the
        folder, first in the order of the index; other pages are in the last one."""
        groups, seen = [], {"docs/README.md"}
        for index in self.pages_of("docs/README.md"):
            if not re.fullmatch(r"docs/[\w-]+/README\.md", index):
                continue
            folder = posixpath.dirname(index) + "/"
            inside = sorted(one for one in self.files if one.startswith(folder) and one.endswith(".md"))
            pages = [one for one in [index, *self.pages_of(index), *inside] if one.startswith(folder)]
            groups.append((title_of(index), [one for one in dict.fromkeys(pages) if one not in seen]))
            seen.update(pages)
        rest = [one for one in sorted(self.files) if one.startswith("docs/") and one.endswith(".md") and one not in seen]
        groups.append(("More", rest + [one for one in PAGES if one not in seen and one in self.files]))
        out = ""
        for caption, pages in groups:
            listed = "\n".join("/" + self.staged(one)[:-len(".md")] for one in pages)
            out += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n:maxdepth: 1\n\n{listed}\n```\n"
        return out

    def all(self):
        for path in sorted(self.files):
            if path.startswith("docs/") and path.endswith(PLAIN):
                self.source(path)
            elif path.startswith("docs/") and path.endswith(".md") or path in PAGES:
                self.page(path)
        front = os.path.join(self.folder, PAGES["docs/README.md"])
        with open(front, encoding="utf-8") as file:
            heading, rest = file.read().split("\n", 1)
        self.write(PAGES["docs/README.md"], f"{heading}\n\n```{{raw}} html\n{SEARCH}```\n{rest}{self.contents()}")
        done = 0
        while done < len(self.sources):  # a cited page may cite others
            self.source(self.sources[done])
            done += 1


def join_scripts(site):
    """Debian's Furo imports a module from a script that pages load as no module: the two become one."""
    folder = os.path.join(site, "_static", "scripts")
    with open(os.path.join(folder, "furo.js"), encoding="utf-8") as file:
        script = file.read()
    imported = re.match(r'import Gumshoe from "\./([\w-]+\.js)";\n', script)
    if imported is None:
        return
    with open(os.path.join(folder, imported.group(1)), encoding="utf-8") as file:
        script = file.read() + "\n" + script[imported.end():]
    with open(os.path.join(folder, "furo.js"), "w", encoding="utf-8") as file:
        file.write(script)


def follow_system(site):
    """Debian's Furo has its dark colours only for readers who choose them: the system's choice counts too."""
    path = os.path.join(site, "_static", "styles", "furo.css")
    with open(path, encoding="utf-8") as file:
        style = file.read()
    if "prefers-color-scheme" in style:
        return
    dark = re.search(r'body\[data-theme="dark"\] \{\s*(--color[^{}]*)\}', style)
    if dark is None:
        raise SystemExit(f"site: {path} has no dark colours; correct follow_system in tools/site.py")
    with open(path, "a", encoding="utf-8") as file:
        file.write(f'\n@media not print {{ @media (prefers-color-scheme: dark) {{ body[data-theme="auto"] {{ {dark.group(1)} }} }} }}\n')


def repair(site):
    for folder, _, names in os.walk(site):
        for name in names:
            if not name.endswith(".html"):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                page = file.read()
            for pattern, new in REPAIRS:
                page, count = pattern.subn(new, page)
                if count == 0:
                    raise SystemExit(f"site: {path}: the theme's page has no {pattern.pattern}; correct REPAIRS in tools/site.py")
            if name == "search.html" and folder == site:
                page = page.replace('<div id="search-results">', f'<h1>Search</h1>\n{SEARCH}<div id="search-results">')
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)


class Ends(html.parser.HTMLParser):
    """What a page leads to and what one can lead to in it."""

    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        for name in ("href", "src"):
            if attributes.get(name) is not None and tag in ("a", "link", "script", "img"):
                self.links.append((tag, attributes[name]))


def faults_of(site):
    """Links of the site that lead nowhere, and what it would load from elsewhere."""
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                pages[path] = Ends()
                with open(path, encoding="utf-8") as file:
                    pages[path].feed(file.read())
    for path, page in sorted(pages.items()):
        shown = os.path.relpath(path, site)
        for tag, link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if tag != "a" and parts.scheme != "data":
                    yield f"{shown}: loads {link}"
                continue
            target = path
            if parts.path:
                target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path)))
            if not os.path.isfile(target):
                yield f"{shown}: leads to {link}, which does not exist"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
                yield f"{shown}: leads to {link}, but nothing there has this name"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default=os.path.join(ROOT, "build", "site"))
    parser.add_argument("--wasm", default=os.path.join(ROOT, "build", "wasm"))
    arguments = parser.parse_args()
    if subprocess.run(["/usr/bin/python3", "-c", "import sphinx, myst_parser, furo"], capture_output=True).returncode != 0:
        print("site: Sphinx, MyST and Furo are not all there; tools/install-packages.sh long installs them", file=sys.stderr)
        sys.exit(3)
    stage = arguments.output.rstrip("/") + "-pages"
    for folder, mark in ((stage, "conf.py"), (arguments.output, ".buildinfo")):
        if os.path.isdir(folder) and os.listdir(folder) and not os.path.exists(os.path.join(folder, mark)):
            print(f"site: {folder} has something in it that is no site; name another folder", file=sys.stderr)
            sys.exit(3)
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "web", "site"), stage)
    Stage(stage).all()
    built = subprocess.run(["/usr/bin/python3", "-m", "sphinx", "-q", "-b", "html", stage, arguments.output])
    if built.returncode != 0:
        sys.exit(built.returncode)
    join_scripts(arguments.output)
    follow_system(arguments.output)
    repair(arguments.output)
    links = ["Manual=index.html", "Levels=reference/levels.html", "Anomalies=reference/anomalies.html", "Commands=reference/commands.html", "Search=search.html"]
    subprocess.run([os.path.join(ROOT, "tools", "playground.py"), "-o", os.path.join(arguments.output, "playground.html"),
                    "--wasm", arguments.wasm, *[part for link in links for part in ("--link", link)]], check=True)
    faults = list(faults_of(arguments.output))
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
