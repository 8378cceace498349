#!/usr/bin/env python3
"""The scripts of --reproduce for several objects of a library at once: each does what the replicas did.

    scripts.py CUPEL CACHE ADAPTER OBJECT,OBJECT…

Asks the harness for some updates of each object on two replicas, delivers everything and reads, and
runs the script of that: it must print what the reads returned. Exit code 77, which CTest counts as
skipped, where the libraries cannot be had.
"""

import json
import os
import shutil
import subprocess
import sys

# By type: the updates of a replica r, as method and value; a callable gets the answers before.
UPDATES = {
    "list": lambda r: [("addAfter", [None, f"{r}a"]), ("addAfter", [f"{r}a", f"{r}b"]), ("remove", f"{r}a")],
    "movable-list": lambda r: [("addAfter", [None, f"{r}a"]), ("addAfter", [f"{r}a", f"{r}b"]),
                               ("move", [f"{r}b", None]), ("remove", f"{r}a")],
    "text": lambda r: [("insert", [None, ["abc", "xyz"][r]]), ("delete", ["b", "y"][r])],
    "counter": lambda r: [("inc", 2 + r), ("dec", 1)],
    "tree": lambda r: [("move", ["new", None]), ("move", ["new too", None]),
                       lambda made: ("move", [made[1]["value"][0], made[0]["value"][0]]),
                       lambda made: ("move", [made[1]["value"][0], None]), lambda made: ("remove", made[0]["value"][0])],
}
SET = lambda r: [("add", f"e{r}"), ("add", "q"), ("remove", "q")]
FLAG = lambda r: [("enable", None), ("disable", None)][:2 - r]
REGISTER = lambda r: [("write", f"w{r}")]


def updates_of(kind):
    return UPDATES.get(kind) or (SET if kind.endswith("set") else FLAG if kind.endswith("flag") else REGISTER)


def main(cupel, cache, adapter, objects):
    environment = {**os.environ, "CUPEL_ADAPTER_CACHE": cache}
    command = [cupel, "crdt", "run", "--adapter", f"{adapter}:{objects}", "--ops", "1"]
    installed = subprocess.run(command, env=environment, capture_output=True, text=True)
    if not shutil.which("node") or (installed.returncode == 3 and "npm" in installed.stderr):
        print(f"SKIPPED: {installed.stderr}", file=sys.stderr)
        return 1 if os.environ.get("CUPEL_ADAPTERS_TEST") == "required" else 77
    folders = [top for top, folders, files in os.walk(cache) if "harness.mjs" in files and "node_modules" in folders]
    harness = subprocess.Popen(["node", "harness.mjs", f"{adapter}.mjs"], cwd=folders[0], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)

    def ask(**request):
        harness.stdin.write(json.dumps(request) + "\n")
        harness.stdin.flush()
        answer = json.loads(harness.stdout.readline())
        assert answer["type"] == "ok" and "threw" not in answer, (request, answer)
        return answer

    types = {name: kind for name, kind, *_ in ask(f="hello")["objects"]}
    of = {f"{name} x": name for name in objects.split(",")}
    ask(f="begin", replicas=2, keys=list(of), object=None, objects=of, script=True)
    sent = []
    for replica in (0, 1):
        for key, name in of.items():
            made = []
            for update in updates_of(types[name])(replica):
                method, value = update(made) if callable(update) else update
                made.append(ask(f=method, key=key, value=value, replica=replica, message=len(sent)))
                if "send" in made[-1]:
                    sent.append((replica, made[-1]["send"]))
    for number, (replica, value) in enumerate(sent):
        ask(f="deliver", replica=1 - replica, message=number, value=value, **{"from": replica})
    for replica in (0, 1):
        for key in of:
            ask(f="read", key=key, replica=replica)
    script = ask(f="script", about=[], wrong="")
    harness.stdin.close()
    harness.wait()
    text, expected = "\n".join(script["lines"]), "".join(f"{line}\n" for line in script["prints"])
    assert "adapter.objects" not in text, f"the script calls the adapter:\n{text}"
    ran = subprocess.run(["node", "--input-type=module", "-"], input=text, cwd=folders[0], capture_output=True, text=True)
    assert ran.stdout == expected, f"found:\n{ran.stdout}{ran.stderr}\nexpected:\n{expected}\nof:\n{text}"
    print(f"{adapter}:{objects}: the script of {len(sent)} updates prints what the reads returned")
    return 0


sys.exit(main(*sys.argv[1:]))
