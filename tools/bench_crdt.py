#!/usr/bin/env python3
"""Measures cupel crdt check and verify on histories with known deliveries: simulated correct
replicas of each type, from a thousand operations to a million. Writes lines that
tools/bench_plots.py draws, one per command: the CPU time and the peak memory of the process,
reading included. Each answer is checked: satisfied, and the certificate valid.

    tools/bench_crdt.py [--cupel build/release/cupel] [--sizes 1000,10000,100000,1000000]
                        [--types list,counter] [--output build/bench/crdt.jsonl]
    tools/bench_plots.py build/bench/crdt.jsonl

Needs nothing but Python, and 400 MB in the folder for temporary files for a million."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SETS = ["add-wins-set", "remove-wins-set", "grow-only-set", "two-phase-set",
        "last-writer-wins-set"]
TYPES = SETS + ["enable-wins-flag", "disable-wins-flag", "multi-value-register",
                "last-writer-wins-register", "last-writer-wins-map", "any-maximal-register", "max-register",
                "counter", "resettable-counter", "bounded-counter", "growable-array", "list", "weak-list",
                "movable-list", "text",
                "tree", "map", "remove-wins-map", "update-wins-map", "reset-map"]
# Long certificates of these are unknown to the verifier.
NOT_VERIFIED = ["update-wins-map", "reset-map"]
# Their reads grow with the updates of an object, so an object has a tenth of the others'.
LONG_READS = ["grow-only-set", "two-phase-set", "growable-array", "list", "weak-list",
                "movable-list", "text",
              "tree"]
REPLICAS = 10


def measured(command, expected):
    """CPU seconds and peak bytes of a command that must print this."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        output.seek(0)
        said = output.read(1000)
    if os.waitstatus_to_exitcode(status) != 0 or expected not in said:
        sys.exit(f"bench_crdt: {' '.join(command)}: found {said!r}, expected {expected}")
    return {"cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024}


def objects(kind, size):
    """So many objects that each has a thousand updates, or a hundred."""
    keys = max(1, size // (200 if kind in LONG_READS else 2000))
    return ["--keys", str(keys)] + (["--elements", "5"] if kind in SETS else [])


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--cupel", default="build/release/cupel")
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--output", default="build/bench/crdt.jsonl")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    os.makedirs(os.path.dirname(options.output) or ".", exist_ok=True)
    with open(options.output, "w", encoding="utf-8") as out, tempfile.TemporaryDirectory() as folder:
        about = {"size": options.sizes, "processor": processor(), "hardware_threads": os.cpu_count(), "runs": 1}
        print(json.dumps(about), file=out)
        history, proof = os.path.join(folder, "h.jsonl"), os.path.join(folder, "proof.json")
        for size in sizes:
            for kind in options.types.split(","):
                subprocess.run([options.cupel, "crdt", "generate", "--type", kind, "--ops", str(size), "--replicas",
                                str(REPLICAS), "--context", "-o", history, *objects(kind, size)], check=True)
                commands = {"check": ([options.cupel, "crdt", "check", "--type", kind, history], "\tsatisfied\n"),
                            "certificate": ([options.cupel, "crdt", "check", "--type", kind, "--certificate", proof,
                                             history], "\tsatisfied\n"),
                            "verify": ([options.cupel, "crdt", "verify", history, proof], ": valid,")}
                if kind in NOT_VERIFIED:
                    del commands["verify"]
                for name, (command, expected) in commands.items():
                    row = {"group": f"crdt-{name}", "series": kind, "value": str(size), "verdict": "satisfied",
                           **measured(command, expected)}
                    print(json.dumps(row), file=out, flush=True)
                    print(f"{kind}, {size} operations, {name}: {row['cpu_seconds']:.2f} CPU s, "
                          f"{row['peak_bytes'] / 1e6:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
