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
import subprocess

import measure

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


def commands_of(cupel, level, size, history, proof):
    subprocess.run([cupel, "generate", "-q", "--level", STORES[level], "--txns", str(size // SESSIONS), "--sessions",
                    str(SESSIONS), "--keys", "1000", "--ops", "1" if level == "linearizable" else "8", "-o", history],
                   check=True)
    satisfied = f"\t{level}\tsatisfied\n"
    for series, command, expected in [
            ("check", ["check", "-l", level, history], satisfied),
            ("certificate", ["check", "-l", level, "--certificate", proof, history], satisfied),
            ("verify", ["verify", history, proof], "valid"),
            ("verify --proved", ["verify", "--proved", history, proof], "proved: 1 of 1 answers")]:
        yield f"transactions-verified-{level}", series, [cupel, *command], expected


if __name__ == "__main__":
    measure.main(__doc__, "levels", STORES, "build/bench/proved.jsonl", "h.cupel", commands_of)
