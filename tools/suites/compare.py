#!/usr/bin/env python3
"""Runs a test suite on PostgreSQL or MariaDB itself and on the same server over the mock store, and
compares the tests one by one. Exit code: 0 if at least 99 % of the tests that pass on the server itself
pass over the store.

    tools/suites/compare.py lib-pq                     # Debian's golang-github-lib-pq-dev has its tests
    tools/suites/compare.py django --source DIR        # the unpacked source of Debian's python-django
    tools/suites/compare.py psycopg2 --source DIR      # of psycopg2
    tools/suites/compare.py node-postgres --source DIR # of its folder packages/pg, after npm install
    tools/suites/compare.py go-sql-driver              # Debian's golang-github-go-sql-driver-mysql-dev
    tools/suites/compare.py django-mariadb --source DIR # as above, on MariaDB
    tools/suites/compare.py pymysql --source DIR       # the unpacked source of PyMySQL
    tools/suites/compare.py lib-pq -- --level causal   # other options of cupel mock

The outcome of each test is written to the folder of --keep, if it is given. Over the store the servers
differ in nothing but the mock's options, by default `--level strict-serializable`.
"""

import argparse
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PYTHON = "/usr/bin/python3"  # Debian's own, for which its packages are
LEAST_SHARE = 0.99
DEFAULT_OPTIONS = ["--level", "strict-serializable"]

# Those that use the database most.
DJANGO_LABELS = """aggregation aggregation_regress annotations backends basic bulk_create constraints
custom_pk dates datetimes db_functions delete delete_regress expressions fixtures get_or_create
introspection lookup many_to_many migrations postgres_tests prefetch_related queries schema
select_for_update transaction_hooks transactions""".split()


def stop(why):
    sys.exit(f"compare: {why}")


def run_django(source, environment, labels):
    tests = os.path.join(source, "tests")
    script = os.path.join(tests, "runtests.py")
    if not os.path.exists(script):
        stop(f"{script} is not there; --source is the unpacked source of Debian's python-django")
    environment["PYTHONPATH"] = HERE
    settings = "--settings=django_settings"
    return (
        [PYTHON, script, settings, "--parallel=1", "--noinput", *labels],
        tests,
        re.compile(r"^outcome (?P<name>\S+) (?P<outcome>ok|failed|skipped)$"),
    )


def run_go(environment, package, *more):
    environment.update(GOPATH="/usr/share/gocode", GO111MODULE="off", GOFLAGS="-count=1")
    folder = os.path.join("/usr/share/gocode/src", package)
    if not glob.glob(os.path.join(folder, "*_test.go")):
        stop(f"{folder} has no tests; install the package of Debian that has it")
    return (
        ["go", "test", "-v", "-timeout=20m", package, *more],
        None,
        re.compile(r"^ *--- (?P<outcome>PASS|FAIL|SKIP): (?P<name>\S+)"),
    )


def run_lib_pq(_, environment):
    environment.update(PGDATABASE="pqgotest", PGSSLMODE="disable")
    return run_go(environment, "github.com/lib/pq", "github.com/lib/pq/hstore")


def run_go_sql_driver(_, environment):
    address = f"{environment['MYSQL_HOST']}:{environment['MYSQL_TCP_PORT']}"
    environment.update(MYSQL_TEST_ADDR=address, MYSQL_TEST_USER="cupel", MYSQL_TEST_PASS="",
                       MYSQL_TEST_DBNAME=DATABASE, MYSQL_TEST_CONCURRENT="1")
    return run_go(environment, "github.com/go-sql-driver/mysql")


