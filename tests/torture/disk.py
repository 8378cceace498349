"""Every write of a command fails once, or from there on: ENOSPC, EIO, and short counts.

An error of the disk is an error that names a file and the system's reason, or it does no harm: then
the output is the usual one. A short write is never an error. A history that a failed run leaves is read
up to its end and convicts nobody: SQLite keeps its promise whatever the disk does."""

import itertools
import os
import re
import shutil
import subprocess

import common

HOW = ["full", "error", "short"]
WATCHED_LOST_UPDATE = b"""\
{"type":"invoke","process":0,"f":"txn","value":[["r",1,null],["w",1,1]],"time":1}
{"type":"invoke","process":1,"f":"txn","value":[["r",1,null],["w",1,2]],"time":2}
{"type":"ok","process":0,"f":"txn","value":[["r",1,null],["w",1,1]],"time":3}
{"type":"ok","process":1,"f":"txn","value":[["r",1,null],["w",1,2]],"time":4}
"""
# SQLite does not pass on the system's reason.
REASON = {"full": "No space left on device|disk is full|disk I/O error",
          "error": "Input/output error|disk I/O error"}
# Numbers that differ from run to run.
VARIABLE = re.compile(rb"\d+\.\d+ s|(?<=class=\"figure\">)\d+\.\d+|time=\"[0-9.]+\"|\"seconds\":[0-9.e-]+|\b\d+(\.\d+)? ms\b|cupel-[A-Za-z0-9]{6}")


def holds(text, committed):
    """Whether the history has these transactions. A connection that broke is a reason for final reads,
    which are one more."""
    count = int(committed.replace(",", ""))
    return any(f"({count + more:,} committed)" in text for more in (0, 1))


def shim(work):
    library = work / "failing_writes.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", library,
                    common.HERE / "failing_writes.c", "-ldl"], check=True)
    return library


class Commands:
    """Each: a name, the arguments, the files that it makes (relative), and whether they are always the same. `fed`: what
    a command reads from standard input, by name."""

    def __init__(self, part):
        part.file("lost.txt", common.LOST_UPDATE)
        part.must(["generate", "--level", "causal", "--sessions", "6", "--txns", "60", "--keys", "20", "--seed", "3",
                   "-o", "causal.jsonl"])
        part.file("campaign.json", '{"databases": [{"name": "SQLite", "url": ""}], "workloads": ["mini"],'
                                   ' "seeds": 2, "sessions": 2, "txns": 5}')
        self.set_up_merges(part)
        part.must(["run", "-q", "--sessions", "2", "--txns", "20", "--seed", "1", "-o", "watched.jsonl"])
        watched = (part.work / "watched.jsonl").read_bytes()
        self.fed = {"watch": watched, "watch-report": WATCHED_LOST_UPDATE}
        self.all = [
            ("watch", ["watch", "-q", "-", "-o", "out/kept.jsonl"], ["out/kept.jsonl"], True),
            ("watch-report", ["watch", "-q", "-l", "serializable", "--shrink-time", "0", "--report", "out/report", "--certificate",
                              "out/proof.json", "-", "-o", "out/kept.jsonl"],
             ["out/kept.jsonl", "out/proof.json", "out/report/index.html"], True),
            ("merge-results", ["merge", "-o", "out/merged.jsonl", "results.json"], ["out/merged.jsonl"], True),
            ("merge-campaigns", ["merge", "-o", "out/campaign", "shards"], [], False),
            ("merge-histories", ["merge", "-o", "out/whole.jsonl", "worker0.jsonl", "worker2.jsonl"], ["out/whole.jsonl"], True),
            ("run", ["run", "--sessions", "2", "--txns", "20", "--seed", "1", "--overwrite", "-o", "out/run.jsonl"],
             ["out/run.jsonl"], False),
            ("run-cupel", ["run", "--sessions", "2", "--txns", "20", "--seed", "1", "--overwrite", "-o", "out/run.cupel"],
             ["out/run.cupel"], False),
            ("report", ["check", "--shrink-time", "0", "--report", "out/report", "lost.txt"],
             ["out/report/index.html", "out/report/counterexample-1.svg", "out/report/counterexample-1.dot"], True),
            ("certificate", ["check", "--shrink-time", "0", "--certificate", "out/proof.json", "lost.txt"],
             ["out/proof.json"], True),
            ("emit", ["check", "--shrink-time", "0", "--emit", "markdown=out/m.md,sql=out/s.sql,junit=out/j.xml,"
                      "sarif=out/a.json,github=out/g.md,plume=out/p.txt,jepsen=out/p.jsonl", "lost.txt"],
             ["out/m.md", "out/s.sql", "out/j.xml", "out/a.json", "out/g.md", "out/p.txt", "out/p.jsonl"], True),
            ("generate", ["generate", "--level", "causal", "--sessions", "3", "--txns", "20", "--seed", "1", "-o",
                          "out/made.jsonl"], ["out/made.jsonl"], True),
            ("campaign", ["campaign", "campaign.json", "-q", "-o", "out/campaign"], [], False),
            ("lab", ["lab", "start", "redis"], [], False),
        ]
        for ending in ("cupel", "jsonl", "edn", "txt", "bincode"):
            self.all.append((f"convert-{ending}", ["convert", "causal.jsonl", f"out/converted.{ending}"]
                             + (["-t", "plume"] if ending == "txt" else []), [f"out/converted.{ending}"], True))


    @staticmethod
    def set_up_merges(part):
        """What two workers, a campaign in two parts, and a check of several files leave."""
        tables = ["run", "-q", "--tables", "t", "--db", f"sqlite:{part.work}/shared.db"]
        part.must([*tables, "--make-tables"])
        for offset in ("0", "2"):
            part.must([*tables, "--session-offset", offset, "--all-sessions", "4", "--sessions", "2", "--txns", "10", "--seed", "1",
                       "-o", f"worker{offset}.jsonl"])
        for shard in ("1/2", "2/2"):
            part.must(["campaign", "campaign.json", "-q", "--shard", shard, "-o", "shards"])
        checked = part.must(["check", "--json", "--shrink-time", "0", "lost.txt", "causal.jsonl"], 1)
        part.file("results.json", checked.stdout)


