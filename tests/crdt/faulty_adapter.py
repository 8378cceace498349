"""An adapter whose objects are wrong, for reproduce_test.cpp. Messages may come in any order and again.

forgets   a grow-only set that forgets the third element that comes to a replica
throws    a grow-only set that throws at the third element that comes to a replica
own       a register that prefers the replica's own writes to concurrent ones, so replicas differ
unheard   a grow-only set that forgets one of the elements that come by an exchange
scripted  as forgets, and says how its library is called
by-chance a grow-only set that forgets an element once and for all
"""

import json
import os
import sys

from cupel_adapter import serve


class Forgetful:
    """The library of `scripted`."""

    def __init__(self):
        self.values, self.received = set(), 0

    def add(self, value):
        self.values.add(value)
        return value

    def merge(self, value):
        self.received += 1
        if self.received != 3:
            self.values.add(value)


class Replica:
    def __init__(self, replica, replicas, keys, object, time, saved, object_of):
        self.name, self.mode, self.mode_of = f"{replica}.{time}", object, object_of
        self.messages = []
        self.set = Forgetful()
        self.writes = {}  # id -> value, the ids that it had seen
        self.received = 0

    def add(self, key, value):
        self.set.add(value)
        self.messages.append(value.encode())

    def write(self, key, value):
        update = f"{self.name}:{len(self.writes)}"
        self.writes[update] = value, list(self.writes)
        self.messages.append(json.dumps([update, *self.writes[update]]).encode())

    def read(self, key):
        if self.mode_of[key] != "own":
            return self.set.values
        overwritten = {seen for _, before in self.writes.values() for seen in before}
        ids = [update for update in self.writes if update not in overwritten]
        ids.sort(key=lambda update: (not update.startswith(self.name), update))
        return self.writes[ids[0]][0] if ids else None

    def sent(self):
        messages, self.messages = self.messages, []
        return messages

    def receive(self, message):
        if message[:1] == b"[":
            update, value, before = json.loads(message)
            self.writes[update] = value, before
            return
        self.received += 1
        if self.mode == "throws" and self.received == 3:
            raise ValueError("three")
        if self.mode == "by-chance" and not os.path.exists(os.environ["FAULTY_ONCE"]):
            open(os.environ["FAULTY_ONCE"], "w").close()
            return
        if self.mode in ("throws", "by-chance", "unheard"):
            self.set.add(message.decode())
        else:
            self.set.merge(message.decode())

    # An exchange: each says all that it has.
    def connect(self):
        return {"begun": False}

    def say(self, link):
        begun, link["begun"] = link["begun"], True
        return [] if begun else [json.dumps(sorted(self.set.values)).encode()]

    def hear(self, link, message):
        self.set.values.update(json.loads(message)[1:])

    def carries_state(self, message):
        return True

    @staticmethod
    def script(object, replicas, keys, object_of):
        if object != "scripted":
            return None
        return {
            "head": ["import runpy", "import cupel_adapter", "cupel_adapter.serve = lambda *_, **__: None",
                     f"Forgetful = runpy.run_path({os.path.abspath(sys.argv[0])!r})['Forgetful']"],
            "open": lambda replica, time, saved: "Forgetful()",
            "send": lambda d, update, m: f"{m} = {update}" if m else update,
            "receive": lambda d, m: f"{d}.merge({m})",
            "calls": {"add": lambda d, key, value: f"{d}.add({value})", "read": lambda d, key: f"{d}.values"},
        }


serve("faulty 1.0", {"forgets": "grow-only-set", "throws": "grow-only-set", "scripted": "grow-only-set",
                     "by-chance": "grow-only-set", "unheard": ("grow-only-set", ["exchange"]), "own": "any-maximal-register"}, ["reordering"], Replica,
      several=True)
