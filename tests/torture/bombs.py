"""Small or plain input that is made to need much time or memory: linear, or refused, and within the limit.

Each is checked twice as large too where it is said to be linear."""

import json
import lzma
import os
import shutil
import struct
import subprocess
import time
import zlib

MIB = 1 << 20
LIMIT = 512  # MiB, of --memory-limit


class Bomb:
    """`make`: writes the file of a size. `linear`: seconds of CPU double at most when the size does (and a bit)."""

    def __init__(self, name, size, make, code, options=(), linear=False, limit=LIMIT):
        self.name, self.size, self.make, self.code = name, size, make, code
        self.options, self.linear, self.limit = options, linear, limit


def write(path, pieces):
    with open(path, "wb") as file:
        for piece in pieces:
            file.write(piece)


def compressed(kind):
    def make(path, size):
        block = b"r(1,1,1,1)\n" * 95_325  # a MiB
        if kind == "gzip":
            packer = zlib.compressobj(9, zlib.DEFLATED, 31)
            write(path, [*(packer.compress(block) for _ in range(size)), packer.flush()])
        elif kind == "xz":
            packer = lzma.LZMACompressor()
            write(path, [*(packer.compress(block) for _ in range(size)), packer.flush()])
        else:
            packer = subprocess.Popen(["zstd", "-q", "-o", path, "-f"], stdin=subprocess.PIPE)
            for _ in range(size):
                packer.stdin.write(block)
            packer.stdin.close()
            packer.wait()
    return make


def xz_dictionary(path, _):
    """An xz file whose header asks for a dictionary of 4 GiB."""
    data = bytearray(lzma.compress(b"r(1,1,1,1)\n" * 100, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]))
    at = data.index(b"\x21\x01", 12)
    data[at + 2] = 40
    size = (data[12] + 1) * 4
    data[12 + size - 4:12 + size] = struct.pack("<I", zlib.crc32(bytes(data[12:12 + size - 4])))
    write(path, [bytes(data)])


def line(path, size):
    write(path, [b'{"type":"ok","process":0,"f":"txn","value":[["w",1,"', *([b"x" * MIB] * size), b'"]]}\n'])


def plume_line(path, size):
    write(path, [b"w(1,", *([b"1" * MIB] * size), b",0,0)\n"])


def key(path, size):
    name = "k" * (size * MIB)
    write(path, [json.dumps({"type": "ok", "process": p, "f": "txn", "value": [[f, name, 1]]}).encode() + b"\n"
                 for p, f in ((0, "w"), (1, "r"))])


def sessions(path, size):
    write(path, (b"w(%d,%d,%d,%d)\n" % (i % 1000, i, i, i) for i in range(size)))


def writers_and_readers(path, size):
    """Half of the sessions write a key, the others read one of them: as many sessions, and each has one other in its past."""
    half = size // 2
    write(path, [*(b"w(%d,%d,%d,%d)\n" % (i % 1000, i, i, i) for i in range(half)),
                 *(b"r(%d,%d,%d,%d)\n" % (i % 1000, i, half + i, half + i) for i in range(half))])


def counters(path, size):
    """Each session reads what the one before it on its key wrote, and writes the key."""
    write(path, (b"r(%d,%d,%d,%d)\nw(%d,%d,%d,%d)\n" % (i % 1000, i - 1000, i, i, i % 1000, i, i, i) if i >= 1000 else
                 b"w(%d,%d,%d,%d)\n" % (i, i, i, i) for i in range(size)))


def reads(path, size):
    write(path, [b"w(1,1,0,0)\n", *(b"r(1,1,%d,%d)\n" % (1 + i % 10, 1 + i) for i in range(size))])


def one_transaction(path, size):
    write(path, [b"w(1,1,0,0)\n", b"r(1,1,1,1)\n" * size])


