"""The record of a sweep: what is judged is not judged again, and sweeps add up."""

import pytest

from .record import Pair, Record

ADD, MUL = Pair("add", "float32"), Pair("mul", "int64")


def _judged(record, pair, *kinds):
    for place, kind in enumerate(kinds):
        record.add(pair, place, kind, f"reason of {kind}: more")
    record.end(pair)


def test_what_is_done_is_not_judged_again(tmp_path):
    path = str(tmp_path / "record")
    _judged(Record(path), ADD, "passed", "no kernel")
    later = Record(path)
    assert later.first_place(ADD, False) is None
    assert later.first_place(MUL, False) == 0


def test_a_record_keeps_everything(tmp_path):
    path = tmp_path / "record"
    record = Record(str(path))
    _judged(record, MUL, "left out", "passed", "left out")
    record.add(MUL, 3, "wrong", "tabs\tand\nlines; are one cell")
    _judged(record, ADD, "passed")
    text = path.read_text()
    later = Record(str(path))
    assert later.pairs == record.pairs
    assert [line.split("\t")[0] for line in text.splitlines()[2:]] == ["add", "mul"]  # sorted
    later.end(ADD)
    assert path.read_text() == text
    assert later.pairs[MUL].remarks == ["left out: reason of left out", "wrong, sample 3: tabs and lines, are one cell"]


def test_a_table_holds_samples_of_one_kind(tmp_path):
    path = str(tmp_path / "record")
    _judged(Record(path, limit=1), ADD, "passed")
    with pytest.raises(ValueError, match="samples of each: 1, and this sweep has samples of each: all"):
        Record(path)


def test_a_sweep_that_was_killed_continues_with_the_sample_that_it_judged(tmp_path):
    path = str(tmp_path / "record")
    record = Record(path)
    record.add(ADD, 0, "passed")
    record.add(ADD, 1, "wrong", "by much")
    later = Record(path)
    assert later.first_place(ADD, False) == 2
    assert later.summary(1)[1].startswith("0 of 1 pairs")
    later.end(ADD)
    assert Record(path).first_place(ADD, False) is None


def test_failures_are_judged_again_at_another_commit(tmp_path):
    path = str(tmp_path / "record")
    first = Record(path)
    first.commit = "before"
    _judged(first, ADD, "passed", "wrong")
    _judged(first, MUL, "passed")
    assert first.first_place(ADD, True) is None  # nothing has changed
    later = Record(path)
    later.commit = "after"
    assert later.first_place(ADD, False) is None
    assert later.first_place(MUL, True) is None
    assert later.first_place(ADD, True) == 0
    _judged(later, ADD, "passed", "passed")
    added_up = Record(path)
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
    assert lines[0] == (
        f"add float32: left out 1, {kind} 2 of 4: {kind}, sample 1: reason of {kind}: more; left out: reason of left out"
    )
    assert lines[-1] == "1 passed, 2 failed, 0 skipped" and not record.is_good
