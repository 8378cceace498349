"""What the parts of the torture share: running cupel, counting, and the histories they work on."""

import os
import pathlib
import random
import re
import shutil
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
GOOD_EXIT_CODES = range(0, 4)
# A report of a sanitizer, of the library or of the kernel; cupel's own messages have none of these.
CRASH = re.compile(r"Sanitizer|runtime error:|terminate called|double free|corrupted|internal error|Assertion")
LOST_UPDATE = "r(1,0,0,1)\nw(1,1,0,1)\nr(1,0,1,2)\nw(1,2,1,2)\n"


class Part:
    """One part: its commands, how often it tried something, and what went wrong."""

    def __init__(self, name, cupel, work, seed, seconds):
        self.name = name
        self.cupel = str(cupel)
        self.work = pathlib.Path(work) / name
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.random = random.Random(f"{seed} {name}")
        self.end = time.monotonic() + seconds
        self.tries = 0
        self.failures = []
        self.notes = []

    def time_left(self):
        return self.end - time.monotonic()

    def fail(self, what):
        self.failures.append(what)
        print(f"FAILED {self.name}: {what}", flush=True)

    def note(self, what):
        self.notes.append(what)

    def run(self, arguments, *, env=None, stdin=None, timeout=120, cwd=None):
        """`cupel ARGUMENTS`: ends with an exit code from 0 to 3, soon, and without a crash."""
        self.tries += 1
        words = [self.cupel, *map(str, arguments)]
        shown = " ".join(words[1:])[:300]
        try:
            ran = subprocess.run(words, cwd=cwd or self.work, env=None if env is None else {**os.environ, **env},
                                 input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                                 capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            self.fail(f"no end in {timeout} s: {shown}")
            return None
        ran.errors = ran.stderr.decode("utf-8", "replace")
        ran.text = ran.stdout.decode("utf-8", "replace")
        if ran.returncode not in GOOD_EXIT_CODES or CRASH.search(ran.errors):
            self.fail(f"exit code {ran.returncode}: {shown} {env or ''}\n{ran.errors[:2000]}")
        return ran

    def must(self, arguments, code=0, **more):
        ran = self.run(arguments, **more)
        if ran is not None and ran.returncode != code:
            self.fail(f"exit code {ran.returncode}, expected {code}: {' '.join(map(str, arguments))[:300]}\n"
                      f"{ran.errors[:2000]}")
        return ran

    def file(self, name, content):
        path = self.work / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path

    def verdicts(self, history, *options, timeout=120):
        """The verdict of each level, or None if the history was not read."""
        ran = self.run(["check", "--json", "--shrink-time", "0", "--no-history-analysis", *options, history],
                       timeout=timeout)
        if ran is None or not ran.stdout.strip():
            return None
        return dict(re.findall(r'\{"level":"([a-z-]+)","verdict":"([a-z]+)"', ran.text))
