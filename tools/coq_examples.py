#!/usr/bin/env python3
"""Writes proofs/Examples.v: the smallest history of each anomaly of docs/anomalies.md, and
histories that separate levels, with their certificates as theorems for Coq.

    tools/coq_examples.py build/release/cupel

Coq decides them all again (`make proofs`), so nothing here has to be trusted.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Histories that no anomaly of the page is, for levels with sessions and times. A transaction
# with times is `T1@0-10`; drift is how wrong the clocks may be, in ns.
SEPARATING = [
    ("stale_read", "`T1@0-10: w(x,1)` · `T2@20-30: r(x,0)`", 0),
    ("commits_not_in_real_time",
     "`T1@0-10: w(x,1)` · `T2@20-30: w(y,1)` · `T3@0-40: r(y,1) r(x,0)`", 0),
    ("read_of_the_sessions_future", "`T1@0-10: r(x,1)`, then `T2@20-30: w(x,1)`", 50),
]
LEVELS = {
    "read-committed": "ReadCommitted", "read-atomic": "ReadAtomic", "causal": "Causal",
    "prefix": "Prefix", "snapshot-isolation": "SnapshotIsolation", "serializable": "Serializable",
}


def page_rows():
    """(name, history, weakest level that forbids it) of the tables with smallest histories."""
    rows = []
    for line in (ROOT / "docs/anomalies.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[1].startswith("`T1"):
            rows.append((cells[0].split()[0].replace("-", "_"), cells[1], LEVELS[cells[3]]))
    return rows


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


def events(history):
    """Jepsen's events. Transactions of different sessions overlap, but where times are given."""
    txns, session = [], -1
    for part in re.split(r" · ", history):
        session += 1
        for name, ops, mark in re.findall(r"`(\w+(?:@[\d-]+)?): ([^`]*)`( aborted| fails)?", part):
            parsed = [operation(op) for op in re.findall(r"\w+\([^)]*\)", ops)]
            if mark == " fails":  # it compared, and the value was another one
                parsed[0].append(False)
            txns.append((session, name, parsed, mark == " aborted"))
    for ops in appends_for(sum((t[2] for t in txns), [])):
        session += 1
        txns.append((session, "", ops, False))
    of_session, lines = {}, []
    for session, name, ops, aborted in txns:
        number = of_session[session] = of_session.get(session, -1) + 1
        count = sum(1 for t in txns if t[0] == session)
        times = re.search(r"@(\d+)-(\d+)", name)
        begin, end = (int(times[1]), int(times[2])) if times else (
            number * 1000, (number + 1) * 1000 - 1 if number + 1 < count else 10000)
        lines.append((begin, 1, session, "invoke", ops))
        lines.append((end, 0, session, "fail" if aborted else "ok", ops))
    return sorted(lines, key=lambda line: line[:3])


def jepsen(history):
    text, index = "", 0
    for time, _, process, kind, ops in events(history):
        value = [["r", op[1], None] if op[0] == "r" and kind == "invoke" else op for op in ops]
        text += json.dumps({"index": index, "type": kind, "process": process, "f": "txn",
                            "value": value, "time": time}) + "\n"
        index += 1
    return text


def module(cupel, folder, name, history, drift):
    source, certificate, coq = (folder / f for f in (f"{name}.jsonl", "certificate.json", "x.v"))
    source.write_text(jepsen(history))
    options = ["-f", "jepsen", "--clock-drift", str(drift)]
    if "[" not in history:
        options += ["--initial", "0"]
    run = lambda *words: subprocess.run([cupel, *words], capture_output=True, text=True)
    checked = run("check", *options, "--certificate", certificate, source)
    verified = run("verify", *options, "--proved", "--coq", coq, source, certificate)
    if verified.returncode != 0:
        sys.exit(f"{name}:\n{checked.stdout}{checked.stderr}{verified.stdout}{verified.stderr}")
    text = coq.read_text()
    return text[text.index("Definition text"):text.index("\nTheorem answer_0")]


def main():
    cupel = sys.argv[1]
    modules, names = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, history, level in page_rows() + [(n, h, None) for n, h, _ in SEPARATING]:
            drift = next((d for n, _, d in SEPARATING if n == name), 0)
            body = module(cupel, pathlib.Path(folder), name, history, drift)
            claim = ""
            if level:
                claim = (
                    "Theorem weakest_level : exists h, read text = Some h /\\\n"
                    f"  violates h {drift} {level} /\\\n"
                    f"  forall l, implies {level} l = true -> l <> {level} -> satisfies h {drift} l.\n"
                    f"Proof. exact (weakest_sound text {drift} proofs answers {level} decided eq_refl)."
                    " Qed.\n")
            modules.append(f"(* {history.replace('`', '')} *)\nModule {name}.\n{body}{claim}"
                           f"Definition all := Example text {drift} proofs answers.\nEnd {name}.\n")
            names.append(name)
    listed = ";\n   ".join(f"{name}.all" for name in names)
    proof = "\n".join(f"  constructor; [exact {name}.decided|]." for name in names)
    (ROOT / "proofs/Examples.v").write_text(
        "(* The smallest history of each anomaly of docs/anomalies.md violates the level that the page\n"
        "   says, and no weaker one; and no two levels imply each other but as Ladder.v has it.\n"
        "   Written by tools/coq_examples.py; decided by Coq's kernel. *)\n"
        "From Coq Require Import List String Uint63.\n"
        "From Cupel Require Import History Levels Ladder Clauses Derivation Verify Text.\n"
        "Import ListNotations.\nLocal Open Scope uint63_scope.\n\n"
        + "\n".join(modules) +
        f"\nDefinition examples : list example :=\n  [{listed}].\n"
        f"Lemma all_decided : Forall decided_example examples.\nProof.\n{proof}\n  constructor.\nQed.\n\n"
        "(* No implication holds but those of the ladder. *)\n"
        "Theorem ladder_is_strict : forall a b, a <> Linearizable -> b <> Linearizable ->\n"
        "  implies a b = false -> exists h drift, satisfies h drift a /\\ violates h drift b.\n"
        "Proof. apply (separated_sound examples all_decided). vm_compute. reflexivity. Qed.\n")


if __name__ == "__main__":
    main()
