"""SIGKILL at random moments of `run`, `campaign`, `watch` and `mock`.

What is on the disk reads back and accuses nobody, a campaign goes on where it was, a watched history is the one
that was fed, the mock and the watch serve again on the same port and socket, and no process of the killed one and no
lock is left."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

import common


def descendants(pid):
    """The processes of a process's group and session, besides itself, with their command lines."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == pid:
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except (OSError, IndexError):
            continue
        if int(fields[3]) == pid and fields[0] != "Z":  # of its session
            found[int(entry.name)] = line
    return found


def killed(part, arguments, moment, env=None, ready=None):
    """Starts cupel in a session of its own, kills it, and returns what it had said on standard output."""
    part.tries += 1
    with open(part.work / "stdout", "wb") as out, open(part.work / "stderr", "wb") as err:
        process = subprocess.Popen([part.cupel, *map(str, arguments)], cwd=part.work, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err, start_new_session=True,
                                   env=None if env is None else {**os.environ, **env})
    if ready is not None:
        ready(process)
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    code = process.wait()
    end = time.monotonic() + 10
    while (left := descendants(process.pid)) and time.monotonic() < end:
        time.sleep(0.05)
    if left:
        part.fail(f"killed after {moment:.3f} s, {' '.join(map(str, arguments))} leaves processes: {left}")
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    return code, (part.work / "stdout").read_text(errors="replace")


def kill_run(part, ending):
    name = f"run.{ending}"
    (part.work / name).unlink(missing_ok=True)
    moment = part.random.uniform(0, 0.4)
    killed(part, ["run", "--sessions", "4", "--txns", "400", "--rate", "4000", "--seed", part.random.randrange(1000),
                  "-o", name], moment, env={"TMPDIR": str(part.work / "tmp")})
    # Under which name it was at this moment: a history in another format is recorded first.
    for path in sorted(part.work.glob("run.*")):
        if path.stat().st_size > 0:
            checked = part.run(["check", "--shrink-time", "0", "--timeout", "20s", path])
            lines = path.read_bytes().count(b"\n") if path.suffix == ".jsonl" else 0
            if checked is None or checked.returncode == 1:
                part.fail(f"{path.name}, killed after {moment:.3f} s, accuses SQLite: {checked and checked.text[:500]}")
            elif checked.returncode == 3 and lines > 10:
                part.fail(f"{path.name} of {lines} lines, killed after {moment:.3f} s: {checked.errors[:300]}")
        path.unlink()
    return 1


def clears_up(part):
    """A run removes the temporary folders that killed ones left; one killed before it locked its folder leaves an empty one."""
    folder = part.work / "tmp"
    part.must(["run", "--sessions", "1", "--txns", "2", "-o", "last.jsonl"], 0, env={"TMPDIR": str(folder)})
    left = [path for path in folder.iterdir() if any(path.iterdir())]
    if left:
        part.fail(f"killed runs left {left}, and the next run did not remove them")


def kill_campaign(part):
    folder = part.work / "campaign"
    shutil.rmtree(folder, ignore_errors=True)
    runs = 12
    part.file("campaign.json", json.dumps({"databases": [{"name": "SQLite", "url": ""}], "workloads": ["mini"],
                                           "seeds": runs, "sessions": 2, "txns": 20}))
    arguments = ["campaign", "campaign.json", "-q", "-o", "campaign", "--jobs", part.random.choice(["1", "2"])]
    kills = part.random.randrange(1, 4)
    for _ in range(kills):
        killed(part, arguments, part.random.uniform(0, 0.25), env={"TMPDIR": str(part.work / "tmp")})
    ended = part.must(arguments, 0)
    results = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()] if ended else []
    seeds = sorted(result.get("seed", -1) for result in results)
    if ended and len(results) != runs or len(set(map(str, seeds))) != len(seeds):
        part.fail(f"a campaign of {runs} runs, killed {kills} times, has results for the seeds {seeds}")
    return kills


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def post(port, sql, password=None):
    bearer = b"Authorization: Bearer %s\r\n" % password.encode() if password else b""
    body = json.dumps({"sql": sql}).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(b"POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
                       b"%sContent-Length: %d\r\n\r\n%s" % (bearer, len(body), body))
        answer = b""
        while piece := client.recv(65536):
            answer += piece
        return answer


