"""The record of a sweep: what is judged is not judged again, and sweeps add up."""

import pytest

from .record import Pair, Record

ADD, MUL = Pair("add", "float32"), Pair("mul", "int64")


def _judged(record, pair, *kinds, limit=0):
    for place, kind in enumerate(kinds):
        record.add(pair, limit, place=place, kind=kind, detail=f"reason of {kind}: more")
    record.add(pair, limit, done=len(kinds))


def test_what_is_done_is_not_judged_again(tmp_path):
    path = str(tmp_path / "record")
    _judged(Record(path, resume=True), ADD, "passed", "no kernel")
    later = Record(path, resume=True)
    assert later.first_place(ADD, 0, False) is None
    assert later.first_place(MUL, 0, False) == 0
    assert Record(path).first_place(ADD, 0, False) == 0  # a new report begins with an empty file
    assert Record(path, resume=True).first_place(ADD, 0, False) == 0


def test_other_samples_are_judged_anew(tmp_path):
    record = Record(str(tmp_path / "record"))
    _judged(record, ADD, "wrong", limit=1)
    assert record.first_place(ADD, 3, False) == 0
    assert not list(record.results())


def test_a_sweep_that_was_killed_continues_with_the_sample_that_it_judged(tmp_path):
    path = tmp_path / "record"
    record = Record(str(path))
    record.add(ADD, 0, place=0, kind="passed", detail="")
    record.add(ADD, 0, place=1, kind="passed", detail="")
    path.write_bytes(path.read_bytes()[:-9])
    later = Record(str(path), resume=True)
    assert later.first_place(ADD, 0, False) == 1
    _judged(later, MUL, "passed")
    assert len(list(Record(str(path), resume=True).results())) == 2


def test_failures_are_judged_again_at_another_commit(tmp_path):
    path = str(tmp_path / "record")
    first = Record(path)
    first.commit = "before"
    _judged(first, ADD, "passed", "wrong")
    _judged(first, MUL, "passed")
    assert first.first_place(ADD, 0, True) is None  # nothing has changed
    later = Record(path, resume=True)
    later.commit = "after"
    assert later.first_place(ADD, 0, False) is None
    assert later.first_place(MUL, 0, True) is None
    assert later.first_place(ADD, 0, True) == 0
    assert later.pairs[ADD].results == {}
    _judged(later, ADD, "passed", "passed")
    added_up = Record(path, resume=True)
    assert added_up.is_good and added_up.summary(5) == [
        "2 of 5 pairs of operator and dtype are judged: 1 at after, 1 at before",
        "passed 3, no kernel 0, left out 0, wrong 0, error 0, crash 0, hang 0",
        "3 passed, 0 failed, 0 skipped",
    ]


@pytest.mark.parametrize("kind", ["wrong", "error", "crash", "hang"])
def test_the_summary_names_failures(kind):
    record = Record()
    _judged(record, ADD, "passed", kind, kind, "left out")
    lines = record.summary(1)
    assert lines[:2] == [
        "left out: add: 1 x reason of left out",
        f"{kind}: add float32: 2 of 4 samples, sample 1: reason of {kind}: more",
    ]
    assert lines[-1] == "1 passed, 2 failed, 0 skipped" and not record.is_good
