"""Runs the steps of an ORM's script against the server that PGHOST and its like name, or MYSQL_HOST and
its like. A step is a function; its line is `ok NAME` or `failed NAME: WHY`. The script exits with 1 if
one failed.
"""

import os
import sys
import traceback

on_mariadb = "MYSQL_HOST" in os.environ
if on_mariadb:
    host, port = os.environ["MYSQL_HOST"], os.environ["MYSQL_TCP_PORT"]
else:
    host, port = os.environ["PGHOST"], os.environ["PGPORT"]
user = database = "cupel"


def run(version, steps):
    print("version", version, flush=True)
    failed = 0
    for step in steps:
        name = step.__name__.replace("_", "-")
        try:
            step()
            print("ok", name, flush=True)
        except Exception as error:  # any failure of a step is its line, and the next one runs
            failed += 1
            print(f"failed {name}: {type(error).__name__}: {str(error).strip()}", flush=True)
            traceback.print_exc()
    sys.exit(1 if failed else 0)


def expect(seen, wanted):
    if seen != wanted:
        raise AssertionError(f"saw {seen!r}, not {wanted!r}")


def expect_error(kind, action):
    """The error of the kind that the action must raise."""
    try:
        action()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")
