#!/usr/bin/env python3
"""An add-wins set (OR-set, Shapiro et al. 2011) for `cupel crdt run`; see docs/reference/crdt.md#run.

    cupel crdt run --type or-set --exec 'python3 replicated_set.py'
    cupel crdt run --type or-set --exec 'python3 replicated_set.py --bug'

Every add has a tag of its own. A remove names the tags that its replica has seen and
takes away those alone, so that an add which happens meanwhile survives. With --bug a
remove takes away all tags of the element: the concurrent add is lost.
"""
import json
import os
import sys

BUG = "--bug" in sys.argv[1:]
REPLICA = os.environ.get("CUPEL_REPLICA", "0")


class ReplicatedSet:
    def __init__(self):
        self.tags = {}  # element -> the tags of its adds that were not removed
        self.counter = 0

    # An update is prepared here, and the message it makes is applied here and everywhere.
    def add(self, element):
        self.counter += 1
        return {"add": element, "tag": f"{REPLICA}-{self.counter}"}

    def remove(self, element):
        return {"remove": element, "tags": sorted(self.tags.get(element, ()))}

    def apply(self, message):
        if "add" in message:
            self.tags.setdefault(message["add"], set()).add(message["tag"])
        elif BUG:
            self.tags.pop(message["remove"], None)
        else:
            self.tags.get(message["remove"], set()).difference_update(message["tags"])

    def contains(self, element):
        return bool(self.tags.get(element))

    def read(self):
        return sorted(element for element, tags in self.tags.items() if tags)


sets = {}  # key -> ReplicatedSet

for line in sys.stdin:
    request = json.loads(line)
    method, value = request["f"], request.get("value")
    answer = {"type": "ok"}
    if method == "deliver":
        key, message = value
        sets.setdefault(key, ReplicatedSet()).apply(message)
    else:
        here = sets.setdefault(request["key"], ReplicatedSet())
        if method in ("add", "remove"):
            message = here.add(value) if method == "add" else here.remove(value)
            here.apply(message)
            answer["send"] = [request["key"], message]
        else:
            answer["value"] = here.contains(value) if method == "contains" else here.read()
    print(json.dumps(answer), flush=True)
