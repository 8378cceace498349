"""recorder.py: record what your own application saw, as a history that `cupel check` reads.

Copy this file; it needs Python 3.8 and nothing else. Call it from the data layer, once for each
transaction begun, each value read or written, and each outcome:

    recorder = Recorder("history.jsonl", initial=0)  # every key holds 0 at first
    session = recorder.session()                     # one for each connection
    session.begin()
    session.read("account:7", 100)                   # what the database returned
    session.write("account:7", recorder.unique_id())
    session.committing()                             # just before COMMIT is sent
    session.committed()                              # it was acknowledged
    recorder.close()

Write values that are unique for each key: then every read shows which transaction it saw. Say
committed() only if the database acknowledged the commit, and aborted() only if it certainly did not
commit. Everything else (time-out, lost connection) is indeterminate().

Keys and values are integers, strings, booleans, None, or lists of them. Times are monotonic, in
nanoseconds. A recorder belongs to one process; any thread may use it, a session is for one thread
at a time. Each line is written when it is known, so a crash of the program loses nothing. If the
file cannot be written, close() says so; the application itself is not disturbed. A call that raises
recorded nothing: the file ends there, because no verdict about the rest holds, and close() raises, too.
"""
import contextlib
import json
import threading
import time


def _json(value):
    _refuse_others(value)
    return json.dumps(value, separators=(",", ":"))


def _refuse_others(value):
    """1.0 and Decimal(1) are not the 1 that was written, so a read of them would be a false alarm."""
    if isinstance(value, (list, tuple)):
        for element in value:
            _refuse_others(element)
    elif value is not None and not isinstance(value, (int, str)):
        raise TypeError(f"cannot record {value!r}: expected an integer, a string, a boolean, None "
                        "or a list of them")


class Recorder:
    """The file. `metadata`: {"database": "PostgreSQL", "isolation": "repeatable read"}."""

    def __init__(self, path, initial=None, metadata=None):
        self._initial = _json(initial)
        self._file = open(path, "wb", buffering=0)
        self._start = time.monotonic_ns()
        self._lock = threading.Lock()
        self._lines = self._ids = self._processes = 0
        self._error = None
        if metadata:
            pairs = [[str(name), str(value)] for name, value in metadata.items()]
            self._nemesis("cupel.metadata", _json(pairs))
        if initial is not None:
            self._write_initial([])

    def session(self):
        return Session(self)

    def initial(self, key, value):
        """What one key holds before the recording. Before its first use."""
        with self._ending_at_an_error():
            self._write_initial([[key, value]])

    def unique_id(self):
        """No other write of this recorder has it; from 1."""
        with self._lock:
            self._ids += 1
            return self._ids

    def now_ns(self):
        return time.monotonic_ns() - self._start

    def close(self):
        """Raises what ended the recording: an OSError if a line could not be written."""
        with self._lock:
            if not self._file.closed:
                self._file.close()
        if self._error:
            raise self._error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @contextlib.contextmanager
    def _ending_at_an_error(self):
        try:
            yield
        except Exception as error:
            with self._lock:
                self._error = self._error or error
            raise

    def _write_initial(self, pairs):
        self._nemesis("cupel.initial", f"[{self._initial},{_json(pairs)}]")

    def _nemesis(self, f, value):
        self._write(f'{{"type":"info","process":"nemesis","f":"{f}","value":{value}')

    def _next_process(self):
        with self._lock:
            self._processes += 1
            return self._processes - 1

    def _write(self, line):
        """`line`: without its index and closing brace."""
        with self._lock:
            if self._file.closed or self._error:
                return
            rest = memoryview(f'{line},"index":{self._lines}}}\n'.encode())
            self._lines += 1
            try:
                while rest:
                    rest = rest[self._file.write(rest):]
            except OSError as error:
                self._error = error


class Session:
    """What one connection saw. Recorder.session() makes it."""

    def __init__(self, recorder):
        self._recorder = recorder
        self._process = recorder._next_process()
        self._open = False
        self._node = None

    def on(self, node):
        """The server that the transactions from here on run on; explanations show it."""
        self._node = node

    def begin(self):
        if self._open:
            self.indeterminate("the next transaction began")
        self._open, self._invoked, self._retold = True, False, False
        self._asked, self._seen = [], []
        self._begun = self._recorder.now_ns()

    def read(self, key, value):
        """`value`: what the database returned; of a list, all its elements."""
        self._operation(["r", key, None], ["r", key, value])

    def write(self, key, value):
        self._operation(["w", key, value])

    def insert(self, key, value):
        self._operation(["insert", key, value])

    def delete(self, key):
        self._operation(["delete", key, None])

    def append(self, key, element):
        self._operation(["append", key, element])

    def read_range(self, low, high, rows):
        """`rows`: all (key, value) that the database returned, in its order."""
        with self._recorder._ending_at_an_error():
            rows = [[key, value] for key, value in rows]
        self._operation(["range", [low, high], None], ["range", [low, high], rows])

    def compare_and_set(self, key, expected, desired, succeeded):
        asked = ["cas", key, [expected, desired]]
        self._operation(asked, asked if succeeded else asked + [False])

    def committing(self):
        """If the program crashes after this, the transaction is indeterminate in the file.

        A database may run a transaction in one piece. Then report its operations with reads of
        None, call this, and report them again with what they returned.
        """
        if self._open and not self._invoked:
            self._invoked = True
            self._line("invoke", self._asked, self._begun)

    def committed(self):
        self._complete("ok")

    def aborted(self, why=None):
        self._complete("fail", why)

    def indeterminate(self, why=None):
        """The session goes on as a new process: the transaction may still be under way."""
        if self._open:
            self._complete("info", why)
            self._process = self._recorder._next_process()

    def _operation(self, asked, seen=None):
        with self._recorder._ending_at_an_error():
            if not self._open:
                raise RuntimeError(f"{asked[0]} outside of a transaction; call begin() first")
            asks, sees = _json(asked), _json(asked if seen is None else seen)
        if self._invoked and not self._retold:
            self._retold, self._seen = True, []
        if not self._invoked:
            self._asked.append(asks)
        self._seen.append(sees)

    def _complete(self, kind, why=None):
        if not self._open:
            return
        self.committing()
        self._line(kind, self._seen, self._recorder.now_ns(), why)
        self._open = False

    def _line(self, kind, operations, at, why=None):
        node = "" if self._node is None else f',"node":{_json(str(self._node))}'
        error = "" if why is None else f',"error":{_json(str(why))}'
        self._recorder._write(f'{{"type":"{kind}","process":{self._process},"f":"txn",'
                              f'"value":[{",".join(operations)}],"time":{at}{node}{error}')
