#!/usr/bin/env python3
"""Writes proofs/Examples.v.xz: the smallest histories of the tables of docs/reference/anomalies.md, the smallest
example of each anomaly that `cupel explain` has, and histories that separate levels, with their
certificates as theorems for Coq.

    tools/coq_examples.py build/release/cupel

Coq decides them all again (`make proofs`), so nothing here has to be trusted.
"""

import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Histories that no anomaly of the page is, for levels with sessions and times. A transaction
# with times is `T1@0-10`. In the last one a transaction is invoked at the moment at which the one
# before it in its session completed, so real time does not order the two.
SEPARATING = [
    ("stale_read", "`T1@0-10: w(x,1)` · `T2@20-30: r(x,0)`"),
    ("commits_not_in_real_time",
     "`T1@0-10: w(x,1)` · `T2@20-30: w(y,1)` · `T3@0-40: r(y,1) r(x,0)`"),
    ("read_of_the_sessions_future", "`T1@0-20: r(x,1)`, then `T2@20-30: w(x,1)`"),
]
LEVELS = {
    "read-committed": "ReadCommitted", "read-atomic": "ReadAtomic", "causal": "Causal",
    "prefix": "Prefix", "snapshot-isolation": "SnapshotIsolation",
    "generalized-snapshot-isolation": "GeneralizedSI",
    "strong-session-snapshot-isolation": "StrongSessionSI",
    "strong-snapshot-isolation": "StrongSI", "serializable": "Serializable",
    "strong-session-serializable": "StrongSessionSerializable",
    "strict-serializable": "StrictSerializable", "linearizable": "Linearizable",
}


