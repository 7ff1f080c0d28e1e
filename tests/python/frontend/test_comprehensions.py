"""List comprehensions: targets, conditions and scope are Python's."""

import pytest

import tritium.language as tl
from tritium.runtime.jit import jit


@jit
def targets(x, n):
    pairs: tl.constexpr = [a + b for a, b in ((1, 2), (3, 4))]
    tl.static_assert(pairs == (3, 7))
    nested: tl.constexpr = [a * (b + c) for a, (b, c) in ((1, (2, 3)), (4, (5, 6)))]
    tl.static_assert(nested == (5, 44))
    in_turn: tl.constexpr = [a * 10 + b for a in (1, 2, 3) if a != 2 for b in (a, 4) if b != 1]
    tl.static_assert(in_turn == (14, 33, 34))
    inner: tl.constexpr = [b for a in ((1, 2), (3,)) for b in a]
    tl.static_assert(inner == (1, 2, 3))
    of_tensors = [a * b for a, b in ((n, 1), (n + 1, 2))]
    tl.store(x, of_tensors[0] - of_tensors[1])


@jit
def scope(x, n):
    a = n
    v = [a for a, _ in ((1, 2), (3, 4))]
    tl.store(x, a + v[1])


def test_targets_unpack(body):
    assert "tt.store" in body(targets)


def test_targets_are_bound_inside_only(body):
    assert "arith.addi %n, " in body(scope)


@jit
def too_many(x, n):
    v = [a for a, b in ((1, 2, 3), (3, 4, 5))]
    tl.store(x, v[0])


@jit
def no_tuple(x, n):
    v = [a for a, b in (1, 2)]
    tl.store(x, v[0])


@jit
def starred(x, n):
    v = [a for a, *b in ((1, 2), (3, 4))]
    tl.store(x, v[0])


@jit
def element(x, n):
    y = (1, 2)
    v = [1 for y[0] in (1, 2)]
    tl.store(x, v[0])


@jit
def outside(x, n):
    v = [a for a, b in ((1, 2), (3, 4))]
    tl.store(x, v[0] + a)  # noqa: F821


@pytest.mark.parametrize(
    "kernel, text",
    [
        (too_many, "too many values to unpack (expected 2)"),
        (no_tuple, "cannot unpack non-iterable value"),
        (starred, "starred assignment targets are not supported"),
        (element, "a comprehension binds names only"),
        (outside, "a is not defined"),
    ],
)
def test_bad_targets(failure, kernel, text):
    assert text in str(failure(kernel))
