"""Strangers at the ports of the mock: random, slow, half and enormous messages, and 1,000 connections.

The server lives, it does not grow without bound, and an honest client is served within a second."""

import os
import re
import select
import socket
import struct
import subprocess
import threading
import time

import common
import kill

WAIT = 1.0  # seconds for an honest client
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


def report(part, where, honest):
    if honest.errors:
        part.fail(f"{where}: {len(honest.errors)} honest clients were not served, such as: {honest.errors[0]}")
    slow = [seconds for seconds in honest.times if seconds > WAIT]
    if slow:
        part.fail(f"{where}: {len(slow)} of {len(honest.times)} honest clients waited for up to {max(slow):.2f} s")
    return f"{where}: {len(honest.times):,} honest, at most {max(honest.times, default=0) * 1000:.0f} ms"


def attack(part, where, pid, port, pieces, ask, seconds):
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
    part.note(f"{report(part, where, honest)}, {sum(s.sent for s in strangers):,} strangers")


def crowd(part, where, port, first, ask):
    """1,000 connections that do nothing, or nothing after their first words, and an honest client beside them."""
    idle = []
    for _ in range(CONNECTIONS):
        try:
            client = socket.create_connection(("127.0.0.1", port), timeout=2)
            client.sendall(first)
            idle.append(client)
        except OSError:
            pass
    honest = Honest(ask, port, time.monotonic() + 3)
    honest.run()
    part.note(report(part, f"{where} beside {len(idle):,} connections", honest))
    for client in idle:
        client.close()
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            ask(port)
            return
        except OSError:
            time.sleep(0.1)
    part.fail(f"{where}: nobody is served after {CONNECTIONS:,} connections were closed")


def torture(part):
    soft_limit = subprocess.run("ulimit -n", shell=True, capture_output=True, text=True, check=True).stdout.strip()
    part.note(f"{soft_limit} open files")
    http, postgres = kill.free_port(), kill.free_port()
    part.tries += 1
    with open(part.work / "errors", "wb") as errors:
        mock = subprocess.Popen([part.cupel, "mock", "--http", str(http), "--pg", str(postgres), "--history", "h.jsonl"],
                                cwd=part.work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
    kill.wait_for(http, mock)
    share = max(part.time_left() / 4, 2)
    attack(part, "PostgreSQL", mock.pid, postgres, postgres_pieces, honest_postgres, share)
    attack(part, "HTTP", mock.pid, http, http_pieces, honest_http, share)
    crowd(part, "PostgreSQL", postgres, b"\0", honest_postgres)
    crowd(part, "PostgreSQL, authenticated,", postgres, startup(), honest_postgres)
    crowd(part, "HTTP", http, b"POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Le", honest_http)
    if mock.poll() is not None:
        part.fail(f"the server ended with {mock.returncode}")
    mock.terminate()
    try:
        code = mock.wait(timeout=60)
    except subprocess.TimeoutExpired:
        mock.kill()
        part.fail("the server does not end")
        return
    said = (part.work / "errors").read_text(errors="replace")
    if code != 0 or common.CRASH.search(said):
        part.fail(f"the server ends with {code}: {said[-1000:]}")
    elif os.path.exists(part.work / "h.jsonl"):
        part.must(["check", "-l", "causal", "--timeout", "60s", "h.jsonl"], 0)
