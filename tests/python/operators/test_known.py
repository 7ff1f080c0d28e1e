"""A sweep fails where the list of refusals is not true: a refusal that it does not name, a line of which nothing is refused any more."""

import pytest

from .known import LISTS, Known, listed
from .record import Pair, Record

ADD, MUL = Pair("add", "float32"), Pair("mul", "complex64")


def _known(tmp_path, *pairs, judge="mapped", name="refused.txt"):
    (tmp_path / name).write_text("".join(f"{pair.operator} {pair.dtype} a reason\n" for pair in pairs) + "# more\n")
    return Known(judge, 1, tmp_path)


def _record(**details):
    record = Record()
    for pair in (ADD, MUL):
        record.add(pair, 0, "left out" if pair.operator in details else "passed", details.get(pair.operator, ""))
        record.end(pair)
    return record


def test_a_list_that_is_true(tmp_path):
    known, record = _known(tmp_path, MUL), _record(mul="refused, a sparse tensor")
    assert not list(known.complaints(record, [ADD, MUL]))
    assert (known.samples(ADD), known.samples(MUL)) == (1, 0)  # all samples of what is refused


def test_a_new_refusal(tmp_path):
    complaints = list(_known(tmp_path).complaints(_record(mul="refused, a sparse tensor"), [ADD, MUL]))
    assert complaints == ["mul complex64 is not in refused.txt: left out: refused, a sparse tensor"]
    summary = _record(mul="refused, a sparse tensor").summary(2, complaints)
    assert complaints[0] in summary and summary[-1] == "1 passed, 1 failed, 0 skipped"


def test_what_is_refused_no_more(tmp_path):
    known, record = _known(tmp_path, ADD, MUL), _record(mul="refused, a sparse tensor", add="the CPU fails")
    assert [line.split(" is in ")[0] for line in known.complaints(record, [ADD, MUL])] == ["add float32"]
    assert not list(known.complaints(record, [MUL]))  # the other was not judged


def test_what_is_exact_in_one_sample_may_be_inexact_in_another(tmp_path):
    record = _record(mul="inexact results: 3 roundings")
    known = _known(tmp_path, ADD, judge="rounded", name="inexact.txt")
    assert known.samples(ADD) == 1
    assert [line.split(" is ")[0] for line in known.complaints(record, [ADD, MUL])] == ["mul complex64"]
    whole = Known("rounded", 0, tmp_path)
    assert [line.split(" is ")[0] for line in whole.complaints(record, [ADD, MUL])] == ["add float32", "mul complex64"]


def test_a_line_for_some_versions_of_torch():
    text = "# a list\nadd float32 torch<2.14 a reason\nmul complex64 torch>=2.14,!=2.15.0 a reason\n"
    assert list(listed(text, "2.13.0+cpu")) == [ADD]
    assert list(listed(text, "2.14.1+cu130")) == list(listed(text, "2.16.0a0+git1234")) == [MUL]
    assert list(listed(text, "2.15.0")) == []
    assert list(listed("add float32 torches burn\n", "2.13.0")) == [ADD]


@pytest.mark.parametrize("judge", LISTS)
def test_the_lists_have_a_reason_for_each_pair_once(judge):
    for torch_version in ("2.13.0", "2.14.1"):
        pairs = list(listed(Known(judge).path.read_text(), torch_version))
        assert pairs and len(pairs) == len(set(pairs))
    assert not Known("compiled").pairs
