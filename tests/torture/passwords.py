"""Passwords: in no process list, history, report, log, error or file that others can read."""

import os
import pathlib
import shutil
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


def with_databases(part):
    """Runs that succeed against databases that know the password: whatever they write holds it nowhere."""
    env = {"XDG_STATE_HOME": str(part.work / "state"), "TMPDIR": str(part.work / "tmp")}
    (part.work / "tmp").mkdir()
    done = []
    for kind, scheme in (("postgres", "postgres"), ("mariadb", "mysql")):
        started = part.run(["lab", "start", kind], env=env)
        if started is None or started.returncode != 0:
            part.note(f"{kind} was left out: {started and started.errors.strip()[:100]}")
            continue
        address = started.text.strip().split("@", 1)[1]
        host, port = address.split("/")[0].rsplit(":", 1)
        change = {"postgres": ["psql", "-qX", "-h", host, "-p", port, "-U", "cupel", "-d", "cupel", "-c",
                               f"alter role guarded superuser password '{SECRET}'"],
                  "mariadb": ["mariadb", "-h", host, "-P", port, "-u", "cupel", "-e",
                              f"alter user guarded identified by '{SECRET}'"]}[kind]
        if shutil.which(change[0]) is None:
            part.note(f"{kind} was left out: {change[0]} is not installed")
            continue
        changed = subprocess.run(change, capture_output=True, text=True, check=False)
        if changed.returncode != 0:
            part.fail(f"{kind}: its client cannot set the password: {changed.stderr[:300]}")
            continue
        url = f"{scheme}://guarded:{SECRET}@{address}"
        part.file("guarded.json", '{"databases": [{"name": "D", "url": "%s"}], "workloads": ["mini"], "sessions": 1, "txns": 2}' % url)
        os.chmod(part.work / "guarded.json", 0o600)
        for arguments in (["run", "--db", url, "--sessions", "2", "--txns", "5", "-o", f"{kind}.jsonl", "--report", f"{kind}.report"],
                          ["run", "--sessions", "1", "--txns", "2", "-o", f"{kind}.cupel"],
                          ["campaign", "guarded.json", "-o", f"{kind}.campaign"],
                          ["mock", "test", "--on", url, "--iterations", "1", "--history", f"{kind}.proxy.jsonl", "--", "sh", "-c",
                           "test -n \"$PGPASSWORD$MYSQL_PWD\""]):
            ran = part.run(arguments, timeout=60, env={**env, "CUPEL_DB": url} if "--db" not in arguments else env)
            if ran is None or (ran.returncode != 0 and arguments[0] != "mock"):  # which says that nobody came to the proxy
                part.fail(f"{kind}: {arguments[0]} ends with {ran and ran.returncode}: {ran and ran.errors[:300]}")
            elif SECRET in ran.text + ran.errors:
                part.fail(f"{kind}: the password is in what {arguments[0]} says: {(ran.text + ran.errors)[:400]}")
            elif arguments[0] == "campaign" and "holds a password" in ran.errors:
                part.fail("a campaign's file that only its owner can read is warned of")
        os.chmod(part.work / "guarded.json", 0o644)
        warned = part.run(["campaign", "guarded.json", "-o", f"{kind}.campaign"], env=env)
        if warned is not None and "holds a password, and other users can read it" not in warned.errors:
            part.fail("a campaign's file that others can read, with a password, is not warned of")
        (part.work / "guarded.json").unlink()
        done.append(kind)
    part.run(["lab", "stop", "all"], env=env)
    part.note(f"databases with it: {', '.join(done) or 'none'}")


def mock_with_password(part, arguments, env):
    """A mock that takes the password from no argument: it refuses who has none, and serves who has it."""
    port = kill.free_port()
    with open(part.work / "mock.out", "ab") as out:
        mock = subprocess.Popen([part.cupel, "mock", "--http", str(port), *arguments], cwd=part.work, stdin=subprocess.DEVNULL,
                                stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **env})
    part.tries += 1
    kill.wait_for(port, mock)
    if b"28P01" not in kill.post(port, "select 1"):
        part.fail(f"the mock answers without its password: {arguments}")
    if b"[[1]]" not in kill.post(port, "select 1", SECRET):
        part.fail(f"the mock does not answer with its password: {arguments}")
    mock.terminate()
    mock.wait(timeout=60)


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
    secret = part.file("secret", SECRET + "\n")
    os.chmod(secret, 0o600)
    mock_with_password(part, ["--password-file", "secret"], {})
    mock_with_password(part, [], {"CUPEL_MOCK_PASSWORD": SECRET})
    part.must(["mock", "--password", SECRET, "--password-file", "secret"], 3)
    part.must(["mock", "--password-file", "no such file"], 3)
    part.must(["mock", "--password-file", "/dev/null"], 3)
    secret.unlink()
    with_databases(part)
    watch.over = True
    watch.join()
    if watch.found():
        part.fail("the password is in the process list")
    for path in part.work.rglob("*"):
        if path.is_file() and path.name != "c.json" and SECRET.encode() in path.read_bytes():
            part.fail(f"the password is in {path.relative_to(part.work)} (mode {oct(path.stat().st_mode & 0o777)})")
    part.note(f"{len(urls)} URLs in 5 commands each, {watch.looks} looks at the process list")