def run_pymysql(source, environment):
    tests = os.path.join(source, "pymysql", "tests")
    if not os.path.isdir(tests):
        stop(f"{tests} is not there; --source is the unpacked source of PyMySQL")
    databases = [
        {"host": environment["MYSQL_HOST"], "port": int(environment["MYSQL_TCP_PORT"]), "user": "cupel",
         "passwd": "", "database": name, "use_unicode": True, "local_infile": True}
        for name in (DATABASE, "second")
    ]
    with open(os.path.join(tests, "databases.json"), "w", encoding="utf-8") as out:
        json.dump(databases, out)
    environment["PYTHONPATH"] = HERE
    return (
        [PYTHON, os.path.join(HERE, "outcomes.py"), tests, source],
        source,
        re.compile(r"^outcome (?P<name>\S+) (?P<outcome>ok|failed|skipped)$"),
    )


def run_psycopg2(source, environment):
    tests = os.path.join(source, "tests")
    if not os.path.exists(os.path.join(tests, "test_connection.py")):
        stop(f"{tests} has no tests of psycopg2; --source is its unpacked source")
    environment.update(
        PSYCOPG2_TESTDB=environment["PGDATABASE"],
        PSYCOPG2_TESTDB_HOST=environment["PGHOST"],
        PSYCOPG2_TESTDB_PORT=environment["PGPORT"],
        PSYCOPG2_TESTDB_USER=environment["PGUSER"],
        PYTHONPATH=HERE,
    )
    return (
        [PYTHON, os.path.join(HERE, "outcomes.py"), tests],
        source,
        re.compile(r"^outcome (?P<name>\S+) (?P<outcome>ok|failed|skipped)$"),
    )


# Each file is a program. Most print a line for each test; the last line is that of the whole file.
RUN_NODE_FILES = """
for file in $(find test/integration -name '*-tests.js' | sort); do
  { timeout 120 node "$file" 2>&1; status=$?; printf '\\n  %s ' '(whole file)'
    if [ $status = 0 ]; then echo '✔'; else echo 'FAILED!'; fi; } | sed "s|^|$file |"
done
"""


def run_node_postgres(source, environment):
    if not os.path.isdir(os.path.join(source, "node_modules", "pg-protocol")):
        stop(f"{source} has no node_modules/pg-protocol; --source is node-postgres's packages/pg, with "
             "its packages installed")
    # What its tests find in CI.
    environment.update(PGPASSWORD="any", PGTESTNOSSL="true", NODE_NO_WARNINGS="1")
    return (
        ["bash", "-c", RUN_NODE_FILES],
        source,
        re.compile(r"^(?P<name>\S+ +.*?) *(?P<outcome>✔|FAILED!|\? - SKIPPED)$"),
    )


# What runs a suite, and on which server.
SUITES = {
    "django": (run_django, "postgres"),
    "django-mariadb": (run_django, "mariadb"),
    "go-sql-driver": (run_go_sql_driver, "mariadb"),
    "lib-pq": (run_lib_pq, "postgres"),
    "node-postgres": (run_node_postgres, "postgres"),
    "psycopg2": (run_psycopg2, "postgres"),
    "pymysql": (run_pymysql, "mariadb"),
}
SERVERS = {"postgres": "PostgreSQL", "mariadb": "MariaDB"}
DATABASE = "cupel"
OUTCOMES = {"PASS": "ok", "FAIL": "failed", "SKIP": "skipped"}
OUTCOMES.update({"✔": "ok", "FAILED!": "failed", "? - SKIPPED": "skipped"})


def address(text):
    """Where clients find a server that printed this."""
    found = re.search(r"postgres://(\w+)@([\d.]+):(\d+)/(\w+)", text)
    if found:
        return dict(zip(("PGUSER", "PGHOST", "PGPORT", "PGDATABASE"), found.groups()))
    found = re.search(r"mysql://\w+@([\d.]+):(\d+)/", text) or re.search(r"-h (\S+) -P (\d+)", text)
    if not found:
        stop(f"found no address in `{text.strip()}`")
    return dict(zip(("MYSQL_HOST", "MYSQL_TCP_PORT"), found.groups()))


