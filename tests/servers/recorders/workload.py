"""workload.py URL HISTORY ISOLATION: four connections of psycopg2 to PostgreSQL, recorded.

In the first round all read key 0 before any of them writes it. Below snapshot isolation this loses an
update. `workload.py script HISTORY` records operations of every kind, without a database.
`workload.py refused HISTORY MISTAKE` makes a mistake, goes on, and says how the recording ended.
"""
import random
import sys
import threading

import psycopg2

from recorder import Recorder

CLIENTS, ROUNDS, KEYS = 4, 40, 3


def script(path):
    recorder = Recorder(path, initial=0, metadata={"database": "none"})
    recorder.initial("list", [])
    a, b = recorder.session(), recorder.session()
    a.begin()
    a.read("x", 0)
    a.write("x", recorder.unique_id())
    a.append("list", 1)
    a.committed()
    b.on("n1")
    b.begin()
    b.read("list", [1])
    b.insert("y \"\\\n\u00e9", None)
    b.delete(2)
    b.read_range(1, 9, [(3, "three"), (4, None)])
    b.committing()
    b.aborted("serialization failure")
    a.begin()
    a.read("x", None)
    a.compare_and_set("x", 1, 2, True)
    a.committing()
    a.read("x", 1)
    a.compare_and_set("x", 1, 2, False)
    a.indeterminate("time-out")
    a.begin()
    a.begin()
    a.committed()
    recorder.close()


def refused(path, mistake):
    recorder = Recorder(path)
    a = recorder.session()
    a.begin()
    a.write("x", 1)
    a.committed()
    try:
        if mistake == "value":
            a.begin()
            a.write("x", 1.5)
        elif mistake == "rows":
            a.begin()
            a.read_range(1, 2, [(1, object())])
        elif mistake == "initial":
            recorder.initial("y", 1.5)
        else:
            a.write("x", 2)
        sys.exit("nothing was raised")
    except (TypeError, RuntimeError):
        pass
    a.committed()
    b = recorder.session()
    b.begin()
    b.write("z", 3)
    b.committed()
    try:
        recorder.close()
        sys.exit("close() raised nothing")
    except (TypeError, RuntimeError) as error:
        print(error)


def transaction(connection, session, recorder, isolation, reads, writes, between):
    cursor = connection.cursor()
    session.begin()
    try:
        cursor.execute(f"BEGIN ISOLATION LEVEL {isolation}")
        cursor.execute("SELECT v FROM recorded WHERE k = %s", [reads])
        session.read(reads, cursor.fetchone()[0])
        between()
        value = recorder.unique_id()
        session.write(writes, value)
        cursor.execute("UPDATE recorded SET v = %s WHERE k = %s", [value, writes])
        session.committing()
        cursor.execute("COMMIT")
        session.committed()
    except psycopg2.Error as error:
        if error.pgcode is None:
            session.indeterminate(str(error))
            raise
        cursor.execute("ROLLBACK")
        session.aborted(error.pgcode)


def client(number, url, recorder, isolation, barrier):
    connection = psycopg2.connect(url)
    connection.autocommit = True
    session = recorder.session()
    choose = random.Random(number)
    transaction(connection, session, recorder, isolation, 0, 0, barrier.wait)
    for _ in range(ROUNDS - 1):
        keys = choose.randrange(KEYS), choose.randrange(KEYS)
        transaction(connection, session, recorder, isolation, *keys, lambda: None)
    connection.close()


def main(url, path, isolation):
    setup = psycopg2.connect(url)
    setup.autocommit = True
    cursor = setup.cursor()
    cursor.execute("DROP TABLE IF EXISTS recorded")
    cursor.execute("CREATE TABLE recorded (k int PRIMARY KEY, v bigint)")
    cursor.execute("INSERT INTO recorded SELECT k, 0 FROM generate_series(0, %s) k", [KEYS - 1])
    recorder = Recorder(path, initial=0, metadata={"database": "PostgreSQL", "isolation": isolation})
    barrier = threading.Barrier(CLIENTS, timeout=60)
    threads = [threading.Thread(target=client, args=(i, url, recorder, isolation, barrier))
               for i in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()


if __name__ == "__main__":
    {"script": script, "refused": refused}.get(sys.argv[1], lambda *rest: main(sys.argv[1], *rest))(*sys.argv[2:])
