"""The harness of adapters in Python, for `cupel crdt run --adapter ./mine.py` (docs/reference/crdt-adapters.md).

    from cupel_adapter import serve

    class Replica:                      # the document of one replica
        def __init__(self, replica, replicas, keys, object, time, saved): ...
        def add(self, key, value): ...  # an update is a method of its name in docs/reference/formats/crdt.md
        def read(self, key): ...        # what the type returns
        def sent(self): ...             # the messages since the last call, a list of bytes
        def receive(self, message): ...
        def save(self): ...             # bytes; for `restart`, `join` and `crash`
        def sync(self, other): ...      # for `loss`: both bring each other up to date
        def merge(self, saved): ...     # for `files`
        def compact(self): ...          # for `compaction`: as save(), without the history
        def connect(self): ...          # for `exchange`: the state of a connection, an object
        def say(self, link): ...        # its next messages, a list of bytes
        def hear(self, link, message): ...

    serve("my library 1.0", {"set": "add-wins-set"}, ["duplicates"], Replica)

A list has `insert(key, index, element)` and `delete(key, index)` in place of addAfter and remove.
A text has `insert(key, index, characters)` and `delete(key, index, length)`, and reads are strings.
A text with marks has these, too, and `mark(key, index, length, name, value)`, where None takes the mark
away; reads are runs, each with its characters and a dict of their marks.
A movable list has a list's, and `move(key, from, to)`, both indices without the element itself. A tree has
`create(key, parent)`, which returns the node, `move(key, node, parent)` and `remove(key, node)`; reads are
pairs of a node and its parent, None at the top. A map is a document: the class has `kinds`, the containers that
it has, of "map", "list", "text" and "counter", and the methods `put(key, path, value)`, a scalar or
{"kind": kind}; `remove_key(key, path)`; `add(key, path, amount)`; `insert(key, path, index, what)`, characters
or an element, which may be {"kind": kind} if the class has `element_kinds`; `delete(key, path, index, length)`; reads are documents with the library's ids
(docs/reference/documents.md#operations). A path is a list of keys, and of indices in lists.
With several=True, serve() also makes documents of several objects: `object` is None then, and __init__
gets `object_of`, which says by key which object it is.
A counter without amounts has `by_one = True` in its class, and `inc(key, 1)` is all that is asked of it.
An object that survives less than the library is a pair: {"map": ("last-writer-wins-map", ["duplicates"])}.
An update that returns False did not happen. A library that keeps messages until others have come
has `is_applied(message)`. If some messages of an exchange have all that their sender has seen, the
class has `carries_state(message)`, which says which.

A script of --reproduce calls these methods, unless the class has `script(object, replicas, keys)`
(with several=True also `object_of`),
which returns how the library itself is called (cupel_script.py).
"""

import base64
import json
import sys
import time

