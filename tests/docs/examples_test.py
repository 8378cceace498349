#!/usr/bin/env python3
"""Runs the examples of the manual and compares what they print with what the pages say.

    examples_test.py CUPEL quick|servers|long [TEXTBOOK_CLIENT]

An example is a code block that begins with `$ cupel` or `$ cat`. HOW says of each, by page and first
command, how it can be run; a block that HOW does not know fails, so no page can have output that nobody has
tried. A line that is only `…` or `...` stands for any lines, `…` within a line for any text. Seconds never
count; with NUMBERS no number, port or temporary folder does. The example of a real database runs
TEXTBOOK_CLIENT (tests/servers), on a server that is started for it.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXACT, NUMBERS = "exact", "numbers"
LESSONS = "docs/tutorials/"
ELLE = {"history.edn": "tests/golden/serializable/violated/elle-list-append-gh-30.edn",
        "history.json": json.dumps([
            {"index": 0, "time": 0, "type": "invoke", "process": 0, "f": "txn", "value": [["append", "x", 1]]},
            {"index": 1, "time": 10, "type": "ok", "process": 0, "f": "txn", "value": [["append", "x", 1]]},
            {"index": 2, "time": 20, "type": "invoke", "process": 0, "f": "txn", "value": [["r", "x", None]]},
            {"index": 3, "time": 30, "type": "ok", "process": 0, "f": "txn", "value": [["r", "x", [1]]]}])}


def script_of(page, name):
    """The lines that follow `$ cat NAME` on a page, which may be indented."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        found = re.search(r"^( *)\$ cat %s\n((?:.*\n)*?)\1\$ " % re.escape(name), file.read(), re.MULTILINE)
    return re.sub("^" + found[1], "", found[2], flags=re.MULTILINE)


# Page and first command: (label, comparison, files: the path of one of the repository, or text).
HOW = {
    ("README.md", "cupel check"): ("quick", EXACT, {"tests": "tests"}),
    ("README.md", "cupel run --db lab:redis-sentinel"): ("long", NUMBERS, {}),
    ("docs/reference/crdt.md", "cupel crdt generate"): ("quick", EXACT, {}),
    ("docs/reference/crdt.md", "cat history.jsonl"): ("quick", EXACT, {}),
    ("docs/reference/documents.md", "cat history.jsonl"): ("quick", EXACT, {}),
    ("docs/reference/objects.md", "cat set.edn"): ("quick", EXACT, {}),
    ("docs/how-to/huge-histories.md", "cupel generate"): ("servers", EXACT, {}),  # its limit of memory is too low for sanitizers
    ("docs/how-to/integrations.md", "cupel elle"): ("quick", EXACT, ELLE),
    ("docs/how-to/junit.md", "cupel check"): ("quick", EXACT, {"tests": "tests"}),
    ("docs/how-to/report-to-vendor.md", "cupel check"): ("quick", EXACT, {"tests": "tests"}),
    ("docs/tutorials/break-a-cluster.md", "cupel run"): ("long", NUMBERS, {}),
    ("docs/tutorials/find-a-race.md", "cat shop.py"): ("servers", NUMBERS, {}),
    ("docs/tutorials/read-a-history.md", "cat history.edn"): ("quick", EXACT, {}),
    ("docs/tutorials/record-your-application.md", "cat bank.py"): ("quick", NUMBERS, {"recorder.py": "examples/recorders/recorder.py"}),
    ("docs/tutorials/test-a-replicated-type.md", "cupel crdt run"): ("quick", EXACT, {"replicated_set.py": "examples/replicated_set.py"}),
    ("docs/tutorials/test-postgresql.md", "cupel run"): ("servers", NUMBERS, {}),
    ("docs/reference/lab.md", "cupel lab start postgres"): ("servers", NUMBERS, {}),
    ("docs/reference/online.md", "cupel generate"): ("servers", EXACT, {}),  # its limit of memory is too low for sanitizers
    ("docs/reference/run.md", "cupel run"): ("quick", NUMBERS, {}),
    ("docs/reference/mock-server.md", "cupel mock --level"): ("quick", NUMBERS, {}),
    ("docs/reference/mock-engines.md", "cupel mock --engine postgres"): ("servers", NUMBERS, {}),
    ("docs/reference/mock-mariadb.md", "cupel mock --engine mariadb"): ("servers", NUMBERS, {}),
    ("docs/reference/mock-server.md", "cat run-tests.sh"): ("servers", EXACT, {}),
    ("docs/reference/mock-explore.md", "cupel mock test"): ("servers", EXACT, {"two-clients.sh": script_of("docs/reference/mock-server.md", "two-clients.sh")}),
    ("docs/reference/mock-on.md", "cupel mock test"): ("servers", EXACT, {}),
}
SHOP = "postgres://me@127.0.0.1/shop"  # of docs/reference/mock-on.md: a server that is started for it


