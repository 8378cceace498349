#!/usr/bin/env python3
"""LMDB and Berkeley DB for `cupel run --db 'exec:python3 exec_keyvalue.py lmdb|bdb FOLDER'`.

A key is eight bytes, a value its JSON text. Both libraries take several processes, so each
session is a process of its own. docs/reference/drivers/exec-clients.md lists the isolation levels.
"""
import json
import os
import struct
import sys

ISOLATION = os.environ.get("CUPEL_ISOLATION", "unspecified").replace("unspecified", "")
TABLE = (os.environ.get("CUPEL_TABLE") or "kv").encode()


class Refused(Exception):
    """The transaction was undone, certainly."""


def refuse(level, levels):
    if level not in levels:
        sys.exit(f"exec_keyvalue.py: isolation {level}: one of {', '.join(levels)}")


class Lmdb:
    """A transaction that only reads uses a snapshot; one that writes excludes all other writers."""

    def __init__(self, folder):
        import lmdb
        refuse(ISOLATION or "serializable", ["serializable"])
        self.env = lmdb.open(folder, map_size=1 << 28, sync=False, max_dbs=64)
        self.db = self.env.open_db(TABLE)
        self.about = {"database": "LMDB", "version": ".".join(map(str, lmdb.version())), "isolation": "serializable"}

    def drop(self):
        with self.env.begin(write=True) as txn:
            txn.drop(self.db, delete=False)

    def begin(self, writes):
        self.txn = self.env.begin(write=writes, db=self.db)

    def get(self, key, to_write):
        return self.txn.get(key)

    def put(self, key, value):
        self.txn.put(key, value)

    def delete(self, key):
        self.txn.delete(key)

    def scan(self, low, high):
        cursor = self.txn.cursor()
        found = cursor.set_range(low)
        while found and cursor.key() <= high:
            yield cursor.key(), cursor.value()
            found = cursor.next()

    def commit(self):
        self.txn.commit()

    def abort(self):
        self.txn.abort()


class BerkeleyDb:
    """Page locks in a B-tree; `snapshot` keeps old versions of pages instead of read locks."""

    def __init__(self, folder):
        from bsddb3 import db
        self.error, self.lib, level = db.DBError, db, ISOLATION or "serializable"
        begin = {"serializable": 0, "snapshot": db.DB_TXN_SNAPSHOT, "read-committed": db.DB_READ_COMMITTED,
                 "read-uncommitted": db.DB_READ_UNCOMMITTED}
        refuse(level, list(begin))
        os.makedirs(folder, exist_ok=True)
        self.env = db.DBEnv()
        self.env.set_cachesize(0, 1 << 26)
        self.env.set_lk_detect(db.DB_LOCK_RANDOM)
        self.env.set_flags(db.DB_TXN_NOSYNC, 1)
        parts = db.DB_INIT_LOCK | db.DB_INIT_LOG | db.DB_INIT_MPOOL | db.DB_INIT_TXN
        self.env.open(folder, parts | db.DB_CREATE)
        self.db = db.DB(self.env)
        keep = {"snapshot": db.DB_MULTIVERSION, "read-uncommitted": db.DB_READ_UNCOMMITTED}.get(level, 0)
        self.db.open(TABLE.decode(), dbtype=db.DB_BTREE, flags=db.DB_CREATE | db.DB_AUTO_COMMIT | keep)
        self.level = begin[level]
        version = ".".join(map(str, db.version()))
        self.about = {"database": "Berkeley DB", "version": version, "isolation": level}

    def drop(self):
        for key in list(self.db.keys()):
            self.db.delete(key)

    def begin(self, writes):
        self.txn = self.env.txn_begin(flags=self.level)

    def get(self, key, to_write):
        # A read for an append or a compare-and-set takes the write lock: at read-committed, the value
        # could otherwise change before it is written back, by a fault of this client.
        return self.call(self.db.get, key, flags=self.lib.DB_RMW if to_write else 0)

    def put(self, key, value):
        self.call(self.db.put, key, value)

    def delete(self, key):
        if self.get(key, True) is not None:
            self.call(self.db.delete, key)

    def call(self, function, *arguments, **options):
        try:
            return function(*arguments, txn=self.txn, **options)
        except self.error as error:
            raise Refused(str(error)) from error

    def scan(self, low, high):
        try:
            cursor = self.db.cursor(txn=self.txn)
            try:
                pair = cursor.set_range(low)
                while pair and pair[0] <= high:
                    yield pair
                    pair = cursor.next()
            finally:
                cursor.close()
        except self.error as error:
            raise Refused(str(error)) from error

    def commit(self):
        self.txn.commit()

    def abort(self):
        self.txn.abort()


def name(key):
    return struct.pack(">Q", key)


def apply(store, f, k, v):
    if f == "range":
        found = store.scan(name(k[0]), name(k[1]))
        return [f, k, [[struct.unpack(">Q", key)[0], json.loads(text)] for key, text in found]]
    text = store.get(name(k), f != "r") if f in ("r", "append", "cas", "insert") else None
    old = None if text is None else json.loads(text)
    if f == "r":
        return [f, k, old]
    if f == "cas" and old != v[0]:
        return [f, k, v, False]
    if f == "insert" and text is not None:
        raise Refused(f"constraint: {k} exists")
    if f == "delete":
        store.delete(name(k))
    else:
        new = (old or []) + [v] if f == "append" else v[1] if f == "cas" else v
        store.put(name(k), json.dumps(new).encode())
    return [f, k, v]


def transact(store, operations):
    store.begin(any(f not in ("r", "range") for f, *_ in operations))
    try:
        value = [apply(store, *operation) for operation in operations]
    except Refused as error:
        store.abort()
        return {"type": "fail", "error": str(error)}
    try:
        store.commit()
    except Exception as error:  # whatever it was, the log may have the commit
        return {"type": "info", "error": str(error)}
    return {"type": "ok", "value": value}


def main():
    stores = {"lmdb": Lmdb, "bdb": BerkeleyDb}
    if len(sys.argv) != 3 or sys.argv[1] not in stores:
        sys.exit("usage: exec_keyvalue.py lmdb|bdb FOLDER")
    store = stores[sys.argv[1]](sys.argv[2])
    if os.environ.get("CUPEL_SESSION") in ("setup", "clean"):
        store.drop()
    for line in sys.stdin:
        operations = json.loads(line)["value"]
        answer = transact(store, operations) if operations else {"type": "ok", "value": [], **store.about}
        print(json.dumps(answer), flush=True)


main()
