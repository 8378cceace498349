#!/usr/bin/env python3
"""SQLite for `cupel run --db 'exec:python3 exec_client.py FILE'`; see docs/reference/drivers/exec.md."""
import json, os, sqlite3, sys

if len(sys.argv) != 2: sys.exit("exec_client.py: expected the FILE of a SQLite database")
db = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
db.execute("PRAGMA synchronous = off")  # a crash of the machine is not what is tested
session = os.environ.get("CUPEL_SESSION")
table = os.environ.get("CUPEL_TABLE") or "kv"  # each run has its own
if session in ("setup", "clean"): db.execute(f"DROP TABLE IF EXISTS {table}")
if session not in ("probe", "clean"):
    db.execute(f"CREATE TABLE IF NOT EXISTS {table} (k INTEGER PRIMARY KEY, v TEXT)")
select = f"SELECT k, v FROM {table} WHERE k BETWEEN ? AND ? ORDER BY k"

def apply(f, k, v):
    if f == "range": return [f, k, [[key, json.loads(text)] for key, text in db.execute(select, k)]]
    rows = db.execute(select, [k, k]).fetchall()
    old = json.loads(rows[0][1]) if rows else None
    if f == "r": return [f, k, old]
    if f == "cas" and old != v[0]: return [f, k, v, False]
    if f == "insert" and rows: raise sqlite3.IntegrityError(f"constraint: {k} is there already")
    new = (old or []) + [v] if f == "append" else v[1] if f == "cas" else v
    if f == "delete": db.execute(f"DELETE FROM {table} WHERE k = ?", [k])
    else: db.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", [k, json.dumps(new)])
    return [f, k, v]

for line in sys.stdin:
    answer = None
    try:
        db.execute("BEGIN IMMEDIATE")
        answer = {"type": "ok", "value": [apply(*op) for op in json.loads(line)["value"]]}
        db.execute("COMMIT")
    except sqlite3.Error as error:
        undone = answer is None or db.in_transaction  # else the COMMIT may have happened
        if db.in_transaction: db.execute("ROLLBACK")
        answer = {"type": "fail" if undone else "info", "error": str(error)}
    print(json.dumps(answer), flush=True)
