"""Strangers at the ports of the mock: random, slow, half and enormous messages, and 1,000 connections.

The server lives, it does not grow without bound, and an honest client is served within a second. The protocols
are PostgreSQL's, HTTP, and MySQL's twice: of MariaDB over the mock store (`cupel mock --engine mariadb`), and of
the proxy that schedules the statements for a real one (`cupel mock test --on`), which by its purpose holds
statements until all is quiet, so that its honest client asks for nothing that anybody else could see."""

import os
import re
import select
import shutil
import socket
import struct
import subprocess
import threading
import time

import common
import kill

WAIT = 1.0  # seconds for an honest client; on a machine so loaded that a client without strangers beside it needs
LOADED = 5  # a fifth of that, so many times what that one needs
CONNECTIONS = 1000


def startup(user="x"):
    body = struct.pack(">I", 196608) + f"user\0{user}\0database\0x\0\0".encode()
    return struct.pack(">I", len(body) + 4) + body


def query(text):
    return b"Q" + struct.pack(">I", len(text) + 5) + text.encode() + b"\0"


def honest_postgres(port):
    """The time until `select 1` was answered; an exception if it was not."""
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(startup("honest") + query("select 1"))
        answer = b""
        while b"SELECT 1" not in answer:
            piece = client.recv(65536)
            if not piece:
                raise OSError(f"closed after {answer[-200:]!r}")
            answer += piece
    return time.monotonic() - begin


def honest_http(port):
    begin = time.monotonic()
    answer = kill.post(port, "select 1")
    if b"[[1]]" not in answer:
        raise OSError(f"answered {answer[:200]!r}")
    return time.monotonic() - begin


def mysql_packet(number, payload):
    return struct.pack("<I", len(payload))[:3] + bytes([number & 0xff]) + payload


def mysql_login(user="cupel", capabilities=0x8a209, database="cupel"):
    return mysql_packet(1, struct.pack("<IIB23x", capabilities, 1 << 24, 45) + user.encode() + b"\0\0" + database.encode()
                        + b"\0mysql_native_password\0")


def mysql_query(text):
    return mysql_packet(0, b"\x03" + text.encode())


def honest_mysql(port, statement="select 1", wanted=b"\x011"):
    """The time until the statement was answered; an exception if it was not."""
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        stream = client.makefile("rb")

        def packet():
            head = stream.read(4)
            if len(head) < 4:
                raise OSError("closed")
            return stream.read(int.from_bytes(head[:3], "little")), head[3]

        greeting, _ = packet()
        if greeting[:1] == b"\xff":
            raise OSError(f"refused: {greeting[3:]!r}")
        client.sendall(mysql_login())
        answer, number = packet()
        if answer[:1] == b"\xfe":  # another method, and there is no password in any
            client.sendall(mysql_packet(number + 1, b""))
            answer, _ = packet()
        if answer[:1] != b"\0":
            raise OSError(f"no login: {answer[3:]!r}")
        client.sendall(mysql_query(statement))
        seen = []
        while wanted not in seen:
            answer, _ = packet()
            if answer[:1] == b"\xff":
                raise OSError(f"answered {answer[3:]!r}")
            seen.append(answer if wanted else b"")
        client.sendall(mysql_packet(0, b"\x01"))
    return time.monotonic() - begin


def honest_proxy(port):
    # An assignment concerns nobody else, so it is never held; its answer is one packet.
    return honest_mysql(port, "set @honest = 1", b"")