def content(part, files):
    read = []
    for name in files:
        path = part.work / name
        read.append(VARIABLE.sub(b"", path.read_bytes()) if path.exists() else None)
    return read


def differences(left, right):
    """The first lines in which two outputs differ."""
    for one, other in zip(left, right):
        for a, b in itertools.zip_longest((one or b"").splitlines(), (other or b"").splitlines()):
            if a != b:
                return f"{a and a[:200]} / {b and b[:200]}"
    return "a file is missing"


def torture(part):
    library = shim(part.work)
    commands = Commands(part)
    state = part.work / "state"
    base = {"LD_PRELOAD": str(library), "FAILING_WRITES_PROGRAM": os.path.basename(part.cupel),
            "FAILING_WRITES_TOTAL": str(part.work / "total"), "XDG_STATE_HOME": str(state), "NO_COLOR": "1",
            "GITHUB_STEP_SUMMARY": ""}

    def attempt(name, arguments, place=0, count=0, how="full"):
        shutil.rmtree(part.work / "out", ignore_errors=True)
        (part.work / "out").mkdir()
        env = {**base, "FAILING_WRITES_FROM": str(place), "FAILING_WRITES_COUNT": str(count), "FAILING_WRITES_HOW": how}
        ran = part.run(arguments, env=env, stdin=commands.fed.get(name))
        if arguments[0] == "lab":
            part.run(["lab", "stop", "all"], env={"XDG_STATE_HOME": str(state)})
        return ran

    plans = []
    for name, arguments, files, constant in commands.all:
        usual = attempt(name, arguments)
        if usual is None or usual.returncode == 3:
            if arguments[0] == "lab" and usual is not None and "not installed" in usual.errors:
                part.note("lab was left out: " + usual.errors.strip()[:120])
                continue
            part.fail(f"{name} fails without any failing write: {usual and usual.errors[:500]}")
            continue
        writes = int((part.work / "total").read_text())
        if writes == 0:
            part.fail(f"{name} writes nothing that could fail")
        kept = content(part, files)
        places = list(range(1, writes + 1))
        part.random.shuffle(places)
        plans.append((name, arguments, files, constant, usual, kept, places))

    def judge(name, arguments, files, constant, usual, kept, place, count, how):
        where = f"{name}, write {place}{'' if count else ' and all after it'}, {how}"
        ran = attempt(name, arguments, place, count, how)
        if ran is None:
            return
        if how == "short":
            if ran.returncode != usual.returncode:
                part.fail(f"{where}: exit code {ran.returncode}, expected {usual.returncode}: {ran.errors[:500]}")
            elif constant and content(part, files) != kept:
                part.fail(f"{where}: the output is another one: {differences(kept, content(part, files))}")
        elif ran.returncode == 3:
            if not re.search(REASON[how], ran.errors + ran.text):
                part.fail(f"{where}: the error does not say why: {ran.errors[:500]}{ran.text[:500]}")
        elif ran.returncode != usual.returncode:
            part.fail(f"{where}: exit code {ran.returncode}, expected {usual.returncode} or 3: "
                      f"{ran.text[-500:]}{ran.errors[:500]}")
        elif constant and content(part, files) != kept:
            part.fail(f"{where}: exit code {ran.returncode}, but the output is another one")
        for file in files:
            path = part.work / file
            if not (name.startswith("run") or name == "watch") or not path.exists() or path.stat().st_size == 0:
                continue
            checked = part.run(["check", "--shrink-time", "0", str(path)])
            if checked is not None and checked.returncode == 1:
                part.fail(f"{where}: the history that is left accuses SQLite: {checked.text[:1000]}")
            committed = re.search(r"([\d,]+) committed", ran.text)
            if ran.returncode == 0 and (checked is None or checked.returncode != 0):
                part.fail(f"{where}: the run ended well and its history does not: {checked and checked.errors[:500]}")
            elif name.startswith("run") and ran.returncode == 0 and committed and not holds(checked.text, committed[1]):
                part.fail(f"{where}: {committed[0]}, and not in the history: {checked.text[:300]}")
        leftover = [str(p) for p in (part.work / "out").rglob("*")
                    if p.name.endswith((".new", ".partial")) and p.is_file()]
        if leftover and how != "short" and name != "campaign":
            part.fail(f"{where}: {leftover} was left")

    # Every place if there is time, else as many as there is time for, of each command alike.
    queues = [list(itertools.product(plan[6], (1, 0), HOW)) for plan in plans]
    for queue in queues:
        part.random.shuffle(queue)
    total = sum(map(len, queues))
    done = 0
    while any(queues) and part.time_left() > 0:
        for plan, queue in zip(plans, queues):
            if queue and part.time_left() > 0:
                place, count, how = queue.pop()
                judge(*plan[:6], place, count, how)
                done += 1
    part.note(f"{done:,} of {total:,} failures of {sum(len(plan[6]) for plan in plans):,} writes of {len(plans)} commands")
