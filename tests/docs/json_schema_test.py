#!/usr/bin/env python3
"""Compares docs/reference/output.schema.json with what the commands print with --json.

    json_schema_test.py CUPEL quick|servers

Each output must be valid under the definition of its command. Each property of the schema must occur in some
output, or be in UNSEEN with the reason. A field that an output lacks or adds must be an error, and the names of
levels, anomalies and types must be those of the program. `quick` runs every command, with SQLite as the database.
`servers` adds runs with faults on a PostgreSQL that is started for them, and checks in windows, whose limit of
memory is too low for sanitizers.
"""
import copy
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = os.path.join(ROOT, "docs", "reference")
with open(os.path.join(PAGES, "output.schema.json"), encoding="utf-8") as schema_file:
    SCHEMA = json.load(schema_file)
DEFINITIONS = SCHEMA["$defs"]
CUPEL, LABEL = "", ""

# Properties that no output here has: why.
UNSEEN = {
    "run_fields.pooler": "needs a connection pooler before the server",
    "run_fields.final_reads_failed": "needs a server that is stopped before the final reads",
    "final_reads/lost_writes.fault": "needs a server that loses an acknowledged write under a fault",
    "fault.failed": "needs a fault that cannot be injected",
    "level_of_objects.detail": "needs a limit of time or memory",
    "checked_level.anomalies_left_out": "needs a limit that ends the grouping of very many anomalies",
}
# Properties of runs with faults and of windows, which only `servers` makes.
OF_SERVERS = ("fault.", "run_fields.nodes", "run_fields.fault_list", "run_fields.faults_file", "run_fields.server_logs",
              "live.found_at_s", "live.operation_at_s", "check_fields.windows", "check_fields/windows", "lab_list/")
# Objects with any fields, so that a new one is no error.
OPEN = {"found", "operation", "last", "key", "message", "object"}

RECORDED = """{"type":"info","process":"nemesis","f":"cupel.metadata","value":[%s]}
{"type":"invoke","process":0,"f":"txn","value":[["w","x",1]],"time":1}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]],"time":2,"node":"a"}
{"type":"invoke","process":9,"f":"txn","value":[["r","x",null]],"time":3}
{"type":"ok","process":9,"f":"txn","value":[["r","x",null]],"time":4}
{"type":"invoke","process":8,"f":"txn","value":[["r","x",null]],"time":3}
{"type":"ok","process":8,"f":"txn","value":[["r","x",%s]],"time":4}
"""
NOTHING = '{"type":"info","process":"nemesis","f":"cupel.metadata","value":[["nothing happened","yes"]]}\n'
STATEMENTS = """{"index":0,"type":"ok","process":0,"f":"txn","value":[["r","x",null],["w","x",1]],"statement":"update kv"}
{"index":1,"type":"ok","process":1,"f":"txn","value":[["r","x",null],["w","x",2]],"statement":"update kv"}
{"index":2,"type":"info","process":2,"f":"nap","value":null}
{"index":3,"type":"ok","process":2,"f":"nap","value":null}
"""
# A counter that ignores a delivery; and two counters that are satisfied alone, although no order explains both.
KNOWN_DELIVERIES = """{"process":0,"f":"inc"}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"f":"read","value":0}
"""
TOGETHER = """{"object":"a","type":"counter"}
{"object":"b","type":"counter"}
{"process":0,"object":"a","f":"inc"}
{"process":0,"object":"b","f":"inc"}
{"process":1,"object":"b","f":"read","value":1}
{"process":1,"object":"a","f":"read","value":0}
"""
# A set whose read misses an element, and a counter that several keys have and nobody reads for good.
SET = """{"type":"invoke","process":0,"f":"add","value":1}
{"type":"ok","process":0,"f":"add","value":1}
{"type":"invoke","process":1,"f":"nap","value":null}
{"type":"ok","process":1,"f":"nap","value":null}
{"type":"invoke","process":1,"f":"read","value":null}
{"type":"ok","process":1,"f":"read","value":[]}
"""
NEVER_READ = """{"type":"invoke","process":0,"f":"add","value":["x",1],"time":1}
{"type":"ok","process":0,"f":"add","value":["x",1],"time":2}
"""
CAMPAIGN = {"databases": [{"name": "SQLite", "url": "sqlite:campaign.db", "isolations": ["serializable"]},
                          {"name": "none", "url": "sqlite:/no/such/folder/a.db", "isolations": ["serializable"]}],
            "workloads": ["general"], "seeds": [1, 2], "txns": 20, "sessions": 3}