def wait_for(port, process):
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.01)


def kill_mock(part):
    port = free_port()
    arguments = ["mock", "--http", str(port), "--history", "mock.jsonl"]

    def load(process):
        wait_for(port, process)
        for number in range(part.random.randrange(5)):
            try:
                post(port, f"create table t{number} (id int primary key)")
            except OSError:
                pass

    (part.work / "mock.jsonl").write_text("an earlier one\n")
    killed(part, arguments, part.random.uniform(0, 0.05), ready=load)
    if (part.work / "mock.jsonl").read_text() != "an earlier one\n":
        part.fail("a mock that was killed changed the history of an earlier one")
    process = subprocess.Popen([part.cupel, *arguments], cwd=part.work, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    wait_for(port, process)
    try:
        if b"[[1]]" not in post(port, "select 1"):
            part.fail("the mock does not serve again on the port of one that was killed")
    except OSError as error:
        part.fail(f"the mock does not serve again on the port of one that was killed: {error}")
    process.send_signal(signal.SIGTERM)
    errors = process.stderr.read().decode()
    if process.wait(timeout=60) != 0:
        part.fail(f"the mock after one that was killed ends with {process.returncode}: {errors}")
    return 1


def kill_lab(part):
    """The servers of a run that was killed go with it; the lab has no server, no folder and no lock of them."""
    env = {"XDG_STATE_HOME": str(part.work / "state"), "TMPDIR": str(part.work / "tmp")}
    (part.work / "lab.jsonl").unlink(missing_ok=True)
    killed(part, ["run", "--db", "lab:redis", "--workload", "lwt", "--sessions", "2", "--txns", "100", "--rate", "100",
                  "-o", "lab.jsonl"], part.random.uniform(0, 1.5), env=env)
    listed = part.must(["lab", "list"], 0, env=env)
    part.must(["lab", "stop", "all"], 0, env=env)
    again = part.run(["lab", "list"], env=env)
    if listed and again and "redis" in again.text:
        part.fail(f"after a kill the lab still has: {again.text}")
    servers = subprocess.run(["pgrep", "-af", f"redis-server.*{part.work}"], capture_output=True, text=True, check=False)
    if servers.stdout:
        part.fail(f"after a kill a server runs: {servers.stdout}")
    return 1


class Feeder(threading.Thread):
    """Writes a history to a file, a named pipe or a socket, a bit at a time, until nobody reads any more."""

    def __init__(self, fed, kind, path, pause, patience=15):
        super().__init__(daemon=True)
        self.fed, self.kind, self.path, self.pause = fed, kind, path, pause
        self.end = time.monotonic() + patience
        self.over = False

    def open(self):
        while time.monotonic() < self.end and not self.over:
            try:
                if self.kind == "file":
                    return open(self.path, "ab", buffering=0)
                if self.kind == "pipe":
                    return open(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK), "wb", buffering=0)
                client = socket.socket(socket.AF_UNIX)
                client.connect(str(self.path))
                return client.makefile("wb", buffering=0)
            except OSError:  # nobody reads yet
                time.sleep(0.005)
        return None

    def run(self):
        to = self.open()
        at = 0
        while to is not None and at < len(self.fed) and not self.over:
            try:
                at += to.write(self.fed[at:at + 20_000]) or 0
            except OSError:
                break
            time.sleep(self.pause)
        if to is not None:
            to.close()


