#!/usr/bin/env python3
"""Counts in how many seeds each bug of each simulated type is found, and how large the counterexamples are.

    tools/findings/crdt_bugs.py build/release/cupel build/findings/crdt_bugs.jsonl
    tools/findings/crdt_bugs.py build/release/cupel build/findings/crdt_bugs.jsonl --table

A run generates a history with known deliveries and checks it. It is one line of the file, and is not made again, so
the table can be continued. --table prints the counts as the table of docs/internals/findings.md.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import tempfile


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cupel")
    parser.add_argument("results")
    parser.add_argument("--table", action="store_true", help="print the counts and run nothing")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--ops", type=int, default=1000)
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for the check of one history")
    return parser.parse_args()


# The help lists the types; what refuses an unknown bug lists those of the type.
def types(cupel):
    said = subprocess.run([cupel, "crdt", "generate", "--help"], capture_output=True, text=True, check=True).stdout
    names = re.search(r"The replicated data type:(.*?);", said, re.DOTALL).group(1)
    return re.split(r",\s+|\s+or\s+", " ".join(names.split()))


def bugs(cupel, kind):
    command = [cupel, "crdt", "generate", "--type", kind, "--bug", "?", "--ops", "1"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    listed = re.search(r"expected a bug of the type [^:]+: (.*?)(?: \(see|$)", said, re.MULTILINE)
    return re.split(r",\s+|\s+or\s+", listed.group(1)) if listed else []


def run(asked, cell, history):
    # A flag has no elements: several flags say more about what a replica had seen.
    keys = ["--keys", "4"] if cell["type"].endswith("flag") else []
    subprocess.run([asked.cupel, "crdt", "generate", "--type", cell["type"], "--bug", cell["bug"], "--ops",
                    str(asked.ops), "--replicas", str(asked.replicas), "--seed", str(cell["seed"]), "--context", "-q",
                    "-o", history, *keys], check=True)
    said = subprocess.run([asked.cupel, "crdt", "check", "--type", cell["type"], "--json", "--timeout",
                           f"{asked.timeout}s", history], capture_output=True, text=True, check=False)
    report = json.loads(said.stdout)
    explained = report.get("explanation") or {}
    return cell | {"verdict": report["verdict"], "name": explained.get("name"),
                   "operations": len(explained.get("operations") or [])}


def table(rows):
    found = collections.defaultdict(list)
    for row in rows:
        found[row["type"], row["bug"]].append(row)
    print("| type | bug | found | largest counterexample | names |\n|---|---|---|---:|---|")
    for (kind, bug), all_rows in sorted(found.items()):
        unknown = sum(row["verdict"] == "unknown" for row in all_rows)
        wrong = [row for row in all_rows if row["verdict"] == "violated"]
        names = collections.Counter(row["name"] for row in wrong)
        said = ", ".join(f"{name} {count}" for name, count in names.most_common())
        largest = max((row["operations"] for row in wrong), default="–")
        print(f"| {kind} | `{bug}` | {len(wrong)} of {len(all_rows)}{f'; {unknown} unknown' if unknown else ''} | {largest} | {said} |")


def main():
    asked = arguments()
    results = pathlib.Path(asked.results)
    rows = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    if asked.table:
        table(rows)
        return
    results.parent.mkdir(parents=True, exist_ok=True)
    done = {(row["type"], row["bug"], row["seed"]) for row in rows}
    planted = [(kind, bug) for kind in types(asked.cupel) for bug in bugs(asked.cupel, kind)]
    with tempfile.TemporaryDirectory() as folder, results.open("a") as file:
        for seed in range(1, asked.seeds + 1):
            for kind, bug in planted:
                if (kind, bug, seed) in done:
                    continue
                row = run(asked, {"type": kind, "bug": bug, "seed": seed}, f"{folder}/history.jsonl")
                print(json.dumps(row), file=file, flush=True)


if __name__ == "__main__":
    main()
