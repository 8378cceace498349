"""A grow-only set as an adapter for adapter_test.cpp, with a network of its own opinion.

    fake_adapter.py [MODE]

holds    keeps a message until all that its sender had seen have come; survives everything; the default
asked    as holds, but in an exchange each message has one update, and the replica is asked what it has
quiet    as holds, but sends nothing if it has the element already
strict   throws at a message that comes too early or again; survives nothing
ordered  as strict, but survives restarts, crashes and late joiners
states   a message has all that its sender has seen; survives everything
throws   as holds, but throws at every fifth message
unsaved  as holds, but throws when it saves and when it brings others up to date
chatty   as holds, but sends a message with each read
loose    as holds, but applies a message at once, so in no causal order
stuck    keeps messages as holds, and never applies the third of replica 0; survives disorder and repeats
"""

import json
import sys

from cupel_adapter import serve

MODE = sys.argv[1] if len(sys.argv) > 1 else "holds"


class Replica:
    def __init__(self, replica, replicas, keys, object, time, saved):
        stored = json.loads(saved) if saved else {"adds": {}, "held": []}
        self.name = f"{replica}.{time}"
        self.adds = stored["adds"]  # id -> [key, value]
        self.held = stored["held"]
        self.messages = []
        self.made = self.received = 0

    def add(self, key, value):
        if MODE == "quiet" and value in self.read(key):
            return
        update = f"{self.name}:{self.made}"
        self.made += 1
        message = {"id": update, "add": [key, value], "after": list(self.adds)}
        self.adds[update] = [key, value]
        if MODE == "states":
            message = self.adds
        self.messages.append(json.dumps(message).encode())

    def read(self, key):
        if MODE == "chatty":
            self.messages.append(b"read")
        return sorted({value for its, value in self.adds.values() if its == key})

    def sent(self):
        messages, self.messages = self.messages, []
        return messages

    def receive(self, message):
        message = json.loads(message)
        if MODE == "states":
            self.adds.update(message)
            return
        self.received += 1
        if MODE == "throws" and self.received % 5 == 0:
            raise ValueError("five")
        if MODE in ("strict", "ordered") and (message["id"] in self.adds or self.is_early(message)):
            raise ValueError("too early, or again")
        self.held.append(message)
        self.apply()

    def is_early(self, message):
        return MODE != "loose" and any(before not in self.adds for before in message["after"])

    def apply(self):
        for message in list(self.held):
            if MODE == "stuck" and message["id"] == "0.0:2" or self.is_early(message):
                continue
            self.adds[message["id"]] = message["add"]
            self.held.remove(message)
            self.apply()
            return

    def is_applied(self, message):
        return MODE == "states" or json.loads(message)["id"] in self.adds

    def save(self):
        if MODE == "unsaved":
            raise ValueError("nothing is saved")
        return json.dumps({"adds": self.adds, "held": self.held}).encode()

    def merge(self, saved):
        stored = json.loads(saved)
        self.adds.update(stored["adds"])
        self.held += [message for message in stored["held"] if message not in self.held]
        self.apply()

    def compact(self):
        return self.save()

    # First what is there, then what the other one lacks, in one message or in many.
    def connect(self):
        return {"begun": False, "answers": []}

    def say(self, link):
        said, link["answers"] = link["answers"], []
        if not link["begun"]:
            said.append(json.dumps({"has": list(self.adds)}).encode())
        link["begun"] = True
        return said

    def hear(self, link, message):
        message = json.loads(message)
        if "adds" in message:
            self.merge(json.dumps({"adds": message["adds"], "held": message.get("held", [])}))
            return
        lacks = {update: add for update, add in self.adds.items() if update not in message["has"]}
        if MODE == "asked":
            link["answers"] += [json.dumps({"adds": {update: add}}).encode() for update, add in lacks.items()]
        else:
            link["answers"].append(json.dumps({"adds": lacks, "held": self.held}).encode())

    def sync(self, other):
        if MODE == "unsaved":
            raise ValueError("nothing is in step")
        for to, of in ((self, other), (other, self)):
            to.adds.update(of.adds)
            to.held += [message for message in of.held if message not in to.held]
        self.apply()
        other.apply()


if MODE != "asked":
    Replica.carries_state = lambda self, message: "adds" in json.loads(message)
SURVIVES = {"strict": [], "ordered": ["restart", "join", "crash"], "stuck": ["reordering", "duplicates"]}
serve("fake 1.0", {"set": "grow-only-set", "other": "no-such-type"},
      SURVIVES.get(MODE, ["reordering", "duplicates", "loss", "restart", "join", "crash", "clocks", "files", "exchange",
                         "compaction"]), Replica,
      "states" if MODE == "states" else "updates")
