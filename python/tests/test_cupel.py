"""The Python package: the words of the program, errors as exceptions, recording, notebooks."""
import json
import os
import pathlib
import subprocess

import pytest

import cupel


def lost_update():
    history = cupel.History()
    history.transaction("alice").write("x", 1)
    history.transaction("bob").read("x", 1).write("x", 2)
    history.transaction("carol").read("x", 1).write("x", 3)
    return history


def test_explains_a_lost_update():
    answer = cupel.check(lost_update(), levels=["snapshot-isolation"])
    assert not answer
    level = answer["snapshot-isolation"]
    assert level.verdict == "violated"
    assert level.anomalies[0].name == "lost-update"
    assert "T1 and T2 both read x = 1 and both wrote x" in level.anomalies[0].explanation
    assert "lost-update" in str(answer)


def test_answers_every_level():
    history = lost_update()
    answer = cupel.check(history)
    assert len(answer.levels) == 12
    assert [one.name for one in answer.violated][0] == "snapshot-isolation"
    assert answer["strict-serializable"].verdict == "refused"
    assert answer["strict-serializable"].detail
    assert answer.json["transactions"] == 3
    assert (history.transactions, history.sessions, history.operations) == (3, 3, 5)


def test_reads_as_the_user_says(tmp_path):
    file = tmp_path / "history.jsonl"
    file.write_text(
        '{"type":"ok","process":0,"f":"cas","value":["x",[null,1]]}\n'
        '{"type":"ok","process":0,"f":"nap","value":3}\n')
    with pytest.raises(cupel.Error, match="f=nap"):
        cupel.read(file)
    history = cupel.read(file, kind="registers", ignore=["nap", "doze"])
    assert history.kind == "registers with compare-and-set, 1 key"
    assert cupel.check(history).json["ignored"] == [{"f": "nap", "op_maps": 1}]
    with pytest.raises(cupel.Error, match="expected transactions, registers, mutex or strings"):
        cupel.read(file, kind="locks")
    assert cupel.read(file, ignore="nap").kind == history.kind
    assert cupel.History().kind == "transactions"


def test_says_whether_a_recorded_run_kept_its_writes(tmp_path):
    file = tmp_path / "history.jsonl"
    write = '{"type":"ok","process":0,"f":"txn","value":[["w","x",1]]}\n'
    file.write_text(write)
    assert cupel.check(cupel.read(file), "causal")
    file.write_text(
        '{"type":"info","process":"nemesis","f":"cupel.metadata","value":[["data gone","kv is gone"]]}\n' + write)
    answer = cupel.check(cupel.read(file), "causal")
    assert answer["causal"].verdict == "satisfied"
    assert answer.durable == "unknown"
    assert answer.durable_detail == "kv is gone; no acknowledged write is known to be lost"
    assert not answer


def test_says_what_the_program_says(tmp_path):
    file = tmp_path / "history.jsonl"
    lost_update().write(file)
    program = os.environ.get("CUPEL_BINARY")
    if program is None:
        pytest.skip("CUPEL_BINARY does not name the program")
    ran = subprocess.run([program, "check", "--json", str(file)], capture_output=True, text=True, check=False)
    answer = cupel.check(file)
    # Both explain with the same words; where the time went differs.
    told, asked = json.loads(ran.stdout), answer.json
    # The program lists only levels that apply.
    by_level = {level["level"]: level for level in asked["levels"]}
    explanations = 0
    for one in told["levels"]:
        other = by_level[one["level"]]
        assert one["verdict"] == other["verdict"]
        assert [a["explanation"] for a in one["anomalies"]] == [a["explanation"] for a in other["anomalies"]]
        explanations += len(one["anomalies"])
    assert explanations > 0


def test_has_the_version_of_the_library():
    project = os.path.join(os.path.dirname(__file__), "..", "pyproject.toml")
    with open(project, encoding="utf-8") as file:
        assert f'version = "{cupel.version().replace("-dev", ".dev0")}"' in file.read()


def test_draws_in_a_notebook():
    answer = cupel.check(lost_update(), levels=["si"])
    assert "<svg" in answer._repr_svg_()
    satisfied = cupel.check(lost_update(), levels="read-committed")
    assert satisfied
    assert satisfied._repr_svg_() is None


def test_errors_are_sentences():
    with pytest.raises(cupel.Error, match="/nowhere/history.jsonl"):
        cupel.read("/nowhere/history.jsonl")
    with pytest.raises(cupel.Error, match="expected a level"):
        cupel.check(lost_update(), levels=["sreializable"])
    with pytest.raises(TypeError):
        cupel.History().transaction("a").write("x", 1.5)
    with pytest.raises(OverflowError):
        cupel.History().transaction("a").write("x", 2**63)
    history = cupel.History()
    first = history.transaction("a")
    history.transaction("b")
    with pytest.raises(cupel.Error, match="another transaction has begun"):
        first.write("x", 1)
    cupel.check(history)
    with pytest.raises(cupel.Error, match="takes no more"):
        history.transaction("c")
    with pytest.raises(cupel.Error, match="neither a level nor an anomaly"):
        cupel.describe("nonsense")
    assert "lost" in cupel.describe("lost-update")
    for session in (5, None, b"a"):
        with pytest.raises(TypeError, match="a name is a str, not"):
            cupel.History().transaction(session)


