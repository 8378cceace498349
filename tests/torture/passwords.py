"""Passwords: in no process list, history, report, log, error or file that others can read."""

import os
import pathlib
import subprocess
import threading
import time

import kill

SECRET = "zEbRa-51-pAsSwOrD"


class ProcessList(threading.Thread):
    """Looks at the command lines of all processes, again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen = {}
        self.looks = 0
        self.over = False

    def run(self):
        own = os.getpid()
        while not self.over:
            self.looks += 1
            for entry in pathlib.Path("/proc").iterdir():
                if not entry.name.isdigit() or int(entry.name) == own:
                    continue
                try:
                    line = (entry / "cmdline").read_bytes()
                    if SECRET.encode() not in line:
                        self.seen.pop(entry.name, None)
                        continue
                    # cupel itself hides it once it runs, which takes it a moment.
                    first = self.seen.setdefault(entry.name, time.monotonic())
                    if time.monotonic() - first > 0.5 and first > 0:
                        print("process list:", line.replace(b"\0", b" ").decode(errors="replace")[:300], flush=True)
                        self.seen[entry.name] = -1.0
                except OSError:
                    pass
            time.sleep(0.05)

    def found(self):
        return any(first < 0 for first in self.seen.values())


def torture(part):
    watch = ProcessList()
    watch.start()
    unreachable = kill.free_port()
    urls = [f"postgres://ann:{SECRET}@127.0.0.1:{unreachable}/shop", f"mysql://ann:{SECRET}@127.0.0.1:{unreachable}/shop",
            f"redis://:{SECRET}@127.0.0.1:{unreachable}", f"nats://ann:{SECRET}@127.0.0.1:{unreachable}",
            f"postgres://ann:{SECRET}@[::/shop", f"postgres://ann:{SECRET}/x@127.0.0.1/shop", f"oracle://ann:{SECRET}@h/shop",
            f"etcd://ann:{SECRET}@127.0.0.1:{unreachable}", f"postgres://127.0.0.1:{unreachable}/shop?password={SECRET}",
            f"zookeeper://ann:{SECRET}@h", f"dqlite://ann:{SECRET}@h", f"postgres://ann:{SECRET}@127.0.0.1:{unreachable}:1/x"]
    for number, url in enumerate(urls):
        part.file("c.json", '{"databases": [{"name": "D", "url": "%s"}], "workloads": ["mini"], "sessions": 1, "txns": 2}' % url)
        for arguments in (["run", "--db", url, "--sessions", "1", "--txns", "2", "-o", f"run{number}.jsonl"],
                          ["campaign", "c.json", "-o", f"campaign{number}"],
                          ["mock", "test", "--on", url, "--iterations", "1", "--", "true"],
                          ["run", f"--db={url}", "--no-such-option"], ["check", url]):
            ran = part.run(arguments, timeout=60, env={"XDG_STATE_HOME": str(part.work / "state")})
            if ran is not None and SECRET in ran.text + ran.errors:
                part.fail(f"the password is in what `{arguments[0]}` says about {url.replace(SECRET, '…')}: "
                          f"{(ran.errors + ran.text)[:400]}")
    port = kill.free_port()
    with open(part.work / "mock.out", "wb") as out:
        mock = subprocess.Popen([part.cupel, "mock", "--http", str(port), "--password", SECRET, "--history", "mock.jsonl"],
                                cwd=part.work, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    part.tries += 1
    kill.wait_for(port, mock)
    if b"28P01" not in kill.post(port, "select 1"):
        part.fail("the mock answers without its password")
    time.sleep(1.5)
    mock.terminate()
    mock.wait(timeout=60)
    watch.over = True
    watch.join()
    if watch.found():
        part.fail("the password is in the process list")
    for path in part.work.rglob("*"):
        if path.is_file() and path.name != "c.json" and SECRET.encode() in path.read_bytes():
            part.fail(f"the password is in {path.relative_to(part.work)} (mode {oct(path.stat().st_mode & 0o777)})")
    part.note(f"{len(urls)} URLs in 5 commands each, {watch.looks} looks at the process list")
