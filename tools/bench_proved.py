#!/usr/bin/env python3
"""Measures cupel check, verify and verify --proved on histories that satisfy a level: 10 sessions,
8 operations a transaction (at linearizable 1), 1,000 keys, from a thousand transactions to a million.
Writes lines that tools/bench_plots.py draws, one per command: the CPU time and the peak memory of
the process, reading included. `verify --proved` is all of it: the verifier in C++, the texts, and
cupel-proved. Each answer is checked: satisfied, valid, and proved.

    tools/bench_proved.py [--cupel build/release/cupel] [--sizes 1000,10000,100000,1000000]
                          [--levels causal,serializable] [--output build/bench/proved.jsonl]
    tools/bench_plots.py build/bench/proved.jsonl

Needs nothing but Python, and 2 GB in the folder for temporary files for a million."""
import argparse
import json
import os
import subprocess
import tempfile

from bench_crdt import measured, processor

# By level, the level of the store that makes the history.
STORES = {
    "read-committed": "read-committed", "read-atomic": "read-atomic", "causal": "causal", "prefix": "prefix",
    "snapshot-isolation": "strong-session-snapshot-isolation",
    "generalized-snapshot-isolation": "strict-serializable",
    "strong-session-snapshot-isolation": "strong-session-snapshot-isolation",
    "strong-snapshot-isolation": "strict-serializable",
    "serializable": "strong-session-serializable",
    "strong-session-serializable": "strong-session-serializable",
    "strict-serializable": "strict-serializable", "linearizable": "strict-serializable"}
SESSIONS = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--cupel", default="build/release/cupel")
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--levels", default=",".join(STORES))
    parser.add_argument("--output", default="build/bench/proved.jsonl")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    os.makedirs(os.path.dirname(options.output) or ".", exist_ok=True)
    with open(options.output, "w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as folder:
        about = {"size": options.sizes, "processor": processor(), "hardware_threads": os.cpu_count(), "runs": 1}
        print(json.dumps(about), file=out)
        history, proof = os.path.join(folder, "h.cupel"), os.path.join(folder, "proof.json")
        for size in sizes:
            for level in options.levels.split(","):
                subprocess.run([options.cupel, "generate", "-q", "--level", STORES[level], "--txns",
                                str(size // SESSIONS), "--sessions", str(SESSIONS), "--keys", "1000", "--ops",
                                "1" if level == "linearizable" else "8", "-o", history], check=True)
                commands = {"check": (["check", "-l", level, history], f"\t{level}\tsatisfied\n"),
                            "certificate": (["check", "-l", level, "--certificate", proof, history],
                                            f"\t{level}\tsatisfied\n"),
                            "verify": (["verify", history, proof], "valid"),
                            "verify --proved": (["verify", "--proved", history, proof], "proved: 1 of 1 answers")}
                for name, (command, expected) in commands.items():
                    row = {"group": f"transactions-verified-{level}", "series": name, "value": str(size), "verdict": "satisfied",
                           **measured([options.cupel, *command], expected)}
                    print(json.dumps(row), file=out, flush=True)
                    print(f"{level}, {size} transactions, {name}: {row['cpu_seconds']:.2f} CPU s, "
                          f"{row['peak_bytes'] / 1e6:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