def test_levels_by_any_name():
    answer = cupel.check(lost_update(), levels=["SI", "rc"])
    assert answer["si"] is answer["snapshot-isolation"] is answer["Snapshot-Isolation"]
    assert answer["rc"].verdict == "satisfied"
    with pytest.raises(KeyError, match="serializable was not checked"):
        answer["ser"]
    with pytest.raises(KeyError, match="expected a level"):
        answer["sreializable"]


def test_paths_of_every_kind(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.jsonl"  # no text in UTF-8
    for path in (name, os.fsdecode(name), pathlib.Path(os.fsdecode(name))):
        lost_update().write(path)
        assert cupel.read(path).transactions == 3
        assert not cupel.check(path, levels=["si"])
        with cupel.Recorder(path):
            pass
    with pytest.raises(cupel.Error, match="U\\+0000"):
        cupel.read(b"a\0b")
    with pytest.raises(TypeError):
        cupel.read(5)


def test_other_operations():
    history = cupel.History()
    history.initial(0)
    history.initial("first", "y")
    history.transaction("a").read("y", "first").compare_and_set("x", 0, 5, True).erase(3).times(1, 2)
    history.transaction("b").append("l", 1).append("l", 2).read_list("l", [1, 2]).times(3, 4)
    history.transaction("c").write("x", 9).aborted()
    history.transaction("c").write("x", 10).indeterminate().label(99)
    assert cupel.check(history, levels=["serializable"])


def test_a_recording_that_lacks_an_operation_is_an_error(tmp_path):
    recorder = cupel.Recorder(tmp_path / "history.jsonl")
    session = recorder.session()
    session.begin()
    for refused in (lambda: session.write("x", 1.0), lambda: session.read_list("l", [2**63]), lambda: session.read_list("l", 5)):
        with pytest.raises((TypeError, OverflowError)):
            refused()
    session.committed()
    with pytest.raises(cupel.Error, match="incomplete.*None, int or str, not float"):
        recorder.close()


def test_sessions_end_where_nobody_has_them(tmp_path):
    with cupel.Recorder(tmp_path / "history.jsonl") as recorder:
        for _ in range(100):
            recorder.session().begin()
        kept = recorder.session()
        assert len(recorder._live) == 1
        kept.close()
        kept.close()
        assert not recorder._live
        with pytest.raises(cupel.Error, match="closed"):
            kept.begin()


def test_a_negative_clock_drift_is_refused():
    history = cupel.History()
    history.transaction("a").write("x", 1)
    for drift in (-1, 2**62):
        with pytest.raises(cupel.Error, match="clock drift"):
            cupel.check(history, clock_drift_ns=drift)
        with pytest.raises(cupel.Error, match="clock drift"):
            cupel.verify(history, "{}", clock_drift_ns=drift)


def test_records(tmp_path):
    file = tmp_path / "history.jsonl"
    with cupel.Recorder(file, database="PostgreSQL", isolation="repeatable read") as recorder:
        one, other = recorder.session(), recorder.session()
        for session in (one, other):
            session.begin()
            session.read("x", None)
        for session in (one, other):
            session.write("x", recorder.unique_id())
            session.committing()
            session.committed()
        one.begin()
        one.append("l", 1)
        one.aborted("serialization failure")
        one.begin()
        one.read_list("l", [])
        one.indeterminate()
    for late in (recorder.session, recorder.unique_id, one.begin, lambda: one.write("x", 7)):
        with pytest.raises(cupel.Error, match="closed"):
            late()
    answer = cupel.check(cupel.read(file))
    assert answer["snapshot-isolation"].anomalies[0].name == "lost-update"
    with pytest.raises(cupel.Error, match="/nowhere"):
        cupel.Recorder("/nowhere/history.jsonl")


def test_two_threads_have_their_own_errors():
    import threading

    seen = []

    def fails(name):
        try:
            cupel.read(name)
        except cupel.Error as error:
            seen.append((name, str(error)))

    threads = [threading.Thread(target=fails, args=(f"/nowhere/{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert all(name in error for name, error in seen)


def test_a_certificate_proves_its_history_and_no_other():
    history = lost_update()
    certificate = cupel.check(history, evidence=True).certificate()
    assert cupel.verify(history, certificate)["valid"] is True
    other = lost_update()
    other.transaction("dave").read("x", 3)
    assert cupel.verify(other, certificate)["valid"] is False
    with pytest.raises(cupel.Error, match="no evidence"):
        cupel.check(history).certificate()
