#!/usr/bin/env python3
"""How long a command goes on after the violation that `cupel mock test --live` ends it for.

    tools/mock_live.py build/release/cupel [--rounds 5] [--transactions 100 1000 5000 20000]

The command runs so many transactions one after the other over HTTP, then two that lose an update, and then more,
each of which it writes down the time of. A line for each number: the median and the longest of the rounds, in
seconds from the end of the second commit to the last transaction.
"""

import argparse
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

LONGEST = 60  # seconds that the command goes on if nothing ends it


def load(transactions, times):
    url = urllib.parse.urlsplit(os.environ["CUPEL_MOCK_HTTP_URL"])
    connection = http.client.HTTPConnection(url.hostname, url.port)

    def post(path, body=None):
        connection.request("POST", path, json.dumps(body or {}), {"Content-Type": "application/json"})
        connection.getresponse().read()

    def write(session, key, value):
        post(f"/sessions/{session}/write", {"key": key, "value": value})

    def increment(value):
        post("/sessions/1/begin")
        post("/sessions/1/read", {"key": f"k{value % 50}"})
        write(1, f"k{value % 50}", value)
        post("/sessions/1/commit")

    post("/sessions")
    post("/sessions")
    for value in range(1, transactions + 1):
        increment(value)
    for step in ("begin", "read", None, "commit"):
        for session in (1, 2):
            if step is None:
                write(session, "hot", transactions + session)
            else:
                post(f"/sessions/{session}/{step}", {"key": "hot"} if step == "read" else None)
    violated = time.monotonic()
    value = transactions + 2
    with open(times, "w", encoding="utf-8", buffering=1) as out:
        while time.monotonic() < violated + LONGEST:
            value += 1
            increment(value)
            out.write(f"{time.monotonic() - violated:.4f}\n")


def delay(cupel, transactions):
    with tempfile.TemporaryDirectory() as folder:
        times = pathlib.Path(folder, "times")
        command = [cupel, "mock", "test", "--level", "causal", "--live", "snapshot-isolation", "--iterations", "1",
                   "--time-limit", "10m", "--history", str(pathlib.Path(folder, "h.jsonl")), "--shrink-time", "0", "--",
                   sys.executable, __file__, "--load", str(transactions), str(times)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 1 or "(--live)" not in ran.stdout:
            raise SystemExit(f"expected a violation:\n{ran.stdout}{ran.stderr}")
        written = times.read_text(encoding="utf-8").split("\n") if times.exists() else []
        return float(written[-2]) if len(written) > 1 else 0.0


def main():
    if sys.argv[1:2] == ["--load"]:
        load(int(sys.argv[2]), sys.argv[3])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cupel")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--transactions", type=int, nargs="+", default=[100, 1000, 5000, 20000])
    asked = parser.parse_args()
    for transactions in asked.transactions:
        delays = [delay(asked.cupel, transactions) for _ in range(asked.rounds)]
        print(f"{transactions} transactions: median {statistics.median(delays):.3f} s, longest {max(delays):.3f} s",
              flush=True)


if __name__ == "__main__":
    main()
