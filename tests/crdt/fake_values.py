"""A movable list, a tree, a document and a text with marks as an adapter for adapter_test.cpp. A replica has the updates
that it made and received, and a read does all of them again in the order of their stamps.

    fake_values.py

The objects `ignores-moves`, `loses-moves`, `loses-nested` and `loses-marks` are the same with a bug.
"""

import json

from cupel_adapter import serve


class Replica:
    kinds = ["map", "list", "text", "counter"]
    element_kinds = ["map", "list"]

    def __init__(self, replica, replicas, keys, object, time, saved):
        self.name, self.object, self.messages = replica + 1000 * time, object, []
        self.updates = {tuple(stamp): update for stamp, update in json.loads(saved)} if saved else {}

    def make(self, key, *what):
        stamp = max((stamp for stamp, _ in self.updates), default=0) + 1, self.name
        self.updates[stamp] = [key, *what]
        self.messages.append(json.dumps([stamp, [key, *what]]).encode())
        return "{}@{}".format(*stamp)

    def sent(self):
        messages, self.messages = self.messages, []
        return messages

    def receive(self, message):
        stamp, update = json.loads(message)
        if self.object == "loses-moves" and update[1] == "move" and update[2] is not None:
            return
        if self.object == "loses-nested" and update[1] == "add":
            return
        if self.object == "loses-marks" and update[1] == "mark" and update[-1] is None:
            return
        self.updates[tuple(stamp)] = update

    def save(self):
        return json.dumps(list(self.updates.items())).encode()

    def of(self, key):
        for stamp, update in sorted(self.updates.items()):
            if update[0] == key:
                yield "{}@{}".format(*stamp), update[1:]

    # Sequences: of each place its element, in order; a new one is right after the one before it.
    def places(self, key, container=None):
        order, taken = [], set()
        for stamp, (kind, within, *what) in self.of(key):
            if within != container:
                continue
            if kind == "place":
                element, before = what
                order.insert([place for place, _ in order].index(before) + 1 if before else 0, (stamp, element))
            elif kind == "take":
                taken.update(what[0])
        return order, taken

    # Each element at its last place.
    def shown(self, key, container=None):
        order, taken = self.places(key, container)

        def time(place):
            return [int(part) for part in place.split("@")]
        last = {}
        for place, element in order:
            if isinstance(element, dict):
                continue  # a container, which is made where it is
            if element not in last or (time(last[element]) < time(place) and self.object != "ignores-moves"):
                last[element] = place
        return [(place, element) for place, element in order
                if (isinstance(element, dict) or last[element] == place) and place not in taken]

    def put_place(self, key, container, index, element, shown):
        self.make(key, "place", container, element, shown[index - 1][0] if index else None)

    # Texts with marks: a mark reaches from a place to a place, and the last one of its name counts.
    def mark(self, key, index, length, name, value):
        shown = self.shown(key)
        self.make(key, "mark", None, shown[index][0], shown[index + length - 1][0], name, value)

    def runs(self, key):
        order, _ = self.places(key)
        at, marks, runs = [place for place, _ in order], {place: {} for place, _ in order}, []
        for _, (kind, _, *what) in self.of(key):
            if kind == "mark":
                first, last, name, value = what
                for place in at[at.index(first):at.index(last) + 1]:
                    marks[place][name] = value
        for place, character in self.shown(key):
            own = {name: value for name, value in marks[place].items() if value is not None}
            if runs and runs[-1][1] == own:
                runs[-1][0] += character
            else:
                runs.append([character, own])
        return runs

    def is_marked(self):
        return self.object in ("marked", "loses-marks")

    # Trees: a move below the node itself has no effect.
    def tree(self, key):
        above = {}
        for stamp, (_, node, parent) in self.of(key):
            node, at = node or stamp, parent
            while at in above and at != node:
                at = above[at]
            if at != node:
                above[node] = parent

        def is_shown(node):
            parent = above.get(node, "gone")
            return parent is None or (parent != "gone" and is_shown(parent))
        return [[node, parent] for node, parent in above.items() if is_shown(node)]

    def create(self, key, parent):
        return self.make(key, "move", None, parent)

    def remove(self, key, node):
        self.make(key, "move", node, "gone")

    def move(self, key, one, other):
        if self.object in ("tree", "loses-moves"):
            self.make(key, "move", one, other)
            return
        shown = self.shown(key)
        _, element = shown.pop(one)
        self.put_place(key, None, other, element, shown)

    # Documents: of each place the last put or remove.
    def entries(self, key, container):
        kept = {}
        for stamp, (kind, within, *what) in self.of(key):
            if kind == "put" and within == container:
                name, value = what
                kept[name] = value if value is None or not isinstance(value, dict) else {value["kind"]: stamp}
        return {name: self.with_content(key, value) for name, value in kept.items() if value is not None}

    def with_content(self, key, value):
        if not isinstance(value, dict):
            return value
        kind, name = next(iter(value.items()))
        if kind == "map":
            content = self.entries(key, name)
        elif kind == "counter":
            content = sum(what[0] for _, (method, within, *what) in self.of(key)
                          if method == "add" and within == name)
        else:
            content = [self.with_content(key, {element["kind"]: place}) if isinstance(element, dict) else element
                       for place, element in self.shown(key, name)]
        return {kind: name, "value": "".join(content) if kind == "text" else content}

    def container(self, key, path):
        entries, name = self.entries(key, None), None
        for step in path:
            name = next(iter(entries[step].values()))
            entries = entries[step]["value"]
        return name

    def put(self, key, path, value):
        self.make(key, "put", self.container(key, path[:-1]), path[-1], value)

    def remove_key(self, key, path):
        self.put(key, path, None)

    def add(self, key, path, amount):
        self.make(key, "add", self.container(key, path), amount)

    # Of a list (index, element), of a document (path, index, what).
    def insert(self, key, *what):
        path, index, inserted = what if len(what) == 3 else (None, *what)
        container = None if path is None else self.container(key, path)
        is_text = self.is_marked() or (path is not None and isinstance(self.at(key, path), str))
        for character in inserted if is_text else [inserted]:
            self.put_place(key, container, index, character, self.shown(key, container))
            index += 1

    def at(self, key, path):
        entries = self.entries(key, None)
        for step in path:
            entries = entries[step]["value"]
        return entries

    def delete(self, key, *what):
        path, index, length = what if len(what) == 3 else (None, *what, 1)[:3]
        container = None if path is None else self.container(key, path)
        gone = self.shown(key, container)[index:index + length]
        self.make(key, "take", container, [place for place, _ in gone])

    def read(self, key):
        if self.object in ("tree", "loses-moves"):
            return self.tree(key)
        if self.object in ("document", "loses-nested"):
            return self.entries(key, None)
        if self.is_marked():
            return self.runs(key)
        return [element for _, element in self.shown(key)]


serve("fake values 1.0", {"list": "movable-list", "tree": "tree", "document": "map",
                          "marked": ("marked-text", ["duplicates", "join"]), "ignores-moves": "movable-list",
                          "loses-moves": "tree", "loses-nested": "map", "loses-marks": "marked-text"},
      ["duplicates", "restart", "crash", "join"], Replica)
