"""cupel: which isolation levels a recorded database history satisfies, and why others are violated.

    import cupel

    history = cupel.History()
    history.transaction("alice").write("x", 1)
    history.transaction("bob").read("x", 1).write("x", 2)
    history.transaction("carol").read("x", 1).write("x", 3)
    answer = cupel.check(history, levels=["snapshot-isolation"])
    print(answer)                                     # what `cupel check` prints
    answer["snapshot-isolation"].anomalies[0].name    # "lost-update"

In a notebook an answer draws its first violation. Recorder writes what an application saw; read()
takes the files of cupel, Jepsen, PolySI and others. Keys and values are None, int or str, and the
integer 1 and the text "1" differ. Errors are cupel.Error with a sentence.
"""
from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Set, Union

from . import _library
from ._library import library as _lib

__all__ = ["Anomaly", "Answer", "Error", "History", "Level", "Recorder", "Session", "check", "describe", "read", "verify", "version"]

Scalar = Union[None, int, str]
_VERDICTS = ("satisfied", "violated", "unknown", "refused")


class Error(Exception):
    """Why a call failed, in a sentence."""


def _failed() -> Error:
    return Error(_lib.cupel_error().decode())


def _well(status: int) -> None:
    if status != 0:
        raise _failed()


def _handle(handle: Optional[int]) -> int:
    if not handle:
        raise _failed()
    return handle


def _text(text: Optional[str]) -> Optional[bytes]:
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"a name is a str, not {type(text).__name__}")
    if "\0" in text:
        raise Error("a name holds the character U+0000")
    return text.encode()


def _name(text: str) -> Optional[bytes]:
    """Of what must have one."""
    if text is None:
        raise TypeError("a name is a str, not NoneType")
    return _text(text)


def _path(path: "Path") -> bytes:
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise Error("a path holds the character U+0000")
    return encoded


def _value(value: Scalar) -> _library.Value:
    if value is None:
        return _library.Value(_library.NULL, 0, None, 0)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError(f"a key or a value is None, int or str, not {type(value).__name__}")
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise OverflowError(f"{value} has more than 64 bits; give it as a str")
        return _library.Value(_library.INTEGER, value, None, 0)
    encoded = value.encode()
    return _library.Value(_library.TEXT, 0, encoded, len(encoded))


def _values(values: Iterable[Scalar]) -> "tuple[ctypes.Array[_library.Value], int]":
    listed = [_value(one) for one in values]
    return (_library.Value * len(listed))(*listed), len(listed)


def version() -> str:
    """Of the library: "0.2.0"."""
    return _lib.cupel_version().decode()


def describe(name: str) -> str:
    """A page about a level or an anomaly, by any of its names."""
    page = _lib.cupel_describe(_name(name))
    if page is None:
        raise _failed()
    return page.decode()


class Transaction:
    """The open transaction of a History; its functions return it, to chain."""

    def __init__(self, history: "History", number: int) -> None:
        self._history, self._number = history, number

    def _builder(self) -> int:
        return self._history._open(self._number)

    def _did(self, status: int) -> "Transaction":
        _well(status)
        return self

    def read(self, key: Scalar, value: Scalar) -> "Transaction":
        return self._did(_lib.cupel_builder_read(self._builder(), _value(key), _value(value)))

    def write(self, key: Scalar, value: Scalar) -> "Transaction":
        return self._did(_lib.cupel_builder_write(self._builder(), _value(key), _value(value)))

    def erase(self, key: Scalar) -> "Transaction":
        return self._did(_lib.cupel_builder_erase(self._builder(), _value(key)))

    def compare_and_set(self, key: Scalar, expected: Scalar, desired: Scalar, succeeded: bool) -> "Transaction":
        return self._did(
            _lib.cupel_builder_compare_and_set(
                self._builder(), _value(key), _value(expected), _value(desired), int(succeeded)
            )
        )

    def append(self, key: Scalar, element: Scalar) -> "Transaction":
        return self._did(_lib.cupel_builder_append(self._builder(), _value(key), _value(element)))

    def read_list(self, key: Scalar, elements: Sequence[Scalar]) -> "Transaction":
        values, count = _values(elements)
        return self._did(_lib.cupel_builder_read_list(self._builder(), _value(key), values, count))

    def label(self, label: int) -> "Transaction":
        """How explanations call it: T7 for 7."""
        return self._did(_lib.cupel_builder_label(self._builder(), label))

    def times(self, invoked_ns: int, completed_ns: int) -> "Transaction":
        return self._did(_lib.cupel_builder_times(self._builder(), invoked_ns, completed_ns))

    def aborted(self) -> "Transaction":
        """It certainly had no effect."""
        return self._did(_lib.cupel_builder_aborted(self._builder()))

    def indeterminate(self) -> "Transaction":
        """It may have committed or not."""
        return self._did(_lib.cupel_builder_indeterminate(self._builder()))


