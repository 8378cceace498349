#!/usr/bin/env python3
"""Runs `cupel run --live` for hours, writes down its memory, and can make the database lose an update on the way.

    tools/live_soak.py build/release/cupel soak.json --db lab:postgres --hours 2
    tools/live_soak.py build/release/cupel soak.json --db sqlite:/tmp/soak.db --hours 2 --lose-update-after 3600

To lose an update, a client that nobody records writes back a value which was overwritten meanwhile: what a database
does that loses an update. The result is one JSON object: the memory each minute while the load went on, the verdict,
and how long after the loss the load was over. A server of lab:KIND is started for this run, and stopped after it.
"""

import argparse
import json
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cupel")
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--db", required=True, help="sqlite:PATH, postgres://…, mysql://… or lab:KIND")
    parser.add_argument("--hours", type=float, default=2)
    parser.add_argument("--rate", type=float, default=0, help="transactions a second; 0: as many as possible")
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--workload", default="mini")
    parser.add_argument("--isolation", help="by the database's own name")
    parser.add_argument("--level", help="the level that is watched; by default what the database promises")
    parser.add_argument("--keys", type=int, default=20)
    parser.add_argument("--lose-update-after", type=float, metavar="SECONDS")
    return parser.parse_args()


# Runs one statement outside of the run, and returns the rows as lists of texts.
def ask(url, statement):
    if url.startswith("sqlite:"):
        with sqlite3.connect(url[len("sqlite:"):], timeout=60) as connection:
            return [[str(field) for field in row] for row in connection.execute(statement).fetchall()]
    if url.startswith("postgres"):
        command = ["psql", url, "-At", "-F", "\t", "-c", statement]
    else:
        at = urllib.parse.urlsplit(url)
        command = ["mariadb", "-N", "-B", "-h", at.hostname, "-P", str(at.port), "-u", at.username or "root",
                   at.path.lstrip("/"), "-e", statement]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    return [line.split("\t") for line in answer.splitlines()]


def table_of(url):
    listing = ("SELECT name FROM sqlite_master WHERE type = 'table'" if url.startswith("sqlite:")
               else "SELECT table_name FROM information_schema.tables")
    names = [row[0] for row in ask(url, listing) if re.fullmatch(r"cupel_kv_[0-9a-f]+", row[0])]
    if len(names) != 1:
        sys.exit(f"live_soak: expected one table cupel_kv_… of the run, found {names}")
    return names[0]


# Writes an overwritten value back. Returns when.
def lose_update(url):
    table = table_of(url)
    before = dict(ask(url, f"SELECT k, v FROM {table}"))
    while True:
        for key, value in ask(url, f"SELECT k, v FROM {table}"):
            if before.get(key, value) != value and before[key] not in ("None", "NULL", ""):
                ask(url, f"UPDATE {table} SET v = {int(before[key])} WHERE k = {int(key)}")
                return time.time()
        time.sleep(0.005)


def resident_mb(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return round(int(found[1]) / 1024, 1) if found else None


def soak(asked, url, folder):
    history = folder / "history"
    command = [asked.cupel, "run", "--live", "--json", "--db", url, "--workload", asked.workload, "--rotate", "64M",
               "--keys", str(asked.keys), "--sessions", str(asked.sessions), "--txns", "0",
               "--time-limit", f"{int(asked.hours * 3600)}s", "-o", str(history)]
    if asked.isolation:
        command += ["--isolation", asked.isolation]
    if asked.level:
        command += ["--level", asked.level]
    if asked.rate:
        command += ["--rate", str(asked.rate)]
    begin = time.time()
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    memory, lost = [], None
    while run.poll() is None and time.time() < begin + asked.hours * 3600:
        if asked.lose_update_after and lost is None and time.time() > begin + asked.lose_update_after:
            lost = lose_update(url)
        if not memory or time.time() > begin + 60 * len(memory):
            memory.append(resident_mb(run.pid))
        time.sleep(0.1)
    output, messages = run.communicate()
    ended = time.time()
    answer = json.loads(output) if output.startswith("{") else {"output": output}
    result = {"command": command[1:], "exit_code": run.returncode, "run": answer.get("run", answer),
              "strongest_satisfied": answer.get("strongest_satisfied"),
              "weakest_violated": answer.get("weakest_violated"), "resident_mb_each_minute": memory,
              "messages": messages[-2000:]}
    if lost is not None:
        result["lost_at_second"] = round(lost - begin, 3)
        result["ended_seconds_after_loss"] = round(ended - lost, 3)
    return result


def main():
    asked = arguments()
    with tempfile.TemporaryDirectory(prefix="cupel-soak-") as folder:
        server = None
        url = asked.db
        if url.startswith("lab:"):
            server = "soak-" + str(int(time.time() * 1000) % 10**9)
            url = subprocess.run([asked.cupel, "lab", "start", url[len("lab:"):], "--name", server], capture_output=True,
                                 text=True, check=True).stdout.strip()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        try:
            result = soak(asked, url, pathlib.Path(folder))
        finally:
            if server:
                subprocess.run([asked.cupel, "lab", "stop", server], check=False)
    asked.result.write_text(json.dumps(result, indent=1) + "\n")
    if result["exit_code"] == 3:
        sys.exit(f"live_soak: the run failed: {result['messages'].strip()}")
    if asked.lose_update_after and "lost_at_second" not in result:
        sys.exit("live_soak: the run was over before an update could be lost")


if __name__ == "__main__":
    main()
