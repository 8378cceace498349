#!/usr/bin/env python3
"""The scripts of --reproduce for several objects of a library at once: each does what the replicas did.

    scripts.py CUPEL CACHE ADAPTER OBJECT,OBJECT…
    scripts.py CUPEL CACHE ADAPTER OBJECT=TYPE

Asks the harness for some updates of each object on two replicas, delivers everything, half of it by the
library's own protocol, begins again from saved documents and reads, and runs the script of that: it must print what the reads returned. With a type: `cupel crdt run --reproduce`
checks a correct object by the axioms of another type, and the script must show with the library alone
why it is not one. Exit code 77, which CTest counts as skipped, where the libraries cannot be had.
"""

import json
import os
import shutil
import subprocess
import sys

# By type: the updates of a replica r, as method and value; a callable gets the answers before.
# The keys of documents that both replicas put are `k`, `l`, `c` and `gone`.
UPDATES = {
    "list": lambda r: [("addAfter", [None, f"{r}a"]), ("addAfter", [f"{r}a", f"{r}b"]), ("remove", f"{r}a")],
    "movable-list": lambda r: [("addAfter", [None, f"{r}a"]), ("addAfter", [f"{r}a", f"{r}b"]),
                               ("move", [f"{r}b", None]), ("remove", f"{r}a")],
    "text": lambda r: [("insert", [None, ["abc", "xyz"][r]]), ("delete", ["b", "y"][r])],
    "marked-text": lambda r: [("insert", [None, ["abcd", "wxyz"][r]]), ("mark", [["bc", "xy"][r], "bold", True]),
                              ("mark", [["b", "x"][r], "bold", None]), ("delete", ["b", "y"][r]),
                              ("mark", [["cd", "wx"][r], "color", "red"])],
    "counter": lambda r: [("inc", 2 + r), ("dec", 1)],
    "tree": lambda r: [("move", ["new", None]), ("move", ["new too", None]),
                       lambda made: ("move", [made[1]["value"][0], made[0]["value"][0]]),
                       lambda made: ("move", [made[1]["value"][0], None]), lambda made: ("remove", made[0]["value"][0])],
    "map": lambda r: [("put", [["k"], r]), ("put", [[f"m{r}"], {"map": "new"}]), ("put", [[f"t{r}"], {"text": "new"}]),
                      ("put", [["l"], {"list": "new"}]), ("put", [["c"], {"counter": "new"}]), ("put", [["gone"], r]),
                      lambda made: ("put", [[made[1]["value"][1], "in"], "here"]),
                      lambda made: ("insert", [[made[2]["value"][1]], [None, "abc"]]),
                      lambda made: ("delete", [[made[2]["value"][1]], "b"]),
                      lambda made: ("addAfter", [[made[3]["value"][1]], [None, "a"]]),
                      lambda made: ("addAfter", [[made[3]["value"][1]], ["a", "b"]]),
                      lambda made: ("addAfter", [[made[3]["value"][1]], ["b", {"map": "new"}]]),
                      lambda made: ("put", [[made[11]["value"][1][1], "deep"], r]),
                      lambda made: ("remove", [[made[3]["value"][1]], "a"]),
                      ("remove", [["gone"]]), lambda made: counted(made[4]["value"][1])],
}
SET = lambda r: [("add", f"e{r}"), ("add", "q"), ("remove", "q")]
FLAG = lambda r: [("enable", None), ("disable", None)][:2 - r]
REGISTER = lambda r: [("write", f"w{r}")]


# A library without counters has put another container.
def counted(container):
    return ("inc", [[container], 3]) if "counter" in container else ("put", [["k"], "last"])


def updates_of(kind):
    kind = "map" if kind in ("map", "remove-wins-map") else kind
    return UPDATES.get(kind) or (SET if kind.endswith("set") else FLAG if kind.endswith("flag") else REGISTER)


def run_script(text, folder):
    return subprocess.run(["node", "--input-type=module", "-"], input=text, cwd=folder, capture_output=True, text=True)


# A map whose keys are the elements, of Yjs and Loro. It is no add-wins set: a concurrent remove may win.
MAP_AS_SET = """
const mapOf = (doc, key) => (doc.y ?? doc.loro).getMap(key);
export const objects = {
  map: {
    ...all.map,
    type: "add-wins-set",
    add: (doc, key, element) => void mapOf(doc, key).set(element, true),
    remove: (doc, key, element) => mapOf(doc, key).get(element) === true && void mapOf(doc, key).delete(element),
    read: (doc, key) => [...mapOf(doc, key).keys()],
  },
};
export const script = (options) => ({
  ...scriptOf(options),
  calls: {
    add: (d, key, element) => `${d}.getMap(${key}).set(${element}, true)`,
    remove: (d, key, element) => `${d}.getMap(${key}).delete(${element})`,
    read: (d, key) => `${d}.getMap(${key}).keys()`,
  },
});
"""


