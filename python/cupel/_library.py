"""libcupel.so by ctypes: the functions of include/cupel/cupel.h with their types."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

NULL, INTEGER, TEXT = 0, 1, 2


class Value(Structure):
    _fields_ = [("kind", c_int), ("integer", c_int64), ("text", c_char_p), ("size", c_size_t)]


class Options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("levels", c_char_p),
        ("clock_drift_ns", c_int64),
        ("timeout_seconds", c_double),
        ("memory_limit", c_uint64),
        ("threads", c_uint),
        ("shrink_seconds", c_double),
        ("history_analysis", c_int),
        ("evidence", c_int),
    ]


# Name: (result, arguments). A handle is a c_void_p.
_FUNCTIONS = {
    "cupel_version": (c_char_p, []),
    "cupel_error": (c_char_p, []),
    "cupel_builder_new": (c_void_p, []),
    "cupel_builder_free": (None, [c_void_p]),
    "cupel_builder_transaction": (c_int, [c_void_p, c_char_p]),
    "cupel_builder_aborted": (c_int, [c_void_p]),
    "cupel_builder_indeterminate": (c_int, [c_void_p]),
    "cupel_builder_label": (c_int, [c_void_p, c_uint32]),
    "cupel_builder_times": (c_int, [c_void_p, c_int64, c_int64]),
    "cupel_builder_read": (c_int, [c_void_p, Value, Value]),
    "cupel_builder_write": (c_int, [c_void_p, Value, Value]),
    "cupel_builder_erase": (c_int, [c_void_p, Value]),
    "cupel_builder_compare_and_set": (c_int, [c_void_p, Value, Value, Value, c_int]),
    "cupel_builder_append": (c_int, [c_void_p, Value, Value]),
    "cupel_builder_read_list": (c_int, [c_void_p, Value, POINTER(Value), c_size_t]),
    "cupel_builder_initial": (c_int, [c_void_p, Value]),
    "cupel_builder_initial_of": (c_int, [c_void_p, Value, Value]),
    "cupel_builder_build": (c_void_p, [c_void_p]),
    "cupel_history_read": (c_void_p, [c_char_p, c_char_p]),
    "cupel_history_read_as": (c_void_p, [c_char_p, c_char_p, c_char_p, c_char_p]),
    "cupel_history_kind": (c_char_p, [c_void_p]),
    "cupel_history_write": (c_int, [c_void_p, c_char_p, c_char_p]),
    "cupel_history_transactions": (c_uint64, [c_void_p]),
    "cupel_history_sessions": (c_uint64, [c_void_p]),
    "cupel_history_operations": (c_uint64, [c_void_p]),
    "cupel_history_free": (None, [c_void_p]),
    "cupel_options_init": (None, [POINTER(Options), c_size_t]),
    "cupel_check": (c_void_p, [c_void_p, POINTER(Options)]),
    "cupel_answer_free": (None, [c_void_p]),
    "cupel_answer_text": (c_char_p, [c_void_p]),
    "cupel_answer_json": (c_char_p, [c_void_p]),
    "cupel_answer_level_count": (c_size_t, [c_void_p]),
    "cupel_answer_level": (c_char_p, [c_void_p, c_size_t]),
    "cupel_answer_verdict": (c_int, [c_void_p, c_size_t]),
    "cupel_answer_detail": (c_char_p, [c_void_p, c_size_t]),
    "cupel_answer_durable": (c_int, [c_void_p]),
    "cupel_answer_durable_detail": (c_char_p, [c_void_p]),
    "cupel_answer_anomaly_count": (c_size_t, [c_void_p, c_size_t]),
    "cupel_answer_anomaly": (c_char_p, [c_void_p, c_size_t, c_size_t]),
    "cupel_answer_explanation": (c_char_p, [c_void_p, c_size_t, c_size_t]),
    "cupel_answer_svg": (c_char_p, [c_void_p]),
    "cupel_answer_certificate": (c_char_p, [c_void_p]),
    "cupel_verify": (c_char_p, [c_void_p, c_char_p, c_int64]),
    "cupel_level_name": (c_char_p, [c_char_p]),
    "cupel_describe": (c_char_p, [c_char_p]),
    "cupel_recorder_open": (c_void_p, [c_char_p, c_char_p, c_char_p]),
    "cupel_recorder_close": (c_int, [c_void_p]),
    "cupel_recorder_free": (None, [c_void_p]),
    "cupel_recorder_unique_id": (c_int64, [c_void_p]),
    "cupel_session_new": (c_void_p, [c_void_p]),
    "cupel_session_free": (None, [c_void_p]),
    "cupel_session_begin": (None, [c_void_p]),
    "cupel_session_read": (None, [c_void_p, Value, Value]),
    "cupel_session_write": (None, [c_void_p, Value, Value]),
    "cupel_session_erase": (None, [c_void_p, Value]),
    "cupel_session_append": (None, [c_void_p, Value, Value]),
    "cupel_session_read_list": (None, [c_void_p, Value, POINTER(Value), c_size_t]),
    "cupel_session_committing": (None, [c_void_p]),
    "cupel_session_committed": (None, [c_void_p]),
    "cupel_session_aborted": (None, [c_void_p, c_char_p]),
    "cupel_session_indeterminate": (None, [c_void_p, c_char_p]),
}


def _load() -> ctypes.CDLL:
    """That of CUPEL_LIBRARY, of the wheel, or of the system."""
    beside = os.path.join(os.path.dirname(__file__), "libcupel.so")
    named = os.environ.get("CUPEL_LIBRARY")
    library = ctypes.CDLL(named or (beside if os.path.exists(beside) else "libcupel.so.0"))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()