def blocks():
    """(page, line, [(command, [line of its output])]) of each example. The blocks of a tutorial are one example."""
    pages = ["README.md"] + sorted(glob.glob("docs/**/*.md", root_dir=ROOT, recursive=True))
    for page in pages:
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            lines = file.read().split("\n")
        inside, example, lesson = False, None, []
        starts = r"\$ " if page.startswith(LESSONS) else r"\$ (cupel|cat) ?"
        for number, line in enumerate(lines, 1):
            if line.startswith("```"):
                if inside and example and page.startswith(LESSONS):
                    lesson += example
                elif inside and example:
                    yield page, begin, example
                inside, example = not inside, None
                begin = number + 1
            elif inside and number == begin and re.match(starts, line):
                example = [(line[2:], [])]
            elif inside and example is not None:
                command, output = example[-1]
                if not output and command.endswith("\\"):
                    example[-1] = (command[:-1].rstrip() + " " + line.strip(), output)
                elif line.startswith("$ "):
                    example.append((line[2:], []))
                else:
                    output.append(line)
        if lesson:
            yield page, 1, lesson


def key_of(page, command, known):
    found = [key for key in known if key[0] == page and command.startswith(key[1])]
    return max(found, key=lambda key: len(key[1])) if found else None


def plain(text, comparison):
    text = re.sub(r"\d+\.\d+ s\b", "# s", text.rstrip())
    if comparison == NUMBERS:
        text = re.sub(r"/tmp/cupel-lab-\w+", "/tmp/cupel-lab-#", text)
        text = re.sub(r"\d+(?:[.,]\d+)*", "#", text)
        text = re.sub(r"\t|  +", "  ", text)  # columns, on a terminal as wide as their numbers
    return text


def same(expected, actual, comparison):
    if "…" in expected and expected != "…":
        return re.fullmatch(".*".join(re.escape(plain(part, comparison)) for part in expected.split("…")), plain(actual, comparison)) is not None
    return plain(expected, comparison) == plain(actual, comparison)


def fits(expected, actual, comparison):
    """Do the lines fit, where `…` stands for any of them?"""
    if not expected:
        return not actual
    if expected[0] in ("…", "..."):
        return any(fits(expected[1:], actual[i:], comparison) for i in range(len(actual) + 1))
    return bool(actual) and same(expected[0], actual[0], comparison) and fits(expected[1:], actual[1:], comparison)


def without_blank_ends(lines):
    return "\n".join(lines).strip("\n").split("\n") if any(lines) else []


