#!/usr/bin/env python3
"""Runs every object of every adapter with many seeds, sizes and numbers of replicas, and counts the verdicts.

    tools/findings/crdt_matrix.py build/release/cupel build/findings/crdt.jsonl
    tools/findings/crdt_matrix.py build/release/cupel build/findings/crdt.jsonl --table

Each run of `cupel crdt run --adapter` is one line of the file. A run that is there, and was no error, is not made
again, so the matrix can be continued; the smallest runs come first. --table prints the counts as the table of docs/internals/findings.md: of each
object and size, how many seeds were satisfied, and what the others were; `stopped` are runs that took longer than --stop.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import time

ADAPTERS = pathlib.Path(__file__).resolve().parents[2] / "adapters"
VERDICTS = {0: "satisfied", 1: "violated", 2: "unknown"}


def numbers(text):
    return [int(part) for part in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cupel")
    parser.add_argument("results")
    parser.add_argument("--table", action="store_true", help="print the counts and run nothing")
    parser.add_argument("--only", action="append", help="ADAPTER or ADAPTER:OBJECT; may be repeated")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--ops", type=numbers, default=[200, 1000, 10000])
    parser.add_argument("--replicas", type=numbers, default=[3, 10])
    parser.add_argument("--timeout", type=float, default=120, help="seconds for the check of one history")
    parser.add_argument("--stop", type=float, help="seconds after which a run is ended, whatever it does")
    parser.add_argument("--hours", type=float, default=24, help="begin no run after so long")
    return parser.parse_args()


# The objects that an adapter says it has, by the protocol.
def objects_of(adapter, cache):
    command = ["node", str(cache / "harness.mjs"), str(cache / f"{adapter}.mjs")]
    answer = subprocess.run(command, input='{"f":"hello"}\n', capture_output=True, text=True, timeout=60, check=True)
    return [(entry[0], entry[1]) for entry in json.loads(answer.stdout)["objects"]]


# The cells, the smallest first. The first run also installs the libraries.
def cells(asked):
    subprocess.run([asked.cupel, "crdt", "run", "--adapter", "yjs", "--ops", "1"], capture_output=True, check=False)
    cache = pathlib.Path(os.environ.get("CUPEL_ADAPTER_CACHE")
                         or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
                         / "cupel" / "adapters")
    all_objects = []
    for file in sorted(ADAPTERS.glob("*.mjs")):
        if file.stem in ("harness", "template", "script"):
            continue
        for name, kind in objects_of(file.stem, cache):
            if not asked.only or file.stem in asked.only or f"{file.stem}:{name}" in asked.only:
                all_objects.append((f"{file.stem}:{name}", kind))
    for ops in asked.ops:
        for replicas in asked.replicas:
            for seed in range(1, asked.seeds + 1):
                for name, kind in all_objects:
                    yield {"object": name, "type": kind, "ops": ops, "replicas": replicas, "seed": seed}


def run(asked, cell):
    command = [asked.cupel, "crdt", "run", "--json", "--adapter", cell["object"], "--ops", str(cell["ops"]),
               "--replicas", str(cell["replicas"]), "--seed", str(cell["seed"]), "--timeout", f"{asked.timeout}s",
               "--answer-timeout", "600"]
    begin = time.monotonic()
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=asked.stop)
    except subprocess.TimeoutExpired:
        return {**cell, "seconds": round(time.monotonic() - begin, 1), "verdict": "stopped"}
    cell["seconds"] = round(time.monotonic() - begin, 1)
    cell["verdict"] = VERDICTS.get(ran.returncode, "error")
    report = json.loads(ran.stdout) if ran.stdout.startswith("{") else {}
    if report.get("explanation"):
        cell["name"] = report["explanation"]["name"]
    elif report.get("verdict") == "satisfied" and ran.returncode == 1:
        same = (report.get("convergence") or {}).get("converged")
        threw = "threw" if report.get("threw_count") else "not-applied"
        cell["name"] = "not-converged" if same is False else threw
    if cell["verdict"] == "error":
        cell["error"] = ran.stderr.strip().splitlines()[-1] if ran.stderr.strip() else ""
    return cell


def table(rows):
    last = {(row["object"], row["ops"], row["replicas"], row["seed"]): row for row in rows}
    rows = list(last.values())  # what was an error may have been run again
    counts = collections.defaultdict(collections.Counter)
    sizes = sorted({(row["ops"], row["replicas"]) for row in rows})
    for row in rows:
        what = row["verdict"] if "name" not in row else f"{row['verdict']}: {row['name']}"
        counts[row["object"], row["type"], row["ops"], row["replicas"]][what] += 1
    print("| object | type | " + " | ".join(f"{ops} operations, {n} replicas" for ops, n in sizes) + " |")
    print("|---|---|" + "---|" * len(sizes))
    for name, kind in sorted({(row["object"], row["type"]) for row in rows}):
        line = []
        for size in sizes:
            found = counts[name, kind, *size]
            total = sum(found.values())
            others = ", ".join(f"{count} {what}" for what, count in sorted(found.items()) if what != "satisfied")
            line.append(f"{found['satisfied']} of {total}{'; ' + others if others else ''}" if total else "–")
        print(f"| `{name}` | {kind} | " + " | ".join(line) + " |")


def main():
    asked = arguments()
    results = pathlib.Path(asked.results)
    rows = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    if asked.table:
        table(rows)
        return
    results.parent.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 3600 * asked.hours
    done = {(row["object"], row["ops"], row["replicas"], row["seed"]) for row in rows if row["verdict"] != "error"}
    for cell in cells(asked):
        if (cell["object"], cell["ops"], cell["replicas"], cell["seed"]) in done:
            continue
        if time.monotonic() > end:
            sys.exit("the time is over; run it again to continue")
        with results.open("a") as file:
            file.write(json.dumps(run(asked, cell)) + "\n")


if __name__ == "__main__":
    main()
