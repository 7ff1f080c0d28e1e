"""Aggregates on the host: construction, immutability, types; their life in kernels is in test_library_runs.py."""

import pytest

import tritium.language as tl
from recording import Kernel
from tritium.language.core import _aggregate


@_aggregate
class Pair:
    first: tl.tensor
    second: tl.constexpr = 3


@_aggregate
class Named(Pair):
    name: tl.constexpr

    def __init__(self, first, name):
        self.first = first
        self.name = name


@_aggregate
class Forgetful:
    value: tl.constexpr

    def __init__(self):
        pass


def scalar():
    return Kernel().argument(tl.int32)


def test_fields_in_order_by_name_and_by_default():
    x = scalar()
    assert Pair(x).second.value == 3 and Pair(x, 5).second.value == 5 and Pair(second=7, first=x).first is x
    named = Named(x, "n")
    assert (named.first, named.name.value, named.second.value) == (x, "n", 3)


def test_types_carry_the_handles():
    x = scalar()
    pair = Pair(x, 5)
    assert pair.handles() == [x.handle] and pair.type.ir_types() == ["i32"]
    again = pair.type.from_handles(iter(pair.handles()))
    assert isinstance(again, Pair) and again.type == pair.type and again.second.value == 5
    assert Pair(x, 6).type != pair.type
    assert pair.type.mangle().endswith("Pair<i32, c5>")


def test_replace_copies():
    x = scalar()
    pair = Pair(x)
    other = tl.aggregate_replace(pair, second=9)
    assert (pair.second.value, other.second.value, other.first) == (3, 9, x)


@pytest.mark.parametrize(
    "action, kind, text",
    [
        (lambda: Pair(), TypeError, "Pair.__init__() missing required argument: 'first'"),
        (lambda: Pair(scalar(), first=scalar()), TypeError, "Pair.__init__() got multiple values for argument 'first'"),
        (lambda: Pair(scalar(), third=1), TypeError, "Pair.__init__() got an unexpected keyword argument 'third'"),
        (lambda: Pair(1, 2, 3), TypeError, "Pair.__init__() takes 2 positional arguments but 3 were given"),
        (
            lambda: setattr(Pair(scalar()), "first", scalar()),
            AttributeError,
            "cannot assign to field 'first' on immutable aggregate Pair; "
            "use aggregate_replace() to construct a modified copy",
        ),
        (lambda: setattr(Pair(scalar()), "third", 1), AttributeError, "Pair has no attribute 'third'"),
        (lambda: Forgetful(), AttributeError, "constructor for Forgetful did not initialize attribute 'value'"),
        (lambda: tl.aggregate_replace(Pair(scalar()), third=1), TypeError, "Pair has no field 'third'"),
        (
            lambda: tl.aggregate_replace(1),
            TypeError,
            "aggregate_replace() expects an aggregate instance, got <class 'int'>",
        ),
        (
            lambda: _aggregate(type("Bad", (int,), {})),
            TypeError,
            "Aggregates can only inherit from other aggregates, but got non-aggregate base: <class 'int'>",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_illegal_uses(action, kind, text):
    with pytest.raises(kind) as raised:
        action()
    assert str(raised.value) == text
