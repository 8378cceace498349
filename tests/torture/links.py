"""Links in the way of what cupel writes: none is followed, and no temporary name can be foreseen."""

import os
import re
import shutil
import subprocess

import common

WRITERS = [
    ("certificate", ["check", "--shrink-time", "0", "--certificate", "out/x", "lost.txt"]),
    ("emit", ["check", "--shrink-time", "0", "--emit", "sql=out/x", "lost.txt"]),
    ("convert", ["convert", "lost.txt", "out/x.jsonl"]),
    ("convert to .cupel", ["convert", "lost.txt", "out/x.cupel"]),
    ("generate", ["generate", "--level", "causal", "-o", "out/x.jsonl"]),
    ("plan", ["generate", "--plan", "mini", "-o", "out/x.json"]),
    ("run", ["run", "--sessions", "1", "--txns", "2", "-o", "out/x.jsonl"]),
    ("run to .cupel", ["run", "--sessions", "1", "--txns", "2", "-o", "out/x.cupel"]),
    ("report", ["check", "--shrink-time", "0", "--report", "out/report", "lost.txt"]),
    ("campaign", ["campaign", "campaign.json", "-q", "-o", "out/campaign"]),
    ("crdt", ["crdt", "generate", "--type", "or-set", "-o", "out/x.jsonl"]),
]
OPENED = re.compile(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]+)", ([A-Z_|]+)')


def opened(part, arguments):
    """The files that a command opens to write, with the flags."""
    log = part.work / "strace"
    subprocess.run(["strace", "-f", "-qq", "-e", "trace=open,openat,creat", "-o", log, part.cupel, *arguments],
                   cwd=part.work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    part.tries += 1
    found = []
    for path, flags in OPENED.findall(log.read_text(errors="replace")):
        if "O_CREAT" in flags:
            found.append((path, flags))
    return found


def torture(part):
    part.file("lost.txt", common.LOST_UPDATE)
    part.file("campaign.json", '{"databases": [{"name": "SQLite", "url": ""}], "workloads": ["mini"], "seeds": 1,'
                               ' "sessions": 1, "txns": 2}')
    have_strace = shutil.which("strace") is not None
    if not have_strace:
        part.note("strace is not installed: which files are opened was not seen")
    paths = 0
    for name, arguments in WRITERS:
        out = part.work / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        names = opened(part, arguments) if have_strace else []
        shutil.rmtree(out, ignore_errors=True)
        again = []
        if have_strace:
            out.mkdir()
            again = [path for path, _ in opened(part, arguments)]
        for path, flags in names:
            paths += 1
            temporary = path.startswith("/tmp/") or path.endswith((".new", ".partial"))
            if temporary and "O_EXCL" not in flags and path in again:
                part.fail(f"{name}: the temporary file {path} can be foreseen and is opened with {flags}")
        # A link in each place that was opened: what it leads to stays as it is.
        for path in {path for path, _ in names if path.startswith("out/")}:
            shutil.rmtree(out, ignore_errors=True)
            (part.work / path).parent.mkdir(parents=True)
            victim = part.file("victim", "mine\n")
            os.symlink(victim, part.work / path)
            part.run(arguments)
            if victim.read_text() != "mine\n":
                part.fail(f"{name}: a link in place of {path} was followed")
    part.note(f"{len(WRITERS)} commands, {paths} files opened to write")