def page_rows():
    """(name, history, weakest level that forbids it) of the tables with smallest histories."""
    rows = []
    for line in (ROOT / "docs/reference/anomalies.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[1].startswith("`T1"):
            rows.append((cells[0].split()[0].replace("-", "_"), cells[1], LEVELS[cells[3]]))
    return rows


def explained(cupel):
    """(name, history, levels that forbid it, levels that forbid some of its kind) of `cupel explain`."""
    say = lambda *names: json.loads(subprocess.run(
        [cupel, "explain", "--json", *names], capture_output=True, text=True, check=True).stdout)
    for entry in say()["anomalies"]:
        one = say(entry["anomaly"])
        if one["example"]:
            yield one["anomaly"], one["example"], one["forbidden_by"], one["some_forbidden_by"]


def from_sketch(sketch):
    """`a: w(x,1) ; r(x,0) | b: ! a(y,1) @0-10` as in the tables of the page."""
    number, sessions = 0, []
    for session in sketch.split(" | "):
        txns = []
        for txn in session.split(": ", 1)[1].split(" ; "):
            number += 1
            times = re.search(r" @(\d+-\d+)$", txn)
            aborted = txn.startswith("! ")
            ops = txn[2 if aborted else 0:times.start() if times else None]
            failed = ops.startswith("cas!")
            ops = re.sub(r"\ba\(", "append(", ops).replace("l(", "r(").replace("cas!(", "cas(")
            name = f"T{number}" + (f"@{times[1]}" if times else "")
            txns.append(f"`{name}: {ops}`" + (" aborted" if aborted else " fails" if failed else ""))
        sessions.append(", then ".join(txns))
    return " · ".join(sessions)


def operation(text):
    kind, key, value = re.fullmatch(r"(\w+)\((\w+),(.*)\)", text).groups()
    if value.startswith("["):
        return ["r", key, [int(v) for v in value[1:-1].split()]]
    if kind == "cas":
        return ["cas", key, [int(v) for v in value.split(",")]]
    return [kind, key, int(value)]


def appends_for(ops):
    """Somebody appended what a list read returns: a transaction for each element, once."""
    elements = sorted({(op[1], v) for op in ops if isinstance(op[2], list) and op[0] == "r"
                       for v in op[2]})
    return [[["append", key, v]] for key, v in elements]


def events(history, somebody_appended):
    """Jepsen's events. Where no times are given, no transaction is before another in real time."""
    txns, session = [], -1
    for part in re.split(r" · ", history):
        session += 1
        for name, ops, mark in re.findall(r"`(\w+(?:@[\d-]+)?): ([^`]*)`( aborted| fails)?", part):
            parsed = [operation(op) for op in re.findall(r"\w+\([^)]*\)", ops)]
            if mark == " fails":  # it compared, and the value was another one
                parsed[0].append(False)
            txns.append((session, name, parsed, mark == " aborted"))
    for ops in appends_for(sum((t[2] for t in txns), [])) if somebody_appended else []:
        session += 1
        txns.append((session, "", ops, False))
    of_session, lines = {}, []
    for session, name, ops, aborted in txns:
        number = of_session[session] = of_session.get(session, -1) + 1
        count = sum(1 for t in txns if t[0] == session)
        times = re.search(r"@(\d+)-(\d+)", name)
        begin, end = (int(times[1]), int(times[2])) if times else (
            number * 1000, (number + 1) * 1000 if number + 1 < count else 10000)
        lines.append((begin, 1, session, "invoke", ops))
        lines.append((end, 0, session, "fail" if aborted else "ok", ops))
    return sorted(lines, key=lambda line: line[:3])


def jepsen(history):
    text, index = "", 0
    for time, _, process, kind, ops in events(history, "append" not in history):
        value = [["r", op[1], None] if op[0] == "r" and kind == "invoke" else op for op in ops]
        text += json.dumps({"index": index, "type": kind, "process": process, "f": "txn",
                            "value": value, "time": time}) + "\n"
        index += 1
    return text


def module(cupel, folder, name, history):
    source, certificate, coq = (folder / f for f in (f"{name}.jsonl", "certificate.json", "x.v"))
    source.write_text(jepsen(history))
    options = ["-f", "jepsen"]
    if "[" not in history:
        options += ["--initial", "0"]
    run = lambda *words: subprocess.run([cupel, *words], capture_output=True, text=True)
    checked = run("check", *options, "--certificate", certificate, source)
    verified = run("verify", *options, "--proved", "--coq", coq, source, certificate)
    if verified.returncode != 0:
        sys.exit(f"{name}:\n{checked.stdout}{checked.stderr}{verified.stdout}{verified.stderr}")
    text = coq.read_text()
    answers = re.findall(r"^Theorem answer_\d+ : .* (satisfies|violates) h 0 (\w+)\.$", text, re.MULTILINE)
    body = text[text.index("Definition text"):text.index("\nTheorem answer_0")]
    return body, {level: verdict == "satisfies" for verdict, level in answers}


def weakest_level(level):
    return (
        "Theorem weakest_level : exists h, read text = Some h /\\\n"
        f"  violates h 0 {level} /\\\n"
        f"  forall l, implies {level} l = true -> l <> {level} -> satisfies h 0 l.\n"
        f"Proof. exact (weakest_sound text 0 proofs answers {level} decided eq_refl). Qed.\n")


def as_explained(name, satisfied, forbidden, some):
    """Violated is what the page forbids, and of what it does not forbid all is satisfied: each level
    that has an answer, which is all but linearizable where a transaction touches several objects. At
    linearizable, which looks at one object at a time, only real time orders a session's transactions
    on different objects. So it is left out if those of an example have no times."""
    if "process" in name:
        satisfied.pop("Linearizable", None)
    for words, level in LEVELS.items():
        if level not in satisfied:
            if words != "linearizable":
                sys.exit(f"{name}: no answer about {words}")
        elif words not in some and satisfied[level] == (words in forbidden):
            sys.exit(f"{name}: the page is wrong about {words}")
    bad, good = ("; ".join(l for l, is_satisfied in satisfied.items() if is_satisfied == which)
                 for which in (False, True))
    return (
        "Theorem as_explained : exists h, read text = Some h /\\\n"
        f"  (forall l, In l [{bad}] -> violates h 0 l) /\\\n"
        f"  (forall l, In l [{good}] -> satisfies h 0 l).\n"
        f"Proof. exact (classified_sound text 0 proofs answers [{bad}] [{good}] decided eq_refl). Qed.\n")


def main():
    cupel = sys.argv[1]
    modules, names = [], []
    wanted = [(name, history, lambda satisfied, level=level: weakest_level(level))
              for name, history, level in page_rows()]
    wanted += [("example_" + name.replace("-", "_"), from_sketch(sketch),
                lambda satisfied, entry=(name, forbidden, some):
                    as_explained(entry[0], satisfied, entry[1], entry[2]))
               for name, sketch, forbidden, some in explained(cupel)]
    wanted += [(name, history, lambda satisfied: "") for name, history in SEPARATING]
    with tempfile.TemporaryDirectory() as folder:
        for name, history, claim in wanted:
            body, satisfied = module(cupel, pathlib.Path(folder), name, history)
            modules.append(f"(* {history.replace('`', '')} *)\nModule {name}.\n{body}{claim(satisfied)}"
                           f"Definition all := Example text proofs answers.\nEnd {name}.\n")
            names.append(name)
    listed = ";\n   ".join(f"{name}.all" for name in names)
    proof = "\n".join(f"  constructor; [exact {name}.decided|]." for name in names)
    text = (
        "(* The smallest history of each anomaly in the tables of docs/reference/anomalies.md violates the level\n"
        "   that the page says, and no weaker one ([weakest_level]). The smallest example that `cupel\n"
        "   explain` has of each violates the levels that it says forbid it, and of the others those\n"
        "   that it says ([as_explained]). And no two levels imply each other but as Ladder.v has it.\n"
        "   Written by tools/coq_examples.py; decided by Coq's kernel. *)\n"
        "From Coq Require Import List String Uint63.\n"
        "From Cupel Require Import History Levels Ladder Clauses Derivation Verify Text.\n"
        "Import ListNotations.\nLocal Open Scope uint63_scope.\n\n"
        + "\n".join(modules) +
        f"\nDefinition examples : list example :=\n  [{listed}].\n"
        f"Lemma all_decided : Forall decided_example examples.\nProof.\n{proof}\n  constructor.\nQed.\n\n"
        "(* No implication holds but those of the ladder. *)\n"
        "Theorem ladder_is_strict : forall a b, a <> Linearizable -> b <> Linearizable ->\n"
        "  implies a b = false -> exists h, satisfies h 0 a /\\ violates h 0 b.\n"
        "Proof. apply (separated_sound examples all_decided). vm_compute. reflexivity. Qed.\n")
    with lzma.open(ROOT / "proofs/Examples.v.xz", "wt") as packed:
        packed.write(text)


if __name__ == "__main__":
    main()