def run(command, output, folder, environment):
    """What it prints. A server is interrupted once it has printed as many lines as the page shows."""
    serves = re.match(r"cupel mock (?!test)", command)
    process = subprocess.Popen(["bash", "-c", command if not serves else "exec " + command], cwd=folder, env=environment, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        if not serves:
            return process.communicate(timeout=240)[0].split("\n")
        lines = [process.stdout.readline().rstrip("\n") for _ in output]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        return lines
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Comparison(unittest.TestCase):
    def test_what_may_differ_and_what_may_not(self):
        for wanted, printed, comparison, fit in [
            (["a 0.001 s", "…", "z"], ["a 0.204 s", "b", "c", "z"], EXACT, True),
            (["a", "…", "z"], ["a", "z"], EXACT, True),
            (["a", "…", "z"], ["a", "b"], EXACT, False),
            (["a", "z"], ["a", "b", "z"], EXACT, False),
            (["found … here"], ["found it here"], EXACT, True),
            (["found … here"], ["found it there"], EXACT, False),
            (["port 80"], ["port 81"], EXACT, False),
            (["port 80, 1,000 rows"], ["port 4,081, 7 rows"], NUMBERS, True),
            (["port 80"], ["ports 80"], NUMBERS, False),
            ([], ["more"], EXACT, False),
        ]:
            self.assertEqual(fits(wanted, printed, comparison), fit, (wanted, printed))


class Examples(unittest.TestCase):
    binary, label, textbook_client = "", "quick", ""

    def test_every_example_is_known(self):
        for page, line, example in blocks():
            command = example[0][0]
            if any(output for _, output in example):
                self.assertIsNotNone(key_of(page, command, HOW), f"{page}:{line}: {command}: say in HOW how it can be run")

    def test_no_entry_is_left_over(self):
        used = {key_of(page, example[0][0], HOW) for page, _, example in blocks()}
        self.assertEqual({*HOW} - used, set())

    def test_the_pages_say_what_the_commands_print(self):
        tried = 0
        for page, line, example in blocks():
            key = key_of(page, example[0][0], HOW)
            if key is None or HOW[key][0] != self.label or not any(output for _, output in example):
                continue
            with self.subTest(page=page, line=line):
                self.try_example(example, *HOW[key][1:])
                tried += 1
        self.assertGreater(tried, 0)

    def start_shop(self, work, environment):
        """Its URL: a PostgreSQL with the counter, for the program ./increment-twice."""
        self.assertTrue(self.textbook_client, "the example needs TEXTBOOK_CLIENT")
        url = subprocess.run([self.binary, "lab", "start", "postgres"], env=environment, text=True, check=True,
                             stdout=subprocess.PIPE).stdout.strip()
        subprocess.run(["psql", "-qX", url, "-c", "create table counters (id int primary key, n int)",
                        "-c", "insert into counters values (1, 0)"], check=True)
        program = os.path.join(work, "increment-twice")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec '{self.textbook_client}' lost-update\n")
        os.chmod(program, 0o755)
        return url

    def try_example(self, example, comparison, files):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "bin"))
            os.symlink(self.binary, os.path.join(folder, "bin", "cupel"))
            work = os.path.join(folder, "work")
            os.mkdir(work)
            for name, content in files.items():
                source = os.path.join(ROOT, content)
                target = os.path.join(work, name)
                if os.path.isdir(source):
                    os.symlink(source, target)
                elif os.path.isfile(source):
                    shutil.copy(source, target)
                else:
                    with open(target, "w", encoding="utf-8") as file:
                        file.write(content)
            # `lab list` and `stop all` see the servers of this example only.
            environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "XDG_STATE_HOME": folder, "COLUMNS": "200"}
            shop = self.start_shop(work, environment) if any(SHOP in command for command, _ in example) else SHOP
            try:
                self.compare(example, comparison, work, environment, shop)
            finally:
                if shop != SHOP or any(command.startswith("cupel lab start") for command, _ in example):
                    subprocess.run([self.binary, "lab", "stop", "all"], env=environment, capture_output=True, check=True)

    def compare(self, example, comparison, work, environment, shop):
        started = {}  # URLs of the page, and those of the servers that were started
        for command, output in example:
            if command.startswith("cat "):  # the example says what the file holds
                with open(os.path.join(work, command[4:]), "w", encoding="utf-8") as file:
                    file.write("\n".join(output) + "\n")
                continue
            for url, here in {SHOP: shop, **started}.items():
                command = command.replace(url, here)
            printed = without_blank_ends(run(command, output, work, environment))
            if command.startswith("cupel lab start"):
                started[output[0]] = next(line for line in printed if "://" in line)
            for url, here in {SHOP: shop, **started}.items():
                printed = [line.replace(here, url) for line in printed]
            wanted = without_blank_ends(output)
            if not any(one.startswith("cupel: ") for one in wanted):  # messages, which the page leaves out
                printed = [one for one in printed if not one.startswith("cupel: ")]
            if not fits(wanted, printed, comparison):
                self.fail(f"`{command}` prints\n" + "\n".join(printed) + "\nand the page says\n" + "\n".join(wanted))


if __name__ == "__main__":
    Examples.binary, Examples.label = os.path.abspath(sys.argv[1]), sys.argv[2]
    Examples.textbook_client = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else ""
    unittest.main(argv=sys.argv[:1])