class History:
    """What the clients of a database saw: from read(), or built transaction by transaction.

    Sessions may come in any interleaving, the transactions of one in their order. What is built is
    checked, written or counted as it is then, and takes no more transactions.
    """

    def __init__(self) -> None:
        self._handle: Optional[int] = None
        self._building: Optional[int] = _handle(_lib.cupel_builder_new())
        self._number = 0

    @classmethod
    def _of(cls, handle: int) -> "History":
        history = cls.__new__(cls)
        history._handle, history._building, history._number = handle, None, 0
        return history

    def _open(self, number: Optional[int] = None) -> int:
        if self._building is None:
            raise Error("the history is built; it takes no more transactions")
        if number is not None and number != self._number:
            raise Error("another transaction has begun since")
        return self._building

    def _built(self) -> int:
        if self._handle is None:
            builder, self._building = self._building, None
            try:
                self._handle = _handle(_lib.cupel_builder_build(builder))
            finally:
                _lib.cupel_builder_free(builder)
        return self._handle

    def transaction(self, session: str) -> Transaction:
        """Begins the next transaction of a session; the one before it ends here."""
        _well(_lib.cupel_builder_transaction(self._open(), _name(session)))
        self._number += 1
        return Transaction(self, self._number)

    def initial(self, value: Scalar, *keys: Scalar) -> None:
        """What these keys hold at first; without keys: every key. Default: None."""
        if not keys:
            _well(_lib.cupel_builder_initial(self._open(), _value(value)))
        for key in keys:
            _well(_lib.cupel_builder_initial_of(self._open(), _value(key), _value(value)))

    def write(self, path: "Path", format: str = "jepsen") -> None:
        """As jepsen (JSON lines), plume, awdit, dbcop or cupel."""
        _well(_lib.cupel_history_write(self._built(), _path(path), _name(format)))

    @property
    def transactions(self) -> int:
        return _lib.cupel_history_transactions(self._built())

    @property
    def kind(self) -> str:
        """How the operations were read: "registers with compare-and-set, 3 keys"."""
        return _lib.cupel_history_kind(self._built()).decode()

    @property
    def sessions(self) -> int:
        return _lib.cupel_history_sessions(self._built())

    @property
    def operations(self) -> int:
        return _lib.cupel_history_operations(self._built())

    def __del__(self) -> None:
        if getattr(self, "_building", None) is not None:
            _lib.cupel_builder_free(self._building)
        if getattr(self, "_handle", None) is not None:
            _lib.cupel_history_free(self._handle)


Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def read(path: Path, format: Optional[str] = None, *, kind: Optional[str] = None, ignore: Iterable[str] = ()) -> History:
    """A history file, or a folder for the formats that use one; the format is recognised by content.

    `kind` says what op maps record: "transactions", "registers", "mutex" or "strings"; default: what their
    `f` and their values say. `ignore`: leaves out the op maps with these `f`.
    """
    words = _names(ignore)
    return History._of(_handle(_lib.cupel_history_read_as(_path(path), _text(format), _text(kind), _text(words))))


def _names(names: Iterable[str]) -> Optional[str]:
    """Separated by commas; a single name may be given as it is."""
    return ",".join([names] if isinstance(names, str) else names) or None


@dataclass(frozen=True)
class Anomaly:
    """One thing that went wrong."""

    name: str  # "lost-update"
    explanation: str  # several lines: what happened, who took part, the cycle

    def __str__(self) -> str:
        return f"{self.name}: {self.explanation}"


@dataclass(frozen=True)
class Level:
    """What was found about one level."""

    name: str  # "snapshot-isolation"
    verdict: str  # "satisfied", "violated", "unknown" or "refused"
    detail: str  # a sentence for "unknown" and "refused"
    anomalies: List[Anomaly]  # of "violated": at least one


