#!/usr/bin/env python3
"""Measures cupel crdt check and verify on histories with known deliveries: simulated correct
replicas of each type, from a thousand operations to a million. Writes lines that
tools/bench_plots.py draws, one per command: the CPU time and the peak memory of the process,
reading included, and the time by the wall. `mixed` is one history with objects of five types.
Each answer is checked: satisfied, and the certificate valid.

    tools/bench_crdt.py [--cupel build/release/cupel] [--sizes 1000,10000,100000,1000000]
                        [--types list,counter] [--output build/bench/crdt.jsonl]
    tools/bench_plots.py build/bench/crdt.jsonl

Needs nothing but Python, and 400 MB in the folder for temporary files for a million."""
import subprocess

import measure

SETS = ["add-wins-set", "remove-wins-set", "grow-only-set", "two-phase-set",
        "last-writer-wins-set"]
TYPES = SETS + ["enable-wins-flag", "disable-wins-flag", "multi-value-register",
                "last-writer-wins-register", "last-writer-wins-map", "any-maximal-register", "max-register",
                "counter", "resettable-counter", "bounded-counter", "growable-array", "list", "weak-list",
                "non-interleaving-list", "movable-list", "text", "marked-text", "tree", "map", "remove-wins-map",
                "update-wins-map", "reset-map", "mixed"]
# Their reads grow with the updates of an object, so an object has a tenth of the others'.
LONG_READS = ["grow-only-set", "two-phase-set", "growable-array", "list", "weak-list", "non-interleaving-list",
              "movable-list", "text", "marked-text", "tree", "mixed"]
# The types of the objects of `mixed`.
MIXED = ["add-wins-set", "counter", "last-writer-wins-map", "list", "text"]
REPLICAS = 10


def objects(kind, size):
    """So many objects that each has a thousand updates, or a hundred."""
    keys = max(1, size // (200 if kind in LONG_READS else 2000))
    return ["--keys", str(keys)] + (["--elements", "5"] if kind in SETS else [])


def commands_of(cupel, kind, size, history, proof):
    types = [option for one in (MIXED if kind == "mixed" else [kind]) for option in ("--type", one)]
    subprocess.run([cupel, "crdt", "generate", *types, "--ops", str(size), "--replicas", str(REPLICAS), "--context",
                    "-o", history, *objects(kind, size)], check=True)
    # The lines of a history of several types name the type of each object.
    check = [cupel, "crdt", "check", *([] if kind == "mixed" else types)]
    yield "crdt-check", kind, [*check, history], "\tsatisfied\n"
    yield "crdt-certificate", kind, [*check, "--certificate", proof, history], "\tsatisfied\n"
    yield "crdt-verify", kind, [cupel, "crdt", "verify", history, proof], ": valid,"


if __name__ == "__main__":
    measure.main(__doc__, "types", TYPES, "build/bench/crdt.jsonl", "h.jsonl", commands_of)
