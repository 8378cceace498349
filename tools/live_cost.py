#!/usr/bin/env python3
"""What `cupel run --live` costs in throughput, against the same run that is only recorded.

    tools/live_cost.py build/release/cupel build/bench/live.json --db lab:postgres --rounds 5 --seconds 15
    tools/live_cost.py build/release/cupel build/bench/live.json --db sqlite

A round is recorded, live, live, recorded, each a run of its own of so many seconds at full speed. The result is a line
for each round: the commits of a second of both, and the cost of --live as a share; then the median and the quartiles.
A server of lab:KIND is started for all rounds, and stopped after them.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cupel")
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--db", required=True, help="sqlite, lab:KIND or a URL")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--workload", default="mini")
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--isolation")
    parser.add_argument("--fast", action="store_true", help="lab: commits do not wait for the disk")
    parser.add_argument("--level", help="the level that is watched; by default what the database promises")
    return parser.parse_args()


# The URL of the database, for as long as it is needed. None: a new file of SQLite for each run.
@contextlib.contextmanager
def database(asked):
    if not asked.db.startswith("lab:"):
        yield None if asked.db == "sqlite" else asked.db
        return
    kind, name = asked.db[len("lab:"):], "live-cost"
    started = subprocess.run([asked.cupel, "lab", "start", kind, "--name", name, "--quiet"]
                             + (["--fast"] if asked.fast else []), capture_output=True, text=True, check=False)
    if started.returncode != 0:
        sys.exit(f"live_cost: {started.stderr}")
    try:
        yield started.stdout.strip()
    finally:
        subprocess.run([asked.cupel, "lab", "stop", name, "--quiet"], capture_output=True, check=False)


# Commits of a second while the load went on.
def run(asked, url, live, seed):
    with tempfile.TemporaryDirectory() as folder:
        command = [asked.cupel, "run", "--json", "--quiet", "-o", f"{folder}/run.jsonl", "--txns", "0",
                   "--time-limit", f"{asked.seconds}s", "--sessions", str(asked.sessions), "--seed", str(seed),
                   "--workload", asked.workload, "--keys", str(asked.keys)]
        command += ["--db", url or f"sqlite:{folder}/run.db?synchronous=off"]
        command += ["--isolation", asked.isolation] if asked.isolation else []
        command += ["--level", asked.level] if asked.level else []
        command += ["--live"] if live else []
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 2) or not ran.stdout.startswith("{"):
            sys.exit(f"live_cost: {' '.join(command)}\n{ran.stdout}{ran.stderr}")
        report = json.loads(ran.stdout)["run"]
        return report["committed"] / report["seconds"]


def main():
    asked = arguments()
    rounds = []
    with database(asked) as url:
        for number in range(asked.rounds):
            rates = [run(asked, url, live, number + 1) for live in (False, True, True, False)]
            recorded, live = (rates[0] + rates[3]) / 2, (rates[1] + rates[2]) / 2
            rounds.append({"db": asked.db, "recorded": recorded, "live": live, "cost": 1 - live / recorded})
            print(f"{asked.db}: recorded {recorded:.0f}/s, live {live:.0f}/s, cost {100 * rounds[-1]['cost']:.1f} %",
                  flush=True)
    costs = [each["cost"] for each in rounds]
    if len(costs) > 1:
        low, middle, high = statistics.quantiles(costs, n=4)
        print(f"{asked.db}: median {100 * middle:.1f} %, quartiles {100 * low:.1f} to {100 * high:.1f} %")
    asked.result.parent.mkdir(parents=True, exist_ok=True)
    with asked.result.open("a") as file:
        file.writelines(json.dumps(each) + "\n" for each in rounds)


if __name__ == "__main__":
    main()