@contextlib.contextmanager
def plain_server(cupel, kind):
    name = f"suite-{os.getpid()}"
    started = subprocess.run(
        [cupel, "lab", "start", kind, "--fast", "--name", name], capture_output=True, text=True
    )
    if started.returncode != 0:
        stop(f"the server did not start: {started.stderr.strip()}")
    try:
        yield address(started.stdout)
    finally:
        subprocess.run([cupel, "lab", "stop", name], stdout=subprocess.DEVNULL, check=False)


@contextlib.contextmanager
def weak_server(cupel, kind, options):
    command = [cupel, "mock", "--engine", kind, *options]
    mock = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield address(mock.stdout.readline())
    finally:
        mock.send_signal(signal.SIGINT)
        mock.wait(timeout=60)


def prepare(kind, server, environment):
    """Makes the databases that the suite expects."""
    if kind == "postgres":
        if environment["PGDATABASE"] != server["PGDATABASE"]:
            psql = ["psql", "-qX", "-d", "postgres", "-c", f"CREATE DATABASE {environment['PGDATABASE']}"]
            subprocess.run(psql, env=environment, check=True)
        return
    statement = f"CREATE DATABASE IF NOT EXISTS {DATABASE}; CREATE DATABASE IF NOT EXISTS second"
    client = ["mariadb", "--no-defaults", "-h", server["MYSQL_HOST"], "-P", server["MYSQL_TCP_PORT"]]
    subprocess.run([*client, "-u", "cupel", "-e", statement], check=True)


def outcomes(arguments, source, server, log):
    """The outcome of each test: ok, failed or skipped."""
    environment = {**os.environ, **server}
    run, kind = SUITES[arguments.suite]
    more = [arguments.labels] if run is run_django else []
    command, folder, line = run(source, environment, *more)
    prepare(kind, server, environment)
    found = {}
    with open(log, "w", encoding="utf-8", errors="replace") as out:
        subprocess.run(
            command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT, check=False
        )
    with open(log, encoding="utf-8") as text:
        for match in filter(None, map(line.match, text)):
            found[match["name"]] = OUTCOMES.get(match["outcome"], match["outcome"])
    if not found:
        stop(f"no test ran; {log} has what the suite printed")
    return found


def count(found, outcome):
    return sum(1 for one in found.values() if one == outcome)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--source", default="", help="the folder of the suite's source")
    parser.add_argument("--cupel", default=os.path.join(ROOT, "build/release/cupel"))
    parser.add_argument("--labels", nargs="+", default=DJANGO_LABELS, help="those of Django's tests")
    parser.add_argument("--keep", help="a folder for what the suite printed")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:end])
    options = words[end + 1 :] or DEFAULT_OPTIONS
    folder = arguments.keep or tempfile.mkdtemp(prefix="cupel-suite-")
    os.makedirs(folder, exist_ok=True)
    source = os.path.abspath(arguments.source)

    kind = SUITES[arguments.suite][1]
    product = SERVERS[kind]
    with plain_server(arguments.cupel, kind) as server:
        plain = outcomes(arguments, source, server, os.path.join(folder, "plain.log"))
    with weak_server(arguments.cupel, kind, options) as server:
        weak = outcomes(arguments, source, server, os.path.join(folder, "store.log"))

    print(f"{'':24}{product:>12}{'store':>12}")
    for outcome in ("ok", "failed", "skipped"):
        print(f"{outcome:24}{count(plain, outcome):12}{count(weak, outcome):12}")
    passing = [name for name, outcome in plain.items() if outcome == "ok"]
    lost = [name for name in passing if weak.get(name) != "ok"]
    for name in lost:
        print(f"only on {product}: {name} ({weak.get(name, 'did not run')} over the store)")
    for name, outcome in weak.items():
        if outcome == "ok" and plain.get(name) != "ok":
            print(f"only over the store: {name} ({plain.get(name, 'did not run')} on {product})")
    share = 1 - len(lost) / len(passing) if passing else 0
    print(f"{len(passing) - len(lost)} of {len(passing)} that pass on {product}: {share:.1%}")
    print(f"what the suite printed: {folder}")
    return 0 if share >= LEAST_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