# The object, as one of another type.
def refused(cupel, folder, environment, adapter, name, kind):
    file, script = os.path.join(folder, f"{adapter}-as-{kind}.mjs"), os.path.join(folder, f"{adapter}-script.mjs")
    with open(file, "w") as out:
        out.write(f'import {{ objects as all, script as scriptOf }} from "./{adapter}.mjs";\n'
                  f'export * from "./{adapter}.mjs";\n')
        out.write(MAP_AS_SET if (name, kind) == ("map", "add-wins-set") else
                  f'export const objects = {{ {name}: {{ ...all["{name}"], type: "{kind}" }} }};\n')
    for seed in range(1, 11):
        ran = subprocess.run([cupel, "crdt", "run", "--adapter", f"{file}:{name}", "--seed", str(seed), "--reproduce", script],
                             env=environment, capture_output=True, text=True)
        if ran.returncode != 0:
            break
    assert ran.returncode == 1 and "run once, it shows the same" in ran.stderr, ran.stdout + ran.stderr
    with open(script) as made:
        text = made.read()
    assert "adapter.objects" not in text, f"the script calls the adapter:\n{text}"
    printed, last = run_script(text, folder).stdout.splitlines()[-1], text.splitlines()[-1]
    assert last.split("; // ")[-1].rpartition(": ")[0] == printed, f"found {printed}, expected that of:\n{text}"
    print(f"{adapter}:{name} is no {kind}, seed {seed}")
    return 0


def main(cupel, cache, adapter, objects):
    objects, _, kind = objects.partition("=")
    environment = {**os.environ, "CUPEL_ADAPTER_CACHE": cache}
    command = [cupel, "crdt", "run", "--adapter", f"{adapter}:{objects}", "--ops", "1"]
    installed = subprocess.run(command, env=environment, capture_output=True, text=True)
    if not shutil.which("node") or (installed.returncode == 3 and "npm" in installed.stderr):
        print(f"SKIPPED: {installed.stderr}", file=sys.stderr)
        return 1 if os.environ.get("CUPEL_ADAPTERS_TEST") == "required" else 77
    folders = [top for top, folders, files in os.walk(cache) if "harness.mjs" in files and "node_modules" in folders]
    if kind:
        return refused(cupel, folders[0], environment, adapter, objects, kind)
    harness = subprocess.Popen(["node", "harness.mjs", f"{adapter}.mjs"], cwd=folders[0], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)

    def ask(**request):
        harness.stdin.write(json.dumps(request) + "\n")
        harness.stdin.flush()
        answer = json.loads(harness.stdout.readline())
        assert answer["type"] == "ok" and "threw" not in answer, (request, answer)
        return answer

    hello = ask(f="hello")
    types = {name: kind for name, kind, *_ in hello["objects"]}
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
    updates, survives = len(sent), hello["survives"]
    if "exchange" in survives:  # instead of the first half
        said = [(1, one) for one in ask(f="greet", replica=1, **{"from": 0})["say"]]
        while said:
            sender, value = said.pop(0)
            answer = ask(f="hear", replica=1 - sender, value=value, lacks=[], **{"from": sender})
            said += [(1 - sender, one) for one in answer["say"]]
        del sent[:len(sent) // 2]
    for number, (replica, value) in enumerate(sent):
        ask(f="deliver", replica=1 - replica, message=number, value=value, **{"from": replica})
    ask(f="restart", replica=1)
    ask(f="join", replica=0, **{"from": 1})
    for replica in (0, 1):
        for key in of:
            ask(f="read", key=key, replica=replica)
    script = ask(f="script", about=[], wrong="")
    harness.stdin.close()
    harness.wait()
    text, expected = "\n".join(script["lines"]), "".join(f"{line}\n" for line in script["prints"])
    assert "adapter.objects" not in text, f"the script calls the adapter:\n{text}"
    ran = run_script(text, folders[0])
    assert ran.stdout == expected, f"found:\n{ran.stdout}{ran.stderr}\nexpected:\n{expected}\nof:\n{text}"
    print(f"{adapter}:{objects}: the script of {updates} updates prints what the reads returned")
    return 0


sys.exit(main(*sys.argv[1:]))
