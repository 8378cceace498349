"""The harness of adapters in Python, for `cupel crdt run --adapter ./mine.py` (docs/crdt-adapters.md).

    from cupel_adapter import serve

    class Replica:                      # the document of one replica
        def __init__(self, replica, replicas, keys, object, time, saved): ...
        def add(self, key, value): ...  # an update is a method of its name in docs/formats/crdt.md
        def read(self, key): ...        # what the type returns
        def sent(self): ...             # the messages since the last call, a list of bytes
        def receive(self, message): ...
        def save(self): ...             # bytes; for `restart`, `join` and `crash`
        def sync(self, other): ...      # for `loss`: both bring each other up to date

    serve("my library 1.0", {"set": "add-wins-set"}, ["duplicates"], Replica)

A list has `insert(key, index, element)` and `delete(key, index)` in place of addAfter and remove.
A text has `insert(key, index, characters)` and `delete(key, index, length)`, and reads are strings.
An update that returns False did not happen. A library that keeps messages until others have come
has `is_applied(message)`.
"""

import base64
import json
import sys
import time


class Clock:
    """The wall clock of a replica: one millisecond a look, and as far ahead as cupel says."""

    EPOCH = 1767225600  # 2026-01-01

    def __init__(self):
        self.looks, self.ahead = 0, 0
        time.time = self.now

    def now(self):
        self.looks += 1
        return self.EPOCH + (self.looks + self.ahead) / 1000