class Answer:
    """What was found about a history. Printed, it says what `cupel check` prints."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.levels: List[Level] = []
        # Whether a recorded run kept the writes that it acknowledged: "satisfied", "violated" or
        # "unknown", and why, as `cupel check` judges it for its exit code.
        self.durable = _VERDICTS[_lib.cupel_answer_durable(handle)]
        self.durable_detail = _lib.cupel_answer_durable_detail(handle).decode()
        for i in range(_lib.cupel_answer_level_count(handle)):
            anomalies = [
                Anomaly(
                    _lib.cupel_answer_anomaly(handle, i, j).decode(),
                    _lib.cupel_answer_explanation(handle, i, j).decode(),
                )
                for j in range(_lib.cupel_answer_anomaly_count(handle, i))
            ]
            self.levels.append(
                Level(
                    _lib.cupel_answer_level(handle, i).decode(),
                    _VERDICTS[_lib.cupel_answer_verdict(handle, i)],
                    _lib.cupel_answer_detail(handle, i).decode(),
                    anomalies,
                )
            )

    def __getitem__(self, level: str) -> Level:
        """By any of its names, such as "si"."""
        known = _lib.cupel_level_name(_name(level))
        if known is None:
            raise KeyError(str(_failed()))
        for one in self.levels:
            if one.name == known.decode():
                return one
        raise KeyError(f"{known.decode()} was not checked")

    def __iter__(self) -> Iterator[Level]:
        return iter(self.levels)

    def __bool__(self) -> bool:
        """Every level that was asked for is satisfied, and `durable` is."""
        levels = all(level.verdict == "satisfied" for level in self.levels)
        return levels and self.durable == "satisfied"

    @property
    def violated(self) -> List[Level]:
        return [level for level in self.levels if level.verdict == "violated"]

    @property
    def json(self) -> Any:
        """The object of `cupel check --json`."""
        return json.loads(_lib.cupel_answer_json(self._handle).decode())

    def svg(self) -> str:
        """The first violation as a picture."""
        picture = _lib.cupel_answer_svg(self._handle)
        if picture is None:
            raise _failed()
        return picture.decode()

    def certificate(self) -> str:
        """The evidence as `cupel check --certificate` writes it, if the check kept it (evidence=True)."""
        certificate = _lib.cupel_answer_certificate(self._handle)
        if certificate is None:
            raise _failed()
        return certificate.decode()

    def __str__(self) -> str:
        return _lib.cupel_answer_text(self._handle).decode()

    def _repr_svg_(self) -> Optional[str]:
        try:
            return self.svg()
        except Error:
            return None  # nothing is violated: the text is shown

    def __repr__(self) -> str:
        return str(self)

    def __del__(self) -> None:
        _lib.cupel_answer_free(self._handle)


def check(
    history: Union[History, Path],
    levels: Optional[Sequence[str]] = None,
    *,
    timeout: float = 0,
    memory_limit: int = 0,
    threads: int = 0,
    clock_drift_ns: int = 0,
    shrink_seconds: float = -1,
    history_analysis: bool = False,
    evidence: bool = False,
) -> Answer:
    """Decides the levels; without `levels` all of them. `history` may be the path of a file.

    timeout in seconds and memory_limit in bytes: 0 for no limit. shrink_seconds: how long a
    violation may be made smaller before it is explained; -1: as long as the check took. evidence:
    keep it, for Answer.certificate().
    """
    if not isinstance(history, History):
        history = read(history)
    if isinstance(levels, str):
        levels = [levels]
    options = _library.Options()
    _lib.cupel_options_init(ctypes.byref(options), ctypes.sizeof(options))
    options.levels = _text(",".join(levels)) if levels else None
    options.clock_drift_ns = clock_drift_ns
    options.timeout_seconds = timeout
    options.memory_limit = memory_limit
    options.threads = threads
    options.shrink_seconds = shrink_seconds
    options.history_analysis = int(history_analysis)
    options.evidence = int(evidence)
    return Answer(_handle(_lib.cupel_check(history._built(), ctypes.byref(options))))


def verify(history: Union[History, Path], certificate: str, *, clock_drift_ns: int = 0) -> Any:
    """Checks a certificate against the history, with code that shares nothing with check(): the object of
    `cupel verify --json`, whose "valid" says whether every verdict in it is proven."""
    if not isinstance(history, History):
        history = read(history)
    verified = _lib.cupel_verify(history._built(), _name(certificate), clock_drift_ns)
    if verified is None:
        raise _failed()
    return json.loads(verified.decode())


class Session:
    """What one client saw; for one thread at a time. From Recorder.session().

    A call that raises because of its arguments recorded nothing: Recorder.close() then raises, too,
    because no verdict about what is left holds."""

    def __init__(self, recorder: "Recorder") -> None:
        self._recorder = recorder  # outlives it
        self._handle: Optional[int] = _handle(_lib.cupel_session_new(recorder._open()))
        recorder._live.add(self._handle)

    def close(self) -> None:
        """Ends it; an open transaction becomes indeterminate. Otherwise Recorder.close() does that."""
        handle, self._handle = self._handle, None
        if handle in self._recorder._live:
            self._recorder._live.discard(handle)
            _lib.cupel_session_free(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def _open(self) -> int:
        if self._handle is None or self._handle not in self._recorder._live:
            raise Error("the session or its recorder is closed")
        return self._handle

    def _scalar(self, value: Scalar) -> _library.Value:
        try:
            return _value(value)
        except (TypeError, ValueError, OverflowError) as error:
            self._recorder._lacks(error)
            raise

    def begin(self) -> None:
        _lib.cupel_session_begin(self._open())

    def read(self, key: Scalar, value: Scalar) -> None:
        _lib.cupel_session_read(self._open(), self._scalar(key), self._scalar(value))

    def write(self, key: Scalar, value: Scalar) -> None:
        _lib.cupel_session_write(self._open(), self._scalar(key), self._scalar(value))

    def erase(self, key: Scalar) -> None:
        _lib.cupel_session_erase(self._open(), self._scalar(key))

    def append(self, key: Scalar, element: Scalar) -> None:
        _lib.cupel_session_append(self._open(), self._scalar(key), self._scalar(element))

    def read_list(self, key: Scalar, elements: Sequence[Scalar]) -> None:
        try:
            values, count = _values(elements)
        except (TypeError, ValueError, OverflowError) as error:
            self._recorder._lacks(error)
            raise
        _lib.cupel_session_read_list(self._open(), self._scalar(key), values, count)

    def committing(self) -> None:
        """Just before COMMIT is sent."""
        _lib.cupel_session_committing(self._open())

    def committed(self) -> None:
        """The commit was acknowledged."""
        _lib.cupel_session_committed(self._open())

    def aborted(self, why: Optional[str] = None) -> None:
        """It certainly did not commit."""
        _lib.cupel_session_aborted(self._open(), _text(why))

    def indeterminate(self, why: Optional[str] = None) -> None:
        """A time-out, a lost connection: it may have committed or not."""
        _lib.cupel_session_indeterminate(self._open(), _text(why))


class Recorder:
    """Writes what an application saw, as a history file (JSON lines) that check() reads.

    with cupel.Recorder("history.jsonl", database="PostgreSQL", isolation="repeatable read") as recorder:
        session = recorder.session()            # one for each connection
        session.begin()
        session.read("account:7", 100)          # what the database returned
        session.write("account:7", recorder.unique_id())
        session.committing()
        session.committed()
    """

    def __init__(self, path: Path, database: Optional[str] = None, isolation: Optional[str] = None) -> None:
        self._live: Set[int] = set()  # the handles of sessions
        self._lacking: Optional[str] = None
        self._handle: Optional[int] = _handle(_lib.cupel_recorder_open(_path(path), _text(database), _text(isolation)))

    def _open(self) -> int:
        if self._handle is None:
            raise Error("the recorder is closed")
        return self._handle

    def session(self) -> Session:
        return Session(self)

    def _lacks(self, error: Exception) -> None:
        if self._lacking is None:
            self._lacking = str(error)

    def unique_id(self) -> int:
        """Unique among the writes of this recorder: a value that shows which write it came from."""
        return _lib.cupel_recorder_unique_id(self._open())

    def close(self) -> None:
        """Ends the sessions; everything handed over reaches the file. Raises Error if something did not,
        or was refused: the history is incomplete then, and no verdict about it holds."""
        if self._handle is None:
            return  # closed before
        while self._live:
            _lib.cupel_session_free(self._live.pop())
        handle, self._handle = self._handle, None
        status = _lib.cupel_recorder_close(handle)
        error = _failed() if status != 0 else None
        if error is None and self._lacking is not None:
            error = Error(f"the history is incomplete: an operation was not recorded: {self._lacking}")
        _lib.cupel_recorder_free(handle)
        if error is not None:
            raise error

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()
