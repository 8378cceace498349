#!/usr/bin/env python3
"""Makes of what bench/online_bench printed the lines that tools/bench_plots.py draws: the CPU time and the
resident memory of a watch against the transactions that it has seen, a line a level.

    build/release/bench/online_bench --level strict --txns 100000000 --every 1000000 > strict.txt
    build/release/bench/online_bench --level sssi --txns 100000000 --every 1000000 > sssi.txt
    tools/bench_online.py strict.txt sssi.txt --output build/bench/online.jsonl
    tools/bench_plots.py build/bench/online.jsonl

Needs nothing but Python."""
import argparse
import json
import os
import sys

import measure


def points(path):
    """The level, and transactions, resident MB and CPU seconds by line of the table."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if len(lines) < 3 or not lines[1].split()[:1] == ["transactions"]:
        sys.exit(f"bench_online: {path}: found no table of online_bench")
    found = []
    for line in lines[2:]:
        fields = line.split()
        if len(fields) == 5 and fields[0].isdigit():
            found.append((int(fields[0]), int(fields[2]), float(fields[3])))
    return lines[0].split(",")[0], found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tables", nargs="+", help="what online_bench printed, a file a level")
    parser.add_argument("--output", default="build/bench/online.jsonl")
    options = parser.parse_args()
    os.makedirs(os.path.dirname(options.output) or ".", exist_ok=True)
    with open(options.output, "w", encoding="utf-8") as out:
        about = {"size": "watch", "processor": measure.processor(), "hardware_threads": os.cpu_count(), "runs": 1}
        print(json.dumps(about), file=out)
        for path in options.tables:
            level, found = points(path)
            for transactions, megabytes, seconds in found:
                row = {"group": "transactions-watched", "series": level, "value": str(transactions), "verdict": "satisfied",
                       "cpu_seconds": seconds, "peak_bytes": megabytes * 1_000_000}
                print(json.dumps(row), file=out)


if __name__ == "__main__":
    main()
