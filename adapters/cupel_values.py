"""The methods of docs/reference/formats/crdt.md for texts, movable lists, trees and documents, for cupel_adapter.py.

A request names elements, nodes and containers. A library has indices and paths, and names nodes and
containers itself. So each function looks the name up in what the library shows, and its answer says
what was done instead where that has gone meanwhile.
"""

FAIL = {"type": "fail"}


def add_after(doc, key, elements, value, number):
    """`elements`: what the list shows."""
    before, element = value
    index = 0 if before is None else number % (len(elements) + 1)
    if before in elements:
        index = elements.index(before) + 1
    doc.insert(key, index, element)
    return {"value": [elements[index - 1] if index else None, element]}


def move_element(doc, key, value, number):
    """An element that stays where it is is not moved."""
    element, before = value
    elements = list(doc.read(key))
    if element not in elements:
        return FAIL
    source = elements.index(element)
    del elements[source]
    target = 0 if before is None else number % (len(elements) + 1)
    if before in elements:
        target = elements.index(before) + 1
    if target == source:
        return FAIL
    doc.move(key, source, target)
    return {"value": [element, elements[target - 1] if target else None]}


def change_tree(doc, key, method, value, _number):
    """Nodes that are not there are made anew; a parent that has gone meanwhile is none."""
    above = {node: parent for node, parent in doc.read(key)}
    if method == "remove":
        return {} if value in above and doc.remove(key, value) is not False else FAIL
    node, parent = value
    to = parent if parent in above else None
    if node not in above:
        return {"value": [doc.create(key, to), to]}
    if above[node] == to:
        return FAIL  # a library need not count it as a move
    at, seen = to, set()  # what a library shows may have a cycle
    while at in above and at not in seen:
        if at == node:
            return FAIL
        seen.add(at)
        at = above[at]
    doc.move(key, node, to)
    return {"value": [node, to]}


def named(value):
    """A container as requests name it: {"map": id}; else the value."""
    return dict([next(iter(value.items()))]) if isinstance(value, dict) else value


def find_container(entries, container, path=()):
    """Its path, its kind and what it shows. None: it is not there."""
    for step, value in enumerate(entries) if isinstance(entries, list) else entries.items():
        if not isinstance(value, dict):
            continue
        kind, here = next(iter(value)), [*path, step]
        if named(value) == container:
            return here, kind, value["value"]
        found = find_container(value["value"], container, here) if kind in ("map", "list") else None
        if found:
            return found
    return None


def find_node(doc, key, place):
    """Path, kind, what it shows, and the keys after it: at most one."""
    first, *rest = place
    if not isinstance(first, dict):
        return [], "map", doc.read(key), [first, *rest]
    found = find_container(doc.read(key), first)
    return found and (*found, rest)


def container_of(container, kinds, number):
    """Of a kind that the library lacks, another one, which the answer names."""
    kind = next(iter(container))
    return {"kind": kind if kind in kinds else kinds[number % len(kinds)]}


def put_value(doc, key, kinds, value, number):
    place, put = value
    node = find_node(doc, key, place)
    if not node:
        return FAIL
    path = [*node[0], *node[3]]
    if not isinstance(put, dict):
        doc.put(key, path, put)
        return {}
    doc.put(key, path, container_of(put, kinds, number))
    return {"value": [place, named(find_node(doc, key, place)[2][node[3][0]])]}


def change_list(doc, key, place, method, argument, number, kinds):
    path, _, shown, _ = find_node(doc, key, place)
    elements = [named(element) for element in shown]
    if method == "remove":
        if argument not in elements:
            return FAIL
        doc.delete(key, path, elements.index(argument), 1)
        return {"value": argument}
    before, element = argument
    is_container = isinstance(element, dict)
    if is_container:  # where containers are put at keys only, it is an element
        element = container_of(element, kinds, number) if kinds else f"of {element}"
    at_path = type("ListAtPath", (), {"insert": lambda _self, *what: doc.insert(key, path, *what[1:])})()
    done = add_after(at_path, key, elements, [before, element], number)
    if not is_container or not kinds:
        return done
    # The library names it.
    after = done["value"][0]
    now = [named(one) for one in find_node(doc, key, place)[2]]
    return {"value": [after, now[0 if after is None else now.index(after) + 1]]}


def mark_text(doc, key, text, value):
    """As many characters as were named, from the first of them on."""
    characters, name, mark = value
    index = text.find(characters[0])
    if index < 0:
        return FAIL
    marked = text[index:index + len(characters)]
    doc.mark(key, index, len(marked), name, mark)
    return {"value": [marked, name, mark]}


def change_text(doc, where, text, method, argument, number):
    """`where`: the key of a text, or key and path of one in a document; `text`: what it shows."""
    if method == "delete":
        index = text.find(argument[0])
        if index < 0:
            return FAIL
        gone = text[index:index + len(argument)]
        doc.delete(*where, index, len(gone))
        return {"value": gone}
    before, inserted = argument
    index = 0 if before is None else text.find(before) + 1
    if before is not None and index == 0:  # gone meanwhile, as in a list
        index = number % (len(text) + 1)
    doc.insert(*where, index, inserted)
    return {"value": [text[index - 1] if index else None, inserted]}


def change_document(doc, key, library, method, value, number):
    """`library`: the class, which has `kinds`, and perhaps `element_kinds`."""
    if method == "put":
        return put_value(doc, key, library.kinds, value, number)
    place, argument = value[0], value[1] if len(value) > 1 else None
    node = find_node(doc, key, place)
    if not node:
        return FAIL
    path, kind, shown, keys = node
    if keys:
        if method != "remove" or keys[0] not in shown:
            return FAIL
        doc.remove_key(key, [*path, *keys])
        return {}
    if kind == "counter":
        doc.add(key, path, -argument if method == "dec" else argument)
        return {}
    if (kind, method) not in {("list", "addAfter"), ("list", "remove"), ("text", "insert"), ("text", "delete")}:
        return FAIL
    if kind == "list":
        done = change_list(doc, key, place, method, argument, number, getattr(library, "element_kinds", ()))
    else:
        done = change_text(doc, (key, path), shown, method, argument, number)
    return {"value": [place, done["value"]]} if "value" in done else done


def read_document(doc, key, value):
    """All of it, or what is at a path."""
    if value is None:
        return {"value": doc.read(key)}
    node = find_node(doc, key, value[0])
    return {"value": node[2].get(node[3][0])} if node else FAIL
