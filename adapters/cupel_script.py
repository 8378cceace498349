"""Scripts of `cupel crdt run --adapter ./mine.py --reproduce FILE` (docs/reference/crdt-adapters.md#scripts): a
program that does with a library what some requests did. cupel_adapter.py notes what happened here.

The static method script(object, replicas, keys) of the class of replicas returns a dict that says how
the library is called. Its functions get names of variables and literals, and return source text:

    {"head": ["from sets import Set"],
     "open": lambda replica, time, saved: f"Set({replica}, {saved})",      # saved: None, or a variable
     "send": lambda d, update, m: [update] + ([f"{m} = {d}.last()"] if m else []),
     "receive": lambda d, m: f"{d}.merge({m})",
     "save": lambda d: f"{d}.dump()", "sync": lambda a, b: [f"{a}.merge({b})", f"{b}.merge({a})"],
     "calls": {"add": lambda d, key, value: f"{d}.add({value})", "read": lambda d, key: f"{d}.items()"}}

Without it, or if it returns None, the script calls the methods of the class.
"""

import json
import os
import sys


class Recorded:
    """A replica that notes how its updates are called."""

    def __init__(self, doc, calls):
        self._doc, self._calls = doc, calls

    def __getattr__(self, name):
        method = getattr(self._doc, name)
        if name == "read":
            return method

        def call(*values):
            self._calls.append((name, values))
            return method(*values)

        return call


class CallsOfAdapter(dict):
    """By name of a method: its call, of the class itself."""

    def __missing__(self, method):
        return lambda d, *values: f"{d}.{method}({', '.join(values)})"


def calls_of_adapter(replica_class, options):
    here, path = os.path.dirname(os.path.abspath(__file__)), os.path.abspath(sys.argv[0])
    given = ", ".join(f"{name}={value!r}" for name, value in options.items())

    def opened(replica, time, saved):
        return f"Replica(replica={replica}, time={time}, saved={saved}, {given})"

    def send(d, update, m):
        return [update, f"{m} = {d}.sent()" if m else f"{d}.sent()"]

    return {
        "head": ["import runpy", "import sys", f"sys.path.insert(0, {here!r})", "import cupel_adapter",
                 "cupel_adapter.serve = lambda *_, **__: None",
                 f"Replica = runpy.run_path({path!r})[{replica_class.__name__!r}]"],
        "open": opened, "opened": lambda d: f"{d}.sent()", "send": send,
        "receive": lambda d, m: [f"for part in {m}:", f"    {d}.receive(part)"],
        "save": lambda d: f"{d}.save()", "compact": lambda d: f"{d}.compact()",
        "merge": lambda d, saved: f"{d}.merge({saved})", "sync": lambda a, b: f"{a}.sync({b})",
        "connect": lambda d: f"{d}.connect()", "hear": lambda d, link, message: f"{d}.hear({link}, {message})",
        "say": lambda d, link, said: (f"[{', '.join(said)}] = " if said else "") + f"{d}.say({link})",
        "calls": CallsOfAdapter(),
    }


def name_of(replica):
    return chr(ord("a") + replica) if replica < 26 else f"r{replica}"