def kill_watch(part):
    """Of a file that grows, a named pipe and a socket. What was recorded is what was fed, up to some line, and accuses
    nobody; a second watch of the same place works, and says of the whole what it says without any kill."""
    (part.work / "watch.tmp").mkdir(exist_ok=True)
    fed_file = part.work / "fed.jsonl"
    if not fed_file.exists():
        part.must(["run", "-q", "--sessions", "4", "--txns", "1500", "--seed", "1", "-o", fed_file], 0,
                  env={"TMPDIR": str(part.work / "watch.tmp")})
    fed = fed_file.read_bytes()
    kind = part.random.choice(["file", "pipe", "socket"])
    grown, kept, place = part.work / "grown.jsonl", part.work / "kept.jsonl", part.work / "place"
    for path in (grown, kept, place):
        path.unlink(missing_ok=True)
    grown.touch()
    if kind == "pipe":
        os.mkfifo(place)
    source = {"file": [grown], "pipe": [place, "-o", kept], "socket": [f"unix:{place}", "-o", kept]}[kind]
    feeders = []

    def feed(_, pause):
        feeders.append(Feeder(fed, kind, grown if kind == "file" else place, pause))
        feeders[-1].start()

    moment = part.random.uniform(0, 0.6)
    code, _ = killed(part, ["watch", "-q", *source], moment, env={"TMPDIR": str(part.work / "watch.tmp")},
                     ready=lambda process: feed(process, 0.002))
    feeders[-1].over = True
    feeders[-1].join()
    if code != -signal.SIGKILL and code != 0:
        part.fail(f"a watch of a {kind} ended with {code} before it was killed: "
                  f"{(part.work / 'stderr').read_text(errors='replace')[:500]}")
    record = grown if kind == "file" else kept
    content = record.read_bytes() if record.exists() else b""
    if kind != "socket" and not fed.startswith(content):
        part.fail(f"a watch of a {kind}, killed after {moment:.3f} s, recorded something else than it was fed")
    if content.count(b"\n") > 10:
        for arguments in (["check", "--shrink-time", "0", "--timeout", "20s", record], ["watch", "-q", "--no-follow", record]):
            again = part.run(arguments)
            if again is None or again.returncode not in (0, 2):
                part.fail(f"what a watch of a {kind}, killed after {moment:.3f} s, left: {arguments[0]} ends with "
                          f"{again and again.returncode}: {again and (again.text + again.errors)[:500]}")
    left = list((part.work / "watch.tmp").iterdir())
    if left:
        part.fail(f"a watch of a {kind}, killed after {moment:.3f} s, leaves {left}")
    # The whole, where the killed one was: the name of a socket that nobody listens on is no lock.
    kept.unlink(missing_ok=True)
    grown.write_bytes(b"")
    part.tries += 1
    with open(part.work / "stderr", "wb") as errors:
        second = subprocess.Popen([part.cupel, "watch", "-q", *map(str, source), "--end-after", "2s", "--recorders", "1"],
                                  cwd=part.work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
    feed(second, 0)
    ended = second.wait(timeout=60)
    feeders[-1].join()
    if ended != 0:
        part.fail(f"the watch of a {kind} after one that was killed ends with {ended}: "
                  f"{(part.work / 'stderr').read_text(errors='replace')[:500]}")
    return 1


def torture(part):
    (part.work / "tmp").mkdir()
    kinds = [("run", lambda: kill_run(part, "jsonl")), ("run to .cupel", lambda: kill_run(part, "cupel")),
             ("campaign", lambda: kill_campaign(part)),
             ("watch", lambda: kill_watch(part)), ("mock", lambda: kill_mock(part))]
    if shutil.which("redis-server"):
        kinds.append(("lab", lambda: kill_lab(part)))
    counts = dict.fromkeys((name for name, _ in kinds), 0)
    rounds = 0
    while part.time_left() > 0:
        rounds += 1
        for name, kill in kinds:
            if part.time_left() > 0 and (name != "lab" or rounds % 10 == 1):  # it takes seconds
                counts[name] += kill()
    clears_up(part)
    part.note("killed: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))
