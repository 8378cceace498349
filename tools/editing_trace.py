#!/usr/bin/env python3
"""Writes an editing trace of the public JSON form for `cupel crdt run --trace`: someone, or several at once, type a text.

    tools/editing_trace.py --edits 259780 > trace.json
    tools/editing_trace.py --edits 2000 --agents 3 > concurrent.json

Each edit is one character: seven of ten are insertions, at a cursor that mostly stays where it is, as in
automerge-perf, a recorded trace of 259,778 edits. With several agents, each sees the others' edits from time to
time. The order of concurrent insertions at one place is a library's, so `endContent` is then empty.
"""

import argparse
import json
import random
import sys

LETTERS = "etaoin shrdlu cmfwyp vbgkjq xz\n"


class Writer:
    def __init__(self, rng):
        self.rng, self.cursor = rng, 0

    # A patch for a text of this length.
    def patch(self, length):
        if self.rng.random() < 0.02:
            self.cursor = self.rng.randrange(length + 1)
        self.cursor = min(self.cursor, length)
        if self.cursor > 0 and self.rng.random() < 0.3:
            self.cursor -= 1
            return [self.cursor, 1, ""]
        self.cursor += 1
        return [self.cursor - 1, 0, self.rng.choice(LETTERS)]


def alone(edits, rng):
    writer, text, transactions = Writer(rng), [], []
    for _ in range(edits):
        position, deleted, inserted = patch = writer.patch(len(text))
        text[position:position + deleted] = inserted
        transactions.append({"time": "2026-01-01T00:00:00.000Z", "patches": [patch]})
    return {"startContent": "", "endContent": "".join(text), "txns": transactions}


# The lengths of texts do not depend on the order of what is in them, so they are known, if no two agents delete
# one character. So an agent deletes only what it has just inserted, before the others see it.
def together(edits, agents, rng):
    transactions, changes = [], []  # of each transaction, by how much longer the text is
    seen = [set() for _ in range(agents)]
    heads = [[] for _ in range(agents)]
    for number in range(edits):
        agent = rng.randrange(agents)
        if rng.random() < 0.1 and number > 0:
            other = rng.randrange(agents)
            if seen[other] - seen[agent]:
                seen[agent] |= seen[other]
                heads[agent] = sorted({*heads[agent], *heads[other]})
        length = sum(changes[n] for n in seen[agent])
        position = rng.randrange(length + 1)
        inserted = "".join(rng.choice(LETTERS) for _ in range(rng.randrange(1, 4)))
        patches = [[position, 0, inserted]]
        if rng.random() < 0.3:
            patches.append([position, 1, ""])
        transactions.append({"parents": heads[agent], "numChildren": 0, "agent": agent, "patches": patches})
        for parent in heads[agent]:
            transactions[parent]["numChildren"] += 1
        changes.append(len(inserted) - (len(patches) - 1))
        seen[agent] = seen[agent] | {number}
        heads[agent] = [number]
    return {"kind": "concurrent", "endContent": "", "numAgents": agents, "txns": transactions}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=259780)
    parser.add_argument("--agents", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    trace = alone(asked.edits, rng) if asked.agents == 1 else together(asked.edits, asked.agents, rng)
    json.dump(trace, sys.stdout)


main()