from cupel_script import Recorded, Script
from cupel_values import (FAIL, add_after, change_document, change_text, change_tree, mark_text, move_element,
                          read_document)


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
    def __init__(self, library, objects, survives, replica_class, messages="updates", several=False):
        self.library, self.survives = library, survives
        pairs = {name: (kind,) if isinstance(kind, str) else kind for name, kind in objects.items()}
        self.hello = [[name, *pair] for name, pair in pairs.items()]
        self.objects = {name: pair[0] for name, pair in pairs.items()}
        self.make, self.messages, self.several = replica_class, messages, several
        self.clock = Clock()
        self.clear()

    def clear(self):
        self.docs, self.times, self.waiting = [], [], []
        self.saved, self.ahead, self.script = {}, {}, None
        self.links, self.sent = {}, {}  # exchanges by replica and peer; messages by number
        self.perhaps = {}  # by replica: messages that an exchange may have brought, and that may wait
        self.number = self.clock.looks = 0

    def answer(self, request):
        self.clock.ahead = self.ahead.get(request.get("replica"), 0)
        method = getattr(self, "on_" + request["f"], self.perform)
        return {"type": "ok", **method(request)}

    def on_hello(self, _request):
        return {"library": self.library, "objects": self.hello,
                "survives": self.survives, "messages": self.messages, "several": self.several}

    # What was before is forgotten.
    def on_begin(self, request):
        self.clear()
        self.options = {name: request[name] for name in ("replicas", "keys", "object")}
        object_of = {key: request["object"] for key in request["keys"]} | request.get("objects", {})
        if self.several:
            self.options["object_of"] = object_of
        self.types = {key: self.objects[name] for key, name in object_of.items()}
        if request.get("script"):
            self.script = Script(self.make, self.options)
        for replica in range(request["replicas"]):
            self.times.append(0)
            self.waiting.append({})
            self.docs.append(self.open(replica, None))
        return {}

    # `origin`: what the script says of it, if it was saved; `perhaps` is saved with it.
    def open(self, replica, saved, origin=None, perhaps=()):
        self.perhaps[replica] = set(perhaps)
        self.links = {pair: link for pair, link in self.links.items() if replica not in pair}
        doc = self.make(replica=replica, time=self.times[replica], saved=saved, **self.options)
        if self.script:
            self.script.opened(replica, self.times[replica], origin)
        self.times[replica] += 1
        doc.sent()  # what makes an empty document is not sent
        return doc

    def perform(self, request):
        replica, key, method, value = (request.get(name) for name in ("replica", "key", "f", "value"))
        doc, calls, answer, parts = self.docs[replica], [], {}, []
        self.number += 1

        def call():
            nonlocal answer, parts
            target = Recorded(doc, calls) if self.script else doc
            if method == "edit":
                answer = self.edit_places(target, key, value, request["named"])
            else:
                answer = self.execute(target, key, method, value)
            sent = doc.sent()
            if sent and "message" in request:
                self.sent[request["message"]] = sent
            parts = [base64.b64encode(part).decode() for part in sent]
            if method == "mark" and not sent:
                answer = FAIL  # it was so already

        threw = self.attempt(call)
        if self.script and method in ("read", "contains"):
            # A script reads all of a document.
            content = doc.read(key) if self.is_document(key) else answer.get("value")
            self.script.read(replica, key, None if method == "read" else value, content, threw)
        elif self.script and (threw or answer.get("type") != "fail"):
            self.script.updated(replica, calls, parts, threw)
        if threw:  # the library's error; cupel reports it
            return {"type": "fail", **threw}
        return {**answer, "send": parts} if parts else answer

    def is_document(self, key):
        return self.types[key] in ("map", "remove-wins-map", "update-wins-map", "reset-map")

    def execute(self, doc, key, method, value):
        if self.is_document(key):
            if method == "read":
                return read_document(doc, key, value)
            return change_document(doc, key, self.make, method, value, self.number)
        if method == "read":
            content = doc.read(key)
            return {"value": sorted(content, key=str) if isinstance(content, (set, frozenset)) else content}
        if method == "contains":
            return {"value": value in doc.read(key)}
        if self.types[key] in ("text", "marked-text"):
            return self.edit_text(doc, key, method, value)
        if self.types[key] == "tree":
            return change_tree(doc, key, method, value, self.number)
        if self.types[key] in ("list", "growable-array", "movable-list"):
            return self.edit(doc, key, method, value)
        if method in ("inc", "dec"):
            amount = 1 if value is None or getattr(self.make, "by_one", False) else value
            return FAIL if getattr(doc, method)(key, amount) is False else {"value": amount}
        arguments = () if value is None else (value,)
        return {"type": "fail"} if getattr(doc, method)(key, *arguments) is False else {}

    def edit(self, doc, key, method, value):
        if method == "move":
            return move_element(doc, key, value, self.number)
        elements = doc.read(key)
        if method != "remove":
            # The element before may have gone meanwhile: some other place, which the answer names.
            return add_after(doc, key, elements, value, self.number)
        if value not in elements:
            return FAIL
        doc.delete(key, elements.index(value))
        return {}

    def text_of(self, doc, key):
        text = doc.read(key)
        return text if self.types[key] == "text" else "".join(characters for characters, _ in text)

    def edit_text(self, doc, key, method, value):
        text = self.text_of(doc, key)
        if method == "mark":
            return mark_text(doc, key, text, value)
        return change_text(doc, (key,), text, method, value, self.number)

    # Many edits by index, as an editing trace has them. `named`: says what is there, None where the
    # text is shorter, and then makes no more edits.
    def edit_places(self, doc, key, patches, named):
        places = []
        for position, deleted, inserted, *_ in patches:
            if named:
                text = self.text_of(doc, key)
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
        if self.script:
            self.script.delivered(replica, request["value"], threw)
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
        if self.script:
            self.script.synced(one, other, threw)
        self.perhaps[one] = self.perhaps[one] | self.perhaps[other]
        self.perhaps[other] = set(self.perhaps[one])
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
            saved = self.docs[replica].save()
            origin = self.script.saved(replica) if self.script else None
            self.saved[replica] = saved, dict(self.waiting[replica]), origin, set(self.perhaps[replica])
        return {**self.waiting_at([replica]), **self.attempt(keep)}

    def on_crash(self, request):
        replica = request["replica"]
        saved, waiting, origin, perhaps = self.saved.get(replica, (None, {}, None, ()))

        def begin_again():
            self.docs[replica] = self.open(replica, saved, origin, perhaps)
        threw = self.attempt(begin_again)
        if threw:
            return threw
        self.waiting[replica] = {}
        self.keep(replica, waiting)
        return self.waiting_at([replica])

    def on_merge(self, request):
        replica = request["replica"]
        saved, waiting, origin, _ = self.saved[request["from"]]
        threw = self.attempt(lambda: self.docs[replica].merge(saved))
        if self.script:
            self.script.merged(replica, origin, threw)
        self.keep(replica, waiting)
        return {**self.waiting_at([replica]), **threw}

    def on_compact(self, request):
        replica = request["replica"]

        def begin_again():
            saved = self.docs[replica].compact()
            origin = self.script.saved(replica, "compact") if self.script else None
            self.docs[replica] = self.open(replica, saved, origin)

        return {**self.waiting_at([replica]), **self.attempt(begin_again)}

    def on_greet(self, request):
        one, other = request["replica"], request["from"]
        for pair in ((one, other), (other, one)):
            self.links[pair] = {"state": self.docs[pair[0]].connect(), "sent": []}
        return self.say(one, other, self.script.greeted(one, other) if self.script else None)

    # Of each message the harness keeps what waited at its sender, or perhaps did, and what the script says.
    def say(self, replica, peer, event):
        link, said = self.links[replica, peer], []
        threw = self.attempt(lambda: said.extend(self.docs[replica].say(link["state"])))
        scripts = self.script.said(event, len(said), threw) if event else [None] * len(said)
        link["sent"] += [(dict(self.waiting[replica]), set(self.perhaps[replica]), script) for script in scripts]
        return {"say": [base64.b64encode(part).decode() for part in said], **threw}

    def on_hear(self, request):
        replica, peer, message = request["replica"], request["from"], base64.b64decode(request["value"])
        doc = self.docs[replica]
        threw = self.attempt(lambda: doc.hear(self.links[replica, peer]["state"], message))
        waiting, perhaps, script = self.links[peer, replica]["sent"].pop(0)
        event = self.script.heard(replica, peer, script, threw) if self.script else None
        states = hasattr(doc, "carries_state")
        carries = "state" if states and doc.carries_state(message) else "nothing"
        self.keep(replica, waiting if carries == "state" else {})
        if not states:
            self.perhaps[replica].update(perhaps, (n for n in request["lacks"] if n in self.sent))
        return {**self.waiting_at([replica]), "carries": carries, **self.say(replica, peer, event), **threw}

    def on_clock(self, request):
        self.ahead[request["replica"]] = request["ahead"]
        if self.script:
            self.script.clock(Clock.EPOCH + request["ahead"] / 1000)
        return {}

    def on_script(self, request):
        return self.script.lines(request["about"], request["wrong"])

    # If the library throws, the replica goes on as it was.
    def load(self, replica, origin):
        def begin_again():
            saved = self.docs[origin].save()
            script = self.script.saved(origin) if self.script else None
            self.docs[replica] = self.open(replica, saved, script, self.perhaps[origin])
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
        waiting = {str(r): list(self.waiting[r]) for r in replicas if self.waiting[r]}
        applied = {str(r): here for r in replicas if (here := self.brought_to(r))}
        return {name: some for name, some in (("waiting", waiting), ("applied", applied)) if some}

    # Of what an exchange may have brought, those that are applied now.
    def brought_to(self, replica):
        doc = self.docs[replica]
        here = [number for number in sorted(self.perhaps[replica])
                if all(doc.is_applied(part) for part in self.sent[number])]
        self.perhaps[replica].difference_update(here)
        return here


def serve(library, objects, survives, replica_class, messages="updates", several=False):
    harness = Harness(library, objects, survives, replica_class, messages, several)
    for line in sys.stdin:
        print(json.dumps(harness.answer(json.loads(line))), flush=True)
