#!/usr/bin/env python3
"""Runs clang-tidy, warnings as errors, on the files of src/ and include/ that changed.

Usage: tools/tidy_changed.py BUILD [-j N] [--all]

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
    changed = git_or_exit("diff", "--name-only", base_commit(), "--", "src", "include").split("\n")
    return [name for name in changed if name.endswith((".cpp", ".hpp")) and os.path.exists(name)]


def including(header, known, seen=()):
    """Units that include the header, by way of other headers where none does itself."""
    include = re.escape('#include "' + header.split("/", 1)[1] + '"')
    found = git("grep", "-l", "-E", include, "--", "src", "include").split("\n")
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
    """The compile commands without GCC's precompiled headers, which clang cannot read."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    kept, known = [], {}
    for entry in commands:
        name = os.path.relpath(entry["file"])
        if not name.startswith("src/") or name in known:
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
        known[name] = True
        kept.append(entry)
    folder = os.path.join(build, "tidy")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(kept, file)
    return folder, known


def main():
    parser = argparse.ArgumentParser(description="clang-tidy on what changed")
    parser.add_argument("build")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    folder, known = write_commands(build)
    units = sorted(known) if options.all else translation_units(changed_files(), known)
    if not units:
        print("tidy: no file of src/ changed")
        return 0

    def tidy(name):
        command = ["clang-tidy", "-p", folder, "--quiet", "--warnings-as-errors=*", name]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
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
