#!/usr/bin/env python3
"""examples/exec_threads.cjs, the server of the Node clients of exec, on a store in memory; exec_keyvalue.py.

exec_clients_test.py ROOT runs several clients of one store as cupel does, and checks what they answer and that
the server ends by itself. Exits with 77 without node.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else os.getcwd()
EXAMPLES = os.path.join(ROOT, "examples")

# A store that takes the SQL of exec_threads.cjs apart, without isolation. The value 13 is refused at COMMIT,
# 14 fails there, and 15 fails as a statement.
STORE = """
const {main} = require(%s)
const rows = new Map()
let commit = null
const number = text => Number(/k = (\\d+)/.exec(text)[1])
async function open(file, isolation) {
  if (isolation === 'none') throw new Error('isolation none')
  return {
    about: {database: 'Memory', version: '1', isolation},
    begin: async () => { commit = null },
    commit: async () => { if (commit) throw new Error(commit) },
    rollback: async () => {},
    all: async text => rows.has(number(text)) ? [{k: number(text), v: rows.get(number(text))}] : [],
    run: async text => {
      const insert = /INSERT INTO \\w+ VALUES \\((\\d+), '(.*)'\\)/.exec(text)
      const append = /\\|\\| '(.*)' WHERE/.exec(text)
      const set = /SET v = '(.*)' WHERE/.exec(text)
      if (/DROP/.test(text) && !rows.size) throw new Error('no such table')
      if (/DROP/.test(text)) rows.clear()
      else if (insert) rows.set(Number(insert[1]), insert[2])
      else if (append) rows.set(number(text), rows.get(number(text)).slice(0, -1) + append[1])
      else if (set) rows.set(number(text), set[1])
      if (/13/.test(text)) commit = 'conflict'
      if (/14/.test(text)) commit = 'disk'
      if (/15/.test(text)) throw new Error('statement')
    },
    close: () => {},
    refused: message => message === 'conflict',
  }
}
main(__filename, open, {threads: %s})
"""


class Client:
    """One process of a client, as cupel starts it."""

    def __init__(self, command, session, isolation="snapshot"):
        environment = {"CUPEL_SESSION": session, "CUPEL_TABLE": "t1", "CUPEL_ISOLATION": isolation}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.PIPE, env={**os.environ, **environment})

    def ask(self, *operations):
        self.process.stdin.write(json.dumps({"value": list(operations)}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()
        self.process.stderr.close()


class ExecClients(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def store(self, threads):
        program = os.path.join(self.folder, "store.cjs")
        with open(program, "w", encoding="utf-8") as file:
            file.write(STORE % (json.dumps(os.path.join(EXAMPLES, "exec_threads.cjs")), threads))
        return ["node", program, os.path.join(self.folder, "db")]

    def test_sessions_of_one_server_share_the_store(self):
        command = self.store("false")
        setup = Client(command, "setup")
        self.assertEqual(setup.ask(), {"type": "ok", "value": [], "database": "Memory", "version": "1",
                                       "isolation": "snapshot"})
        clients = [Client(command, "0"), Client(command, "1")]
        self.assertEqual(clients[0].ask(["append", 1, 7], ["append", 1, 8], ["w", 2, 5])["type"], "ok")
        self.assertEqual(clients[1].ask(["r", 1, None], ["r", 2, None], ["r", 3, None])["value"],
                         [["r", 1, [7, 8]], ["r", 2, 5], ["r", 3, None]])
        self.assertEqual(clients[1].ask(["cas", 2, [5, 6]], ["cas", 2, [5, 9]], ["r", 2, None])["value"],
                         [["cas", 2, [5, 6]], ["cas", 2, [5, 9], False], ["r", 2, 6]])
        for client in [setup, *clients]:
            client.end()
        socket = command[2] + ".sock"
        self.assertTrue(os.path.exists(socket))
        deadline = time.time() + 30
        while os.path.exists(socket) and time.time() < deadline:
            time.sleep(0.1)
        self.assertFalse(os.path.exists(socket), "the server did not end")

    def test_only_a_documented_refusal_of_commit_is_a_failure(self):
        client = Client(self.store("true"), "setup")
        client.ask()
        self.assertEqual(client.ask(["w", 1, 13]), {"type": "fail", "error": "conflict"})
        self.assertEqual(client.ask(["w", 1, 14]), {"type": "info", "error": "disk"})
        self.assertEqual(client.ask(["w", 1, 15]), {"type": "fail", "error": "statement"})
        self.assertEqual(client.ask(["w", 1, 16])["type"], "ok")
        client.end()

    def test_the_clients_parse(self):
        for name in ["exec_threads.cjs", "exec_turso.cjs", "exec_duckdb.cjs", "exec_firebird.cjs"]:
            subprocess.run(["node", "--check", os.path.join(EXAMPLES, name)], check=True)
        with open(os.path.join(EXAMPLES, "exec_keyvalue.py"), encoding="utf-8") as file:
            compile(file.read(), "exec_keyvalue.py", "exec")


if __name__ == "__main__":
    if not shutil.which("node"):
        print("no node: examples/exec_threads.cjs was not tested")
        sys.exit(77)
    unittest.main()
