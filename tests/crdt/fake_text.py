"""A text as an adapter for editing_trace_test.cpp: every character has the one that it was put after.

    fake_text.py [MODE]

text     a replicated growable array; survives repeats, restarts and crashes
forgets  the same, but another replica's deletes have no effect
"""

import json
import sys

from cupel_adapter import serve

MODE = sys.argv[1] if len(sys.argv) > 1 else "text"


class Replica:
    def __init__(self, replica, replicas, keys, object, time, saved):
        self.name, self.clock, self.messages = replica + 1000 * time, 0, []
        self.characters = []  # [stamp, replica, character, gone], in their order
        if saved is not None:
            self.clock, self.characters = json.loads(saved)

    def shown(self):
        return [c for c in self.characters if not c[3]]

    def read(self, key):
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
        if update[0] == "delete":
            for identity in update[1]:
                self.characters[self.place(identity)][3] = True
            return
        _, after, stamp, replica, character = update
        self.clock = max(self.clock, stamp)
        if [stamp, replica] in [c[:2] for c in self.characters]:
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
        return json.dumps([self.clock, self.characters]).encode()


serve("fake text 1.0", {"text": "text"}, ["duplicates", "restart", "crash"], Replica)
