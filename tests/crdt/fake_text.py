"""A text as an adapter for editing_trace_test.cpp: every character has the one that it was put after.
Beside it may stand counters in the same document.

    fake_text.py [MODE]

text     a replicated growable array; survives repeats, restarts and crashes
doubles  the same, but what arrives again is there twice
forgets  the same, but another replica's deletes have no effect
"""

import json
import sys

from cupel_adapter import serve

MODE = sys.argv[1] if len(sys.argv) > 1 else "text"


class Replica:
    def __init__(self, replica, replicas, keys, object, time, saved, object_of):
        self.name, self.clock, self.messages = replica + 1000 * time, 0, []
        self.texts = {key for key, its in object_of.items() if its in ("text", "other")}
        self.characters = []  # [stamp, replica, character, gone], in their order
        self.amounts = {}  # by stamp and replica: key, amount
        if saved is not None:
            self.clock, self.characters, self.amounts = json.loads(saved)

    def shown(self):
        return [c for c in self.characters if not c[3]]

    def inc(self, key, amount):
        self.clock += 1
        update = ["inc", f"{self.clock} {self.name}", key, amount]
        self.apply(update)
        self.messages.append(json.dumps(update).encode())

    def dec(self, key, amount):
        self.inc(key, -amount)

    def read(self, key):
        if key not in self.texts:
            return sum(amount for its, amount in self.amounts.values() if its == key)
        return "".join(c[2] for c in self.shown())

    def insert(self, key, index, characters):
        after = self.shown()[index - 1][:2] if index else None
        for character in characters:
            self.clock += 1
            self.apply(["insert", after, self.clock, self.name, character])
            self.messages.append(json.dumps(["insert", after, self.clock, self.name, character]).encode())
            after = [self.clock, self.name]

    def delete(self, key, index, length):
        ids = [c[:2] for c in self.shown()[index:index + length]]
        self.apply(["delete", ids])
        if MODE != "forgets":
            self.messages.append(json.dumps(["delete", ids]).encode())
        else:
            self.messages.append(json.dumps(["delete", []]).encode())

    def place(self, identity):
        return [c[:2] for c in self.characters].index(identity)

    def apply(self, update):
        if update[0] == "inc":
            _, identity, key, amount = update
            self.amounts[identity] = key, amount
            return
        if update[0] == "delete":
            for identity in update[1]:
                self.characters[self.place(identity)][3] = True
            return
        _, after, stamp, replica, character = update
        self.clock = max(self.clock, stamp)
        if MODE != "doubles" and [stamp, replica] in [c[:2] for c in self.characters]:
            return
        index = self.place(after) + 1 if after else 0
        while index < len(self.characters) and self.characters[index][:2] > [stamp, replica]:
            index += 1
        self.characters.insert(index, [stamp, replica, character, False])

    def sent(self):
        messages, self.messages = self.messages, []
        return messages

    def receive(self, message):
        self.apply(json.loads(message))

    def save(self):
        return json.dumps([self.clock, self.characters, self.amounts]).encode()


serve("fake text 1.0", {"text": "text", "other": "text", "count": "counter", "sum": "counter"},
      ["duplicates", "restart", "crash"], Replica, several=True)