PLAN = [{"fault": "partition", "links": [["clients", 0], [0, "clients"]], "at": "1s", "for": "1s"},
        {"fault": "kill", "targets": [0], "at": "3s", "for": "1s"}]


class Outputs:
    """Runs commands in a folder and keeps the objects that they print, by definition."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {"PYTHONPATH": os.path.join(ROOT, "adapters"), "XDG_STATE_HOME": folder}
        self.objects = {}  # definition: [(command, object)]

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def run(self, *arguments, codes=(0,)):
        done = subprocess.run([CUPEL, *arguments], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, **self.environment}, timeout=300)
        assert done.returncode in codes, (arguments, done.returncode, done.stderr)
        return done

    def keep(self, definition, *arguments, codes=(0,)):
        lines = self.run(*arguments, codes=codes).stdout.splitlines()
        assert lines, arguments
        self.add(definition, " ".join(arguments), lines)

    def add(self, definition, command, lines):
        kept = self.objects.setdefault(definition, [])
        kept.extend((command, json.loads(line)) for line in lines)

    def any(self, definition):
        return [thing for _, thing in self.objects[definition]]


def golden(out):
    for folder in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "*", "*"))):
        level = os.path.basename(os.path.dirname(folder))
        files = sorted(glob.glob(os.path.join(folder, "*")))
        if os.path.basename(folder) in ("satisfied", "violated"):
            out.keep("check", "check", "--json", "-l", level, *files, codes=(0, 1))
            out.keep("stats", "stats", "--json", *files)
    narratives = sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "narratives", "*.jsonl")))
    if narratives:
        out.keep("check", "check", "--json", *narratives, codes=(0, 1))


ANOMALIES = ("thin-air-read,aborted-read,future-read,not-my-last-write,not-my-own-write,intermediate-read,non-repeatable-read,"
             "session-guarantee-violation,non-monotonic-read,fractured-read,causality-violation,long-fork,lost-update,"
             "write-skew,G1c")


def check(out):
    out.run("generate", "-q", "--sessions", "4", "--txns", "20", "--inject", ANOMALIES, "-o", "all.jsonl")
    out.run("generate", "-q", "--sessions", "3", "--txns", "15", "--abort-rate", "0.2", "--indeterminate-rate", "0.2",
            "-o", "some.jsonl")
    out.keep("check", "check", "--json", "--test-power", "all.jsonl", codes=(1,))
    out.keep("check", "check", "--json", "--no-history-analysis", "all.jsonl", codes=(1,))
    out.keep("check", "check", "--json", "some.jsonl", codes=(0, 1))
    facts = '["final readers","9 a\\n8 b"],["database","PostgreSQL"],["isolation","repeatable read"]'
    out.write("lost.jsonl", RECORDED % (facts, "null"))
    out.write("apart.jsonl", RECORDED % (facts, "1"))
    out.write("gone.jsonl", RECORDED % ('["data gone","the table kv is gone"]', "null"))
    out.write("failed.jsonl", RECORDED % ('["final reads failed","node 2 did not answer"]', "1"))
    out.write("nothing.jsonl", NOTHING)
    out.write("statements.jsonl", STATEMENTS)
    for name in ("lost", "apart", "gone", "failed", "nothing"):
        out.keep("check", "check", "--json", name + ".jsonl", codes=(0, 1, 2))
    out.keep("check", "check", "--json", "--ignore", "nap", "statements.jsonl", codes=(1,))
    out.write("set.jsonl", SET)
    out.write("never.jsonl", NEVER_READ)
    out.keep("check_objects", "check", "--json", "--ignore", "nap", "set.jsonl", codes=(1,))
    out.keep("check_objects", "check", "--json", "-l", "linearizable,si", "--ignore", "nap", "set.jsonl", codes=(3,))
    out.keep("check_objects", "check", "--json", "--kind", "set-full", "never.jsonl")
    out.run("generate", "-q", "--sessions", "4", "--txns", "20", "-o", "limit.plume")
    out.keep("check", "check", "--json", "--memory-limit", "1M", "limit.plume", codes=(2,))


def verify(out):
    out.run("check", "--certificate", "proof.json", "all.jsonl", codes=(1,))
    out.keep("verify", "verify", "--json", "all.jsonl", "proof.json")
    out.keep("verify", "verify", "--json", "some.jsonl", "proof.json", codes=(1,))
    out.run("check", "--certificate", "set.json", "--ignore", "nap", "set.jsonl", codes=(1,))
    out.keep("verify", "verify", "--json", "--ignore", "nap", "set.jsonl", "set.json")
    if os.path.exists(os.path.join(os.path.dirname(CUPEL), "cupel-proved")):
        out.keep("verify", "verify", "--json", "--proved", "all.jsonl", "proof.json", codes=(0, 1))


def watch(out):
    out.run("generate", "-q", "--sessions", "4", "--txns", "300", "--level", "strict", "-o", "fine.jsonl")
    out.run("generate", "-q", "--sessions", "4", "--txns", "300", "--level", "strict", "--inject", "lost-update",
            "--inject-at", "0.5", "-o", "raced.jsonl")
    out.keep("watch", "watch", "--json", "--no-follow", "-l", "strict", "fine.jsonl")
    out.keep("watch", "watch", "--json", "--no-follow", "-l", "strict", "raced.jsonl", codes=(1,))
    out.keep("watch", "watch", "--json", "--no-follow", "--keep-going", "-l", "strict", "raced.jsonl", codes=(1,))
    out.keep("watch", "watch", "--json", "--no-follow", "-l", "causal", "failed.jsonl", codes=(2,))
    out.keep("watch", "watch", "--json", "--no-follow", "-l", "causal", "nothing.jsonl")
    out.keep("watch", "watch", "--json", "--no-follow", "-l", "causal", "lost.jsonl", codes=(0, 1, 2))
    # A certificate of the beginning of a file that went on growing.
    out.run("watch", "-q", "--no-follow", "-l", "si", "--certificate", "raced.json", "raced.jsonl", codes=(1,))
    with open(out.path("raced.jsonl"), encoding="utf-8") as raced:
        out.write("more.jsonl", raced.read() + '{"type":"info","process":"nemesis","f":"x"}\n')
    out.keep("verify", "verify", "--json", "more.jsonl", "raced.json", codes=(0, 1))


def run(out):
    run_options = ("--db", "sqlite:run.db", "--sessions", "3", "--txns", "20", "--json")
    out.keep("run", "run", *run_options, "--workload", "general", "-o", "run.jsonl")
    out.keep("run", "run", *run_options, "--workload", "tpcc", "--live", "-o", "live.jsonl")
    out.write("campaign.json", json.dumps(CAMPAIGN))
    out.keep("campaign", "campaign", "-q", "--json", "campaign.json", "-o", "campaign", codes=(3,))
    with open(out.path("campaign/results.jsonl"), encoding="utf-8") as lines:
        out.add("campaign_result", "results.jsonl", lines)
    with open(out.path("campaign/summary.json"), encoding="utf-8") as lines:
        out.add("campaign", "summary.json", lines)
    out.keep("campaign", "merge", "--json", "campaign", codes=(3,))
    out.keep("doctor", "doctor", "--json")
    path, out.environment["PATH"] = out.environment.get("PATH", os.environ["PATH"]), ""  # no program is there: a problem
    out.keep("doctor", "doctor", "--json")
    out.environment["PATH"] = path
    out.keep("lab_list", "lab", "list", "--json")


def names_after(out, *option):
    """The values of an option, from its message."""
    return re.split(r", | or ", re.search(r"expected (.*?) \(see", out.run(*option, "?", "-", codes=(3,)).stderr)[1])


def explain(out):
    out.keep("explain", "explain", "--json")
    names = out.any("explain")[0]
    terms = re.findall(r"^  (.+?)  +see ", out.run("explain").stdout, re.MULTILINE)
    formats = names_after(out, "check", "-f")
    assert terms and len(formats) > 5
    out.keep("levels", "levels", "--json")
    for name in names["levels"] + [one["anomaly"] for one in names["anomalies"]] + terms + ["read skew"] + formats:
        out.keep("explain", "explain", "--json", name)


def crdt(out):
    for name in names_after(out, "crdt", "check", "--type"):
        done = out.run("crdt", "generate", "--type", name, "--ops", "20", "--context").stdout
        out.write("type.jsonl", done)
        out.keep("crdt_check", "crdt", "check", "--type", name, "--json", "--context", "trusted", "type.jsonl")
    bugs = re.findall(r"^  ([a-z-]+) {2,}", out.run("crdt", "generate", "--help").stdout.split("Bugs (")[1], re.MULTILINE)
    assert len(bugs) > 10
    for kind in ("or-set", "counter", "lww", "mvr", "rga", "text"):
        for bug in bugs:
            made = out.run("crdt", "generate", "--type", kind, "--bug", bug, "--ops", "60", "-o", "bug.jsonl", codes=(0, 3))
            if made.returncode == 0:
                out.keep("crdt_check", "crdt", "check", "--type", kind, "--json", "--converge", "--shrink-time", "1s",
                         "--timeout", "5s", "bug.jsonl", codes=(0, 1, 2))
    out.run("crdt", "generate", "--type", "or-set", "--type", "lww", "-o", "objects.jsonl")
    out.keep("crdt_check", "crdt", "check", "--json", "--witness", "--converge", "objects.jsonl")
    out.write("together.jsonl", TOGETHER)
    out.keep("crdt_check", "crdt", "check", "--json", "together.jsonl", codes=(1,))
    out.write("known.jsonl", KNOWN_DELIVERIES)
    out.keep("crdt_check", "crdt", "check", "--type", "counter", "--json", "--context", "checked", "known.jsonl", codes=(1,))
    for context in ("trusted", "ignored"):
        out.run("crdt", "check", "--type", "counter", "--context", context, "--certificate", context, "known.jsonl", codes=(0, 1))
        out.keep("crdt_verify", "crdt", "verify", "--json", "known.jsonl", context)
    out.run("crdt", "check", "--certificate", "objects.proof", "objects.jsonl")
    out.keep("crdt_verify", "crdt", "verify", "--json", "objects.jsonl", "objects.proof")
    out.write("other.jsonl", KNOWN_DELIVERIES.replace('"value":0', '"value":1'))
    out.keep("crdt_verify", "crdt", "verify", "--json", "other.jsonl", "trusted", codes=(1,))
    if os.path.exists(os.path.join(os.path.dirname(CUPEL), "cupel-proved")):
        out.keep("crdt_verify", "crdt", "verify", "--json", "--proved", "known.jsonl", "ignored")
        out.keep("crdt_verify", "crdt", "verify", "--json", "--proved", "objects.jsonl", "objects.proof", codes=(1,))


def crdt_run(out):
    out.keep("crdt_check", "crdt", "run", "--json", "--type", "or-set", "--exec",
             f"python3 {ROOT}/examples/replicated_set.py", codes=(0, 1))
    for mode in ("holds", "throws", "stuck"):
        adapter = out.path(out.write(mode, f"#!/bin/sh\nexec python3 '{ROOT}/tests/crdt/fake_adapter.py' {mode}\n"))
        os.chmod(adapter, 0o755)
        out.keep("crdt_run", "crdt", "run", "--json", "--adapter", f"{adapter}:set", "--ops", "200", codes=(0, 1))
    out.keep("crdt_run", "crdt", "run", "--json", "--adapter", f"{ROOT}/tests/crdt/faulty_adapter.py:forgets,own", "--ops", "90",
             codes=(1,))


def windows(out):
    make = ("generate", "-q", "--sessions", "10", "--txns", "16000", "--ops", "8", "--keys", "300", "--level", "strict")
    out.run(*make, "-o", "large.cupel")
    out.run(*make, "--inject", "lost-update", "--inject-at", "0.9", "-o", "wrong.cupel")
    for name, code in (("large.cupel", 0), ("wrong.cupel", 1)):
        out.keep("check", "check", "--json", "-l", "strict", "--memory-limit", "80M", name, codes=(code,))


def servers(out):
    # Write skew, which snapshot isolation allows.
    out.keep("run", "run", "--json", "--db", "lab:postgres?fast=1", "--isolation", "repeatable-read", "-l", "serializable",
             "--live", "--workload", "general", "--txns", "500", "-o", "skew.jsonl", codes=(1,))
    out.run("lab", "start", "postgres")
    try:
        out.keep("lab_list", "lab", "list", "--json")
    finally:
        out.run("lab", "stop", "postgres")
    out.write("plan.json", json.dumps(PLAN))
    out.keep("run", "run", "--json", "--db", "lab:postgres?fast=1", "--sessions", "4", "--time-limit", "5",
             "--fault-plan", "plan.json", "--faults-optional", "-o", "faults.jsonl", codes=(0, 1, 2))


def properties_of(schema, name, found):
    """Each list of properties in a definition: {id: name}. Conditions name no field of their own."""
    if isinstance(schema, list):
        for part in schema:
            properties_of(part, name, found)
    elif isinstance(schema, dict):
        for key, part in schema.items():
            if key == "properties":
                found[id(part)] = name
                for field, its in part.items():
                    properties_of(its, f"{name}/{field}", found)
            elif key not in ("if", "then", "else", "allOf"):
                properties_of(part, name, found)


class JsonSchema(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = Outputs(cls.folder.name)
        for step in (golden, check, verify, watch, run, explain, crdt, crdt_run) + ((windows, servers) if LABEL == "servers" else ()):
            step(cls.out)
        cls.names = {}
        for name, definition in DEFINITIONS.items():
            properties_of(definition, name, cls.names)
        cls.seen = set()

        def properties(validator, value, instance, schema):
            if isinstance(instance, dict) and id(value) in cls.names:
                cls.seen.update(f"{cls.names[id(value)]}.{field}" for field in value if field in instance)
            return Draft202012Validator.VALIDATORS["properties"](validator, value, instance, schema)

        recording = extend(Draft202012Validator, {"properties": properties})
        cls.validators = {name: recording({"$defs": DEFINITIONS, "$ref": f"#/$defs/{name}"}) for name in cls.out.objects}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_the_schema_is_one(self):
        Draft202012Validator.check_schema(SCHEMA)
        commands = [one["$ref"].rpartition("/")[2] for one in SCHEMA["anyOf"]]
        self.assertEqual(sorted(commands), sorted(self.out.objects))
        whole = Draft202012Validator(SCHEMA)
        for command in commands:
            self.assertTrue(whole.is_valid(self.out.any(command)[0]), command)
        self.assertFalse(whole.is_valid({"file": "history.jsonl"}))
        used = set(re.findall(r"#/\$defs/(\w+)", json.dumps(SCHEMA["$defs"]))) | set(commands)
        self.assertEqual(used, set(DEFINITIONS))

    def test_b_outputs_are_valid(self):
        for definition, objects in self.out.objects.items():
            for command, thing in objects:
                error = best_match(self.validators[definition].iter_errors(thing))
                with self.subTest(definition=definition, command=command[:200]):
                    self.assertIsNone(error, error and f"{list(error.absolute_path)}: {error.message[:500]}")

    # After the outputs have been read, hence the letters.
    def test_c_every_property_occurs(self):
        pattern = {f"{self.names[key]}.{field}" for key, fields in all_properties(SCHEMA["$defs"]) if key in self.names
                   for field in fields}
        expected = pattern - set(UNSEEN)
        if LABEL != "servers":
            expected = {name for name in expected if not name.startswith(OF_SERVERS)}
        faults = {one["name"]: one["works"] for one in self.out.any("doctor")[0]["findings"] if one["group"] == "Faults"}
        if not faults["network"]:
            expected.discard("fault.links")  # cupel doctor says why
        self.assertEqual(sorted(expected - self.seen), [])
        self.assertEqual(sorted(set(UNSEEN) - pattern | set(UNSEEN) & self.seen), [], "remove these from UNSEEN")

    def test_d_a_new_or_missing_field_is_an_error(self):
        for definition, objects in self.out.objects.items():
            largest = max((thing for _, thing in objects if size(thing) < 20_000), key=size)
            for path, thing in objects_in(largest):
                if OPEN & set(map(str, path)):
                    continue
                changed = copy.deepcopy(largest)
                at(changed, path)["a_new_field"] = {}
                self.assertFalse(self.validators[definition].is_valid(changed), (definition, path))
            for field in DEFINITIONS[definition].get("required", []) + self.required_of(definition):
                changed = dict(largest)
                if changed.pop(field, None) is not None:
                    self.assertFalse(self.validators[definition].is_valid(changed), (definition, field))

    @staticmethod
    def required_of(definition):
        base = DEFINITIONS[definition].get("$ref", "").rpartition("/")[2]
        return DEFINITIONS[base].get("required", []) if base else []

    def test_e_names_are_those_of_the_program(self):
        names = self.out.any("explain")[0]
        self.assertEqual(DEFINITIONS["level"]["enum"], names["levels"])
        self.assertEqual(DEFINITIONS["anomaly"]["enum"], [one["anomaly"] for one in names["anomalies"]])
        self.assertEqual(DEFINITIONS["format"]["enum"], names_after(self.out, "check", "-f"))
        checked = {one["type"] for one in self.out.any("crdt_check")} - {"objects"}
        self.assertEqual(set(DEFINITIONS["replicated_type"]["enum"]), checked)
        with open(os.path.join(PAGES, "crdt.md"), encoding="utf-8") as page:
            section = re.search(r"\n### Names\n(.*?)\n### ", page.read(), re.DOTALL)[1]
        first_columns = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        documented = set(re.findall(r"`([a-z-]+)`", " ".join(first_columns))) | {"not-received"}
        self.assertEqual(set(DEFINITIONS["crdt_anomaly"]["enum"]), documented)


def all_properties(schema):
    if isinstance(schema, list):
        for part in schema:
            yield from all_properties(part)
    elif isinstance(schema, dict):
        for key, part in schema.items():
            if key == "properties" and isinstance(part, dict):
                yield id(part), list(part)
            yield from all_properties(part)


def size(thing):
    return len(json.dumps(thing))


def objects_in(thing, path=()):
    """Each object in this value, with its path."""
    if isinstance(thing, dict):
        yield path, thing
    for key, part in thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ():
        yield from objects_in(part, path + (key,))


def at(thing, path):
    for key in path:
        thing = thing[key]
    return thing


if __name__ == "__main__":
    CUPEL, LABEL = os.path.abspath(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1], verbosity=2)