class Harness:
    def __init__(self, library, objects, survives, replica_class, messages="updates"):
        self.library, self.objects, self.survives = library, objects, survives
        self.make, self.messages = replica_class, messages
        self.docs, self.times, self.waiting = [], [], []
        self.saved, self.clock, self.ahead = {}, Clock(), {}
        self.number = 0

    def answer(self, request):
        self.clock.ahead = self.ahead.get(request.get("replica"), 0)
        method = getattr(self, "on_" + request["f"], self.perform)
        return {"type": "ok", **method(request)}

    def on_hello(self, _request):
        return {"library": self.library, "objects": list(self.objects.items()),
                "survives": self.survives, "messages": self.messages}

    def on_begin(self, request):
        self.options = {name: request[name] for name in ("replicas", "keys", "object")}
        self.type = self.objects[request["object"]]
        for replica in range(request["replicas"]):
            self.times.append(0)
            self.waiting.append({})
            self.docs.append(self.open(replica, None))
        return {}

    def open(self, replica, saved):
        doc = self.make(replica=replica, time=self.times[replica], saved=saved, **self.options)
        self.times[replica] += 1
        doc.sent()  # what makes an empty document is not sent
        return doc

    def perform(self, request):
        doc, key = self.docs[request["replica"]], request["key"]
        self.number += 1
        try:
            if request["f"] == "edit":
                answer = self.edit_places(doc, key, request["value"], request["named"])
            else:
                answer = self.execute(doc, key, request["f"], request.get("value"))
            parts = [base64.b64encode(part).decode() for part in doc.sent()]
        except Exception as error:  # the library's; cupel reports it
            return {"type": "fail", "threw": repr(error)}
        return {**answer, "send": parts} if parts else answer

    def execute(self, doc, key, method, value):
        if method == "read":
            content = doc.read(key)
            return {"value": list(content) if isinstance(content, (set, frozenset)) else content}
        if method == "contains":
            return {"value": value in doc.read(key)}
        if self.type == "text":
            return self.edit_text(doc, key, method, value)
        if self.type in ("list", "growable-array"):
            return self.edit(doc, key, method, value)
        arguments = () if value is None else (value,)
        return {"type": "fail"} if getattr(doc, method)(key, *arguments) is False else {}

    def edit(self, doc, key, method, value):
        elements = doc.read(key)
        if method == "remove":
            if value not in elements:
                return {"type": "fail"}
            doc.delete(key, elements.index(value))
            return {}
        before, element = value
        # The element before may have gone meanwhile: some other place, which the answer names.
        index = 0 if before is None else self.number % (len(elements) + 1)
        if before in elements:
            index = elements.index(before) + 1
        doc.insert(key, index, element)
        return {"value": [elements[index - 1] if index else None, element]}

    def edit_text(self, doc, key, method, value):
        text = doc.read(key)
        if method == "delete":
            index = text.find(value[0])
            if index < 0:
                return {"type": "fail"}
            gone = text[index:index + len(value)]
            doc.delete(key, index, len(gone))
            return {"value": gone}
        before, inserted = value
        index = 0 if before is None else text.find(before) + 1
        if before is not None and index == 0:  # gone meanwhile, as in a list
            index = self.number % (len(text) + 1)
        doc.insert(key, index, inserted)
        return {"value": [text[index - 1] if index else None, inserted]}

    # Many edits by index, as an editing trace has them. `named`: says what is there, None where the
    # text is shorter, and then makes no more edits.
    def edit_places(self, doc, key, patches, named):
        places = []
        for position, deleted, inserted, *_ in patches:
            if named:
                text = doc.read(key)
                if position + deleted > len(text):
                    places.append(None)
                    break
                places.append([text[position - 1] if position else "", text[position:position + deleted]])
            if deleted:
                doc.delete(key, position, deleted)
            if inserted:
                doc.insert(key, position, inserted)
        return {"value": places} if named else {}

    def on_deliver(self, request):
        replica, parts = request["replica"], [base64.b64decode(p) for p in request["value"]]
        threw = self.attempt(lambda: [self.docs[replica].receive(part) for part in parts])
        self.keep(replica, {request["message"]: parts})
        return {**self.waiting_at([replica]), **threw}

    # A library that throws has still been given the request: its reads are checked.
    def attempt(self, call):
        try:
            call()
            return {}
        except Exception as error:
            return {"threw": repr(error)}

    def on_sync(self, request):
        one, other = request["replica"], request["from"]
        threw = self.attempt(lambda: self.docs[one].sync(self.docs[other]))
        both = {**self.waiting[one], **self.waiting[other]}
        self.keep(one, both)
        self.keep(other, both)
        return {**self.waiting_at([one, other]), **threw}

    def on_restart(self, request):
        return self.load(request["replica"], request["replica"])

    def on_join(self, request):
        return self.load(request["replica"], request["from"])

    def on_save(self, request):
        replica = request["replica"]

        def keep():
            self.saved[replica] = self.docs[replica].save(), dict(self.waiting[replica])
        return {**self.waiting_at([replica]), **self.attempt(keep)}

    def on_crash(self, request):
        replica = request["replica"]
        saved, waiting = self.saved.get(replica, (None, {}))

        def begin_again():
            self.docs[replica] = self.open(replica, saved)
        threw = self.attempt(begin_again)
        if threw:
            return threw
        self.waiting[replica] = {}
        self.keep(replica, waiting)
        return self.waiting_at([replica])

    def on_clock(self, request):
        self.ahead[request["replica"]] = request["ahead"]
        return {}

    # If the library throws, the replica goes on as it was.
    def load(self, replica, origin):
        def begin_again():
            self.docs[replica] = self.open(replica, self.docs[origin].save())
        waiting = self.waiting[origin]
        threw = self.attempt(begin_again)
        if threw:
            return {**self.waiting_at([replica]), **threw}
        self.waiting[replica] = {}
        self.keep(replica, waiting)
        return self.waiting_at([replica])

    # The messages, and those that waited before, as far as they wait now.
    def keep(self, replica, messages):
        is_applied = getattr(self.docs[replica], "is_applied", lambda _part: True)
        every = {**self.waiting[replica], **messages}
        self.waiting[replica] = {message: parts for message, parts in every.items()
                                 if not all(is_applied(part) for part in parts)}

    def waiting_at(self, replicas):
        some = {str(r): list(self.waiting[r]) for r in replicas if self.waiting[r]}
        return {"waiting": some} if some else {}


def serve(library, objects, survives, replica_class, messages="updates"):
    harness = Harness(library, objects, survives, replica_class, messages)
    for line in sys.stdin:
        print(json.dumps(harness.answer(json.loads(line))), flush=True)