class Script:
    def __init__(self, replica_class, options):
        own = getattr(replica_class, "script", None)
        self.calls = (own and own(**options)) or calls_of_adapter(replica_class, options)
        self.events, self.messages = [], {}
        self.links, self.connected = {}, 0  # of exchanges: the variable of the state, by replica and peer
        self.missing = None  # what a script has no lines for

    def note(self, kind, replica, threw=None, **more):
        event = {"kind": kind, "replica": replica, "threw": (threw or {}).get("threw"), **more}
        self.events.append(event)
        return event

    def opened(self, replica, time, saved):
        self.note("open", replica, time=time, saved=saved)

    def updated(self, replica, calls, parts, threw):
        event = self.note("update", replica, threw, calls=calls)
        if parts:
            self.messages[json.dumps(parts)] = event

    def read(self, replica, key, element, value, threw):
        self.note("read", replica, threw, key=key, element=element, value=value)

    def delivered(self, replica, parts, threw):
        made = self.messages[json.dumps(parts)]
        made["name"] = None  # it gets one
        self.note("deliver", replica, threw, made=made)

    def synced(self, replica, other, threw):
        self.note("sync", replica, threw, other=other)

    def merged(self, replica, saved, threw):
        self.note("merge", replica, threw, saved=saved)

    def greeted(self, replica, other):
        if "connect" not in self.calls:
            self.missing = "exchanges by the library's protocol"
        links = [f"link{self.connected + 1}", f"link{self.connected + 2}"]
        self.connected += 2
        self.links[replica, other], self.links[other, replica] = links
        return self.note("greet", replica, other=other, links=links, link=links[0], said=[])

    def heard(self, replica, peer, message, threw):
        return self.note("hear", replica, threw, link=self.links[replica, peer], heard=message, said=[])

    def said(self, event, count, threw):
        event["said"] = [{} for _ in range(count)]
        event["threw"] = event["threw"] or threw.get("threw")
        return event["said"]

    def saved(self, replica, how="save"):
        return self.note("save", replica, name=None, how=how)

    def clock(self, seconds):
        self.note("clock", 0, seconds=seconds)

    def lines(self, about, wrong):
        """The lines, what they print, and of what the last one throws what standard error has."""
        if self.missing:
            return {"type": "fail", "why": f"a script has no lines for {self.missing}"}
        body, prints, throws, number = [], [], None, 0
        last = [event for event in self.events if event["kind"] == "read"][-1:]
        for event in self.events:
            for message in event.get("said", []):
                number += 1
                message["name"] = f"s{number}"
            if "name" in event:
                number += 1
                event["name"] = f"{'saved' if event['kind'] == 'save' else 'm'}{number}"
            lines = self.lines_of(event)
            body += [lines] if isinstance(lines, str) else lines
            if event["threw"]:
                throws = event["threw"].split("(")[0]
                body[-1] += f"  # throws: {event['threw']}"
                break
            if event["kind"] == "read":
                prints.append(json.dumps(event["value"]))
                body[-1] += f"  # {prints[-1]}" + (f": {wrong}" if last and event is last[0] else "")
        head = ["import json", *self.calls["head"]]
        return {"lines": [*(f"# {line}" for line in about), *head, "", *body], "prints": prints, "throws": throws}

    def lines_of(self, event):
        kind, d, calls = event["kind"], name_of(event["replica"]), self.calls
        if kind == "open":
            saved = event["saved"] and event["saved"]["name"]
            lines = [f"{d} = {calls['open'](event['replica'], event['time'], saved)}"]
            return lines + ([calls["opened"](d)] if "opened" in calls else [])
        if kind == "update":
            texts = [calls["calls"][method](d, *map(repr, values)) for method, values in event["calls"]]
            sends = [calls["send"](d, text, None) for text in texts[:-1]]
            sends += [calls["send"](d, text, event.get("name")) for text in texts[-1:]]
            return [line for lines in sends for line in ([lines] if isinstance(lines, str) else lines)]
        if kind == "read":
            text = calls["calls"]["read"](d, repr(event["key"]))
            if event["element"] is not None:
                return f"print(json.dumps({event['element']!r} in {text}))"
            if isinstance(event["value"], list):
                text = f"(lambda v: sorted(v, key=str) if isinstance(v, (set, frozenset)) else list(v))({text})"
            return f"print(json.dumps({text}))"
        if kind == "deliver":
            return calls["receive"](d, event["made"]["name"])
        if kind == "sync":
            return calls["sync"](d, name_of(event["other"]))
        if kind in ("greet", "hear"):
            lines = [f"{link} = {calls['connect'](name_of(one))}"
                     for link, one in zip(event.get("links", []), (event["replica"], event.get("other")))]
            if kind == "hear":
                lines.append(calls["hear"](d, event["link"], event["heard"]["name"]))
            return lines + [calls["say"](d, event["link"], [message["name"] for message in event["said"]])]
        if kind == "save":
            return f"{event['name']} = {calls[event['how']](d)}"
        if kind == "merge":
            return calls["merge"](d, event["saved"]["name"])
        return ["import time", f"time.time = lambda: {event['seconds']}"]