def equal_elements(path, size):
    """One list, to which the same element is appended again and again."""
    lines = []
    for i in range(size):
        value = [["append", "x", 1]]
        if i % (size // 20) == 0:
            value.append(["r", "x", [1] * (i + 1)])
        for kind, at in (("invoke", 10 * i), ("ok", 10 * i + 5)):
            lines.append(json.dumps({"type": kind, "process": i % 4, "f": "txn", "value": value, "time": at}))
    write(path, ["\n".join(lines).encode() + b"\n"])


def lost_element(path, size):
    """One element, appended by one session after the other, of which a read after all has lost one."""
    values = [(i, [["append", "x", 1]]) for i in range(size)] + [(size, [["r", "x", [1] * (size - 1)]])]
    lines = []
    for process, value in values:
        for kind, at in (("invoke", 10 * process), ("ok", 10 * process + 5)):
            lines.append(json.dumps({"type": kind, "process": process, "f": "txn", "value": value, "time": at}))
    write(path, ["\n".join(lines).encode() + b"\n"])


def nested(opening, closing):
    def make(path, size):
        write(path, [b'{"type":"ok","process":0,"f":"txn","value":[["w",1,', opening * size, closing * size, b"]]}\n"])
    return make


def nested_edn(path, size):
    write(path, [b"{:type :ok :process 0 :f :txn :value [[:w 1 ", b"[" * size, b"]" * size, b"]]}\n"])


def discards(path, size):
    write(path, [b"#_ " * size, b"{:type :ok :process 0 :f :txn :value [[:w 1 1]]}\n"])


BOMBS = [
    Bomb("arrays.jsonl", 5_000_000, nested(b"[", b"]"), (3,)),
    Bomb("objects.jsonl", 5_000_000, nested(b'{"a":', b"}"), (3,)),
    Bomb("nested.edn", 5_000_000, nested_edn, (3,)),
    Bomb("discards.edn", 5_000_000, discards, (3,)),
    Bomb("brackets.jsonl", 10_000_000, lambda path, size: write(path, [b"[" * size]), (3,)),
    Bomb("dictionary.xz", 1, xz_dictionary, (2, 3)),
    Bomb("key.jsonl", 100, key, (0, 2, 3), limit=2048),
    Bomb("reads.txt", 500_000, reads, (0,), ("-l", "serializable"), linear=True),
    Bomb("reads-causal.txt", 500_000, reads, (0,), ("-l", "causal"), linear=True),
    Bomb("transaction.txt", 1_000_000, one_transaction, (0,), linear=True),
    Bomb("sessions.txt", 500_000, sessions, (0, 2), ("-l", "serializable"), linear=True),
    Bomb("sessions-causal.txt", 500_000, sessions, (0,), ("-l", "causal"), linear=True),
    Bomb("sessions-snapshot.txt", 500_000, sessions, (0,), ("-l", "snapshot-isolation"), linear=True),
    Bomb("readers-causal.txt", 300_000, writers_and_readers, (0,), ("-l", "causal"), linear=True),
    Bomb("readers-snapshot.txt", 300_000, writers_and_readers, (0,), ("-l", "snapshot-isolation"), linear=True),
    Bomb("counters-causal.txt", 300_000, counters, (0,), ("-l", "causal"), linear=True),
    Bomb("equal-elements.jsonl", 10_000, equal_elements, (0,), ("-l", "strict-serializable"), linear=True),
    Bomb("lost-element.jsonl", 100, lost_element, (1,), ("-l", "strict-serializable")),
    Bomb("gzip.gz", 1024, compressed("gzip"), (2, 3)),
    Bomb("zstd.zst", 1024, compressed("zstd"), (2, 3)),
    Bomb("xz.xz", 1024, compressed("xz"), (2, 3)),
    Bomb("line.jsonl", 1024, line, (2, 3), limit=4096),
    Bomb("line.txt", 1024, plume_line, (2, 3), limit=4096),
]


def measured(part, arguments):
    process = subprocess.Popen([part.cupel, *arguments], cwd=part.work, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    part.tries += 1
    output = process.stdout.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, output, usage.ru_utime, usage.ru_maxrss / 1024


def torture(part):
    done = 0
    have_zstd = shutil.which("zstd") is not None
    for bomb in BOMBS:
        if bomb.name.startswith("zstd") and not have_zstd:
            part.note("zstd is not installed, so its bomb was left out")
            continue
        seconds = []
        for size in (bomb.size, 2 * bomb.size) if bomb.linear else (bomb.size,):
            path = part.work / bomb.name
            bomb.make(path, size)
            begin = time.monotonic()
            code, output, cpu, peak = measured(part, ["check", "--shrink-time", "0", "--timeout", "100s", "--memory-limit",
                                                         f"{bomb.limit}MiB", *bomb.options, bomb.name])
            wall = time.monotonic() - begin
            seconds.append(cpu)
            path.unlink()
            if code not in bomb.code:
                part.fail(f"{bomb.name} of {size:,}: exit code {code}, expected {bomb.code}: {output[:500]}")
            if peak > 1.1 * bomb.limit + 32:
                part.fail(f"{bomb.name} of {size:,}: {peak:.0f} MiB of memory, and the limit is {bomb.limit}")
            if wall > 120:
                part.fail(f"{bomb.name} of {size:,}: {wall:.0f} s, and the limit is 100")
            if len(output) > 100_000:
                part.fail(f"{bomb.name} of {size:,}: {len(output):,} bytes of output")
        if bomb.linear and seconds[1] > 3 * seconds[0] + 0.2:
            part.fail(f"{bomb.name} is not linear: {seconds[0]:.2f} s of CPU, and {seconds[1]:.2f} s for twice as much")
        done += 1
        if part.time_left() < 0:
            break
    part.note(f"{done} of {len(BOMBS)} bombs")