def mysql_pieces(random):
    body = random.randbytes(random.choice([0, 1, 5, 40, 3000]))
    number = random.randrange(256)
    length = random.choice([0, 1, 3, 100, 65536, 0xfffffe, 0xffffff])
    lie = struct.pack("<I", length)[:3] + bytes([number])
    return random.choice([
        mysql_login(), mysql_login() + mysql_query("select 1"), mysql_login() + mysql_query("select " + "(" * 5000),
        mysql_login() + lie + body, lie + body, random.randbytes(random.randrange(1, 200)),
        mysql_login() + mysql_packet(number, bytes([random.randrange(32)]) + body),
        mysql_login() + mysql_packet(0, b"\x16select ?") + mysql_packet(0, b"\x17" + struct.pack("<IBI", 1, 0, 1) + body),
        mysql_login() + mysql_packet(0, b"\x18" + struct.pack("<IH", random.randrange(1 << 32), 0) + body),
        mysql_login() + mysql_packet(0, b"\x11x\0\xff" + body), mysql_login()[:random.randrange(1, 40)],
        mysql_login(capabilities=random.randrange(1 << 32)) + body, mysql_login("x" * 100_000),
        mysql_login() + b"\xff\xff\xff\0\x03" + b"x" * 0xfffffe + b"\xff\xff\xff\1" + b"x" * 100_000,
        mysql_login() + mysql_query("begin") + mysql_query("select 1 for update") + mysql_query("x" * 100_000)])


def postgres_pieces(random):
    kind = bytes([random.choice(b"QPBDECSHXFpdfc\0\xff")])
    length = random.choice([0, 1, 3, 4, 5, 12, 100, 65536, 1 << 22, 1 << 24, 0x7fffffff, 0x80000000, 0xffffffff])
    body = random.randbytes(random.choice([0, 1, 5, 40, 3000]))
    return random.choice([
        startup(), startup() + query("select 1"), startup() + query("select " + "(" * 5000),
        startup() + kind + struct.pack(">I", length) + body, random.randbytes(random.randrange(1, 200)),
        struct.pack(">II", 8, 80877103) + random.randbytes(40), struct.pack(">II", 16, 80877102) + random.randbytes(8),
        struct.pack(">I", length) + body, startup() + kind + struct.pack(">I", len(body) + 4) + body,
        startup()[:random.randrange(1, 20)], startup() + query("begin") + query("create table t(id int primary key)"),
        startup() + b"P" + struct.pack(">I", 1 << 24) + b"x" * 100_000, startup("x" * 100_000)])


def http_pieces(random):
    path = random.choice([b"/", b"/sql", b"/sessions", b"/sessions/1/begin", b"/" + b"a" * 100_000, b"/%ff%00", b"*"])
    method = random.choice([b"GET", b"POST", b"DELETE", b"PUT", b"OPTIONS", b"x" * 5000])
    header = random.choice([b"", b"Content-Length: 5\r\n", b"Content-Length: -1\r\n", b"Content-Length: 99999999999999999999\r\n",
                            b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\nContent-Length: 500\r\n",
                            b"Content-Type: multipart/form-data; boundary=x\r\n", b"Expect: 100-continue\r\n",
                            b"Content-Encoding: gzip\r\n", b"X: " + b"y" * 200_000 + b"\r\n", b"X: y\r\n" * 20_000,
                            b"Range: bytes=" + b"0-1," * 5000 + b"\r\n"])
    body = random.choice([b"", b"12345", b'{"sql": "select 1"}', b"{" * 5000, b"ffffffffffffffff\r\n", b"5\r\n", random.randbytes(300)])
    return random.choice([
        method + b" " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + header + b"\r\n" + body,
        random.randbytes(random.randrange(1, 300)), method + b" " + path, b"GET / HTTP/1.1\r\nHost: x\r\n" * 3,
        b"\r\n" * 1000, b"GET /" + b"a" * 3_000_000])


