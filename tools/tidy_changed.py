#!/usr/bin/env python3
"""Compiles each file that changed by itself: with clang-tidy, warnings as errors, in src/ and include/;
with the compiler, for its errors alone, in tests/, bench/, fuzz/ and examples/.

Usage: tools/tidy_changed.py BUILD [-j N] [--all]

The builds of the other gates compile several files as one, after headers that all share, so that a
missing #include shows only here. --all: every file of src/, and no other.

Changed means: against the merge base with origin/main (or main), with what is not committed;
where HEAD is that branch, against the last commit; where CUPEL_TIDY_BASE names a commit, against
that. A header that changed is looked at through one file that includes it. BUILD is a folder
configured without CUPEL_UNITY, so that each file has a command of its own.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


FOLDERS = ("src", "include", "tests", "bench", "fuzz", "examples")


def git(*arguments):
    """What git prints; "" where it fails, as for a branch that is not there."""
    ran = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def git_or_exit(*arguments):
    ran = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"tidy: git {' '.join(arguments)}: {ran.stderr.strip()}")
    return ran.stdout.strip()


def base_commit():
    if os.environ.get("CUPEL_TIDY_BASE"):
        return git_or_exit("rev-parse", "--verify", os.environ["CUPEL_TIDY_BASE"] + "^{commit}")
    head = git_or_exit("rev-parse", "HEAD")
    for branch in ("origin/main", "main"):
        base = git("merge-base", "HEAD", branch)
        if base and base != head:
            return base
    return git_or_exit("rev-parse", "--verify", "HEAD~1")


def changed_files():
    changed = git_or_exit("diff", "--name-only", base_commit(), "--", *FOLDERS).split("\n")
    return [name for name in changed if name.endswith((".cpp", ".hpp")) and os.path.exists(name)]


def including(header, known, seen=()):
    """Units that include the header, those of src/ first; by way of other headers where none does itself."""
    include = re.escape('#include "' + header.split("/", 1)[1] + '"')
    found = git("grep", "-l", "-E", include, "--", *FOLDERS).split("\n")
    found.sort(key=lambda name: not name.startswith("src/"))  # a header of src/ is for clang-tidy
    units = [name for name in found if name in known]
    for other in found:
        if units:
            break
        if other.endswith(".hpp") and other not in seen:
            units = including(other, known, (*seen, header))
    return units


def translation_units(changed, known):
    units = [name for name in changed if name in known]
    for header in (name for name in changed if name.endswith(".hpp")):
        own = header[: -len(".hpp")] + ".cpp"
        if own in known:
            units.append(own)
            continue
        units.extend(including(header, known)[:1])
    return sorted(set(units))


def write_commands(build):
    """The compile commands without GCC's precompiled headers, which clang cannot read: those of src/ into
    a folder for clang-tidy; and all, by the names of the files."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    kept, known = [], {}
    for entry in commands:
        name = os.path.relpath(entry["file"])
        if not name.startswith(FOLDERS) or name in known:
            continue
        words = shlex.split(entry["command"])
        words = words[next(i for i, word in enumerate(words) if re.search(r"(\+\+|cc|gcc|clang)(-\d+)?$", word) and "ccache" not in word):]
        drop = []
        for i, word in enumerate(words):
            if word == "-include" and "cmake_pch" in words[i + 1]:
                drop += [i, i + 1]
            elif word in ("-Winvalid-pch", "-fpch-preprocess", "-Werror"):
                drop.append(i)
        entry["command"] = shlex.join(word for i, word in enumerate(words) if i not in drop)
        known[name] = entry
        if name.startswith("src/"):
            kept.append(entry)
    folder = os.path.join(build, "tidy")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(kept, file)
    return folder, known


def syntax_only(command):
    words = shlex.split(command)
    at = words.index("-o")
    return [word for i, word in enumerate(words) if i not in (at, at + 1)] + ["-fsyntax-only"]


def main():
    parser = argparse.ArgumentParser(description="clang-tidy on what changed")
    parser.add_argument("build")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    folder, known = write_commands(build)
    if options.all:
        units = sorted(name for name in known if name.startswith("src/"))
    else:
        units = translation_units(changed_files(), known)
    if not units:
        print("tidy: no file changed")
        return 0

    def tidy(name):
        command, where = ["clang-tidy", "-p", folder, "--quiet", "--warnings-as-errors=*", name], "."
        if not name.startswith("src/"):
            command, where = syntax_only(known[name]["command"]), known[name]["directory"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=where)
        return name, ran.returncode, ran.stdout, ran.stderr

    failed = 0
    with ThreadPoolExecutor(options.j) as pool:
        for name, code, out, err in pool.map(tidy, units):
            if code != 0:
                failed += 1
                print(out or err, end="")
    print(f"tidy: {len(units)} files, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