class Stranger(threading.Thread):
    """One after the other: opens a connection, sends a piece at once or byte by byte, reads a little, leaves somehow."""

    def __init__(self, random, port, pieces, until):
        super().__init__(daemon=True)
        self.random, self.port, self.pieces, self.until = random, port, pieces, until
        self.sent = 0

    def run(self):
        while time.monotonic() < self.until:
            try:
                self.visit()
            except OSError:
                pass
            self.sent += 1

    def visit(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=2) as client:
            for _ in range(self.random.randrange(1, 4)):
                piece = self.pieces(self.random)
                if self.random.random() < 0.1:
                    for at in range(min(len(piece), 30)):
                        client.sendall(piece[at:at + 1])
                        time.sleep(0.01)
                elif self.random.random() < 0.2:
                    client.sendall(piece[:self.random.randrange(len(piece) + 1)])
                else:
                    client.sendall(piece)
            if self.random.random() < 0.3:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
            elif self.random.random() < 0.7:
                select.select([client], [], [], 0.05)
                client.setblocking(False)
                client.recv(65536)


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as facts:
        return int(re.search(r"VmRSS:\s+(\d+)", facts.read())[1]) / 1024


class Honest(threading.Thread):
    def __init__(self, ask, port, until):
        super().__init__(daemon=True)
        self.ask, self.port, self.until = ask, port, until
        self.times, self.errors = [], []

    def run(self):
        while time.monotonic() < self.until:
            try:
                self.times.append(self.ask(self.port))
            except OSError as error:
                self.errors.append(str(error))
            time.sleep(0.1)


def patience(ask, port):
    """How long an honest client may wait here: looks how long it takes when nobody else is there."""
    alone = []
    for _ in range(3):
        try:
            alone.append(ask(port))
        except OSError:
            pass  # which the honest clients will meet, too
    return max(WAIT, LOADED * max(alone, default=0))


def report(part, where, honest, wait):
    if honest.errors:
        part.fail(f"{where}: {len(honest.errors)} honest clients were not served, such as: {honest.errors[0]}")
    if not honest.times and not honest.errors:
        part.fail(f"{where}: there was no time for an honest client")
    slow = [seconds for seconds in honest.times if seconds > wait]
    if slow:
        part.fail(f"{where}: {len(slow)} of {len(honest.times)} honest clients waited for up to {max(slow):.2f} s, "
                  f"and {wait:.2f} s are allowed")
    return f"{where}: {len(honest.times):,} honest, at most {max(honest.times, default=0) * 1000:.0f} ms"


def attack(part, where, pid, port, pieces, ask, seconds):
    wait = patience(ask, port)
    until = time.monotonic() + seconds
    strangers = [Stranger(type(part.random)(part.random.random()), port, pieces, until) for _ in range(8)]
    honest = Honest(ask, port, until)
    before = resident(pid)
    for thread in [*strangers, honest]:
        thread.start()
    for thread in [*strangers, honest]:
        thread.join(timeout=seconds + 60)
    grown = resident(pid) - before
    if grown > 500:
        part.fail(f"{where}: the server grew by {grown:.0f} MiB")
    part.note(f"{report(part, where, honest, wait)}, {sum(s.sent for s in strangers):,} strangers")


def crowd(part, where, port, first, ask, connections=CONNECTIONS):
    """Connections that do nothing, or nothing after their first words, and an honest client beside them."""
    wait = patience(ask, port)
    idle = []
    for _ in range(connections):
        try:
            client = socket.create_connection(("127.0.0.1", port), timeout=2)
            client.sendall(first)
            idle.append(client)
        except OSError:
            pass
    honest = Honest(ask, port, time.monotonic() + 3)
    honest.run()
    part.note(report(part, f"{where} beside {len(idle):,} connections", honest, wait))
    for client in idle:
        client.close()
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            ask(port)
            return
        except OSError:
            time.sleep(0.1)
    part.fail(f"{where}: nobody is served after {connections:,} connections were closed")


def mysql_engine(part, seconds):
    """MariaDB over the mock store: the strangers meet MariaDB, and cupel's store below it has to live with what they leave."""
    with open(part.work / "engine.errors", "wb") as errors:
        mock = subprocess.Popen([part.cupel, "mock", "--engine", "mariadb"], cwd=part.work, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=errors)
    part.tries += 1
    line = mock.stdout.readline().decode()
    port = re.search(r"-P (\d+)", line)
    if not port:
        mock.terminate()
        mock.wait(timeout=60)
        why = (part.work / "engine.errors").read_text(errors="replace")
        if "not installed" in why or "without" in why:
            return part.note("MariaDB over the mock store was left out: " + why.strip()[:150])
        return part.fail(f"MariaDB over the mock store does not start: {line}{why}")
    attack(part, "MySQL", mock.pid, int(port[1]), mysql_pieces, honest_mysql, seconds)
    crowd(part, "MySQL", int(port[1]), b"\1", honest_mysql)
    end(part, "MySQL", mock, part.work / "engine.errors")


def mysql_proxy(part, seconds):
    env = {**os.environ, "XDG_STATE_HOME": str(part.work / "state")}
    started = part.run(["lab", "start", "mariadb"], env=env)
    if started is None or started.returncode != 0:
        return part.note("the proxy was left out: " + (started.errors.strip()[:150] if started else ""))
    waits = "printenv MYSQL_TCP_PORT >port.new && mv port.new port; while [ ! -e stop ]; do sleep 0.1; done"
    with open(part.work / "proxy.errors", "wb") as errors:
        proxy = subprocess.Popen([part.cupel, "mock", "test", "--on", started.text.strip(), "--iterations", "1", "--", "sh",
                                  "-c", waits], cwd=part.work, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=env)
    part.tries += 1
    until = time.monotonic() + 60
    while not (part.work / "port").exists() and proxy.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    if (part.work / "port").exists():
        port = int((part.work / "port").read_text())
        attack(part, "proxy for MySQL", proxy.pid, port, mysql_pieces, honest_proxy, seconds)
        # Each is one of the server, of which the lab's allows 200.
        crowd(part, "proxy for MySQL", port, b"\1", honest_proxy, 150)
    else:
        part.fail("the proxy does not start: " + (part.work / "proxy.errors").read_text(errors="replace")[-500:])
    (part.work / "stop").touch()
    end(part, "proxy for MySQL", proxy, part.work / "proxy.errors", stop=False)
    part.must(["lab", "stop", "all"], 0, env=env)


def end(part, where, server, said, stop=True):
    if server.poll() is not None and stop:
        part.fail(f"{where}: the server ended with {server.returncode}")
    if stop:
        server.terminate()
    try:
        code = server.wait(timeout=120)
    except subprocess.TimeoutExpired:
        server.kill()
        return part.fail(f"{where}: the server does not end")
    said = said.read_text(errors="replace")
    if code not in ((0,) if stop else common.GOOD_EXIT_CODES) or common.CRASH.search(said):
        part.fail(f"{where}: the server ends with {code}: {said[-1000:]}")
    return code == 0


def torture(part):
    soft_limit = subprocess.run("ulimit -n", shell=True, capture_output=True, text=True, check=True).stdout.strip()
    part.note(f"{soft_limit} open files")
    http, postgres = kill.free_port(), kill.free_port()
    part.tries += 1
    with open(part.work / "errors", "wb") as errors:
        mock = subprocess.Popen([part.cupel, "mock", "--http", str(http), "--pg", str(postgres), "--history", "h.jsonl"],
                                cwd=part.work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
    kill.wait_for(http, mock)
    share = max(part.time_left() / (6 if shutil.which("mariadbd") else 4), 2)
    attack(part, "PostgreSQL", mock.pid, postgres, postgres_pieces, honest_postgres, share)
    attack(part, "HTTP", mock.pid, http, http_pieces, honest_http, share)
    crowd(part, "PostgreSQL", postgres, b"\0", honest_postgres)
    crowd(part, "PostgreSQL, authenticated,", postgres, startup(), honest_postgres)
    crowd(part, "HTTP", http, b"POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Le", honest_http)
    if end(part, "the mock", mock, part.work / "errors") and os.path.exists(part.work / "h.jsonl"):
        part.must(["check", "-l", "causal", "--timeout", "60s", "h.jsonl"], 0)
    if not shutil.which("mariadbd"):
        part.note("MariaDB is not installed, so MySQL's protocol was left out")
        return
    mysql_engine(part, share)
    mysql_proxy(part, share)
