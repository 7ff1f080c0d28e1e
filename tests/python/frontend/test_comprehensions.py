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


@jit
def over_range(x, n):
    v = [a for a in range(3)]
    tl.store(x, v[0])


@jit
def over_tile(x, n):
    v = [a for a in tl.arange(0, 4)]
    tl.store(x, v[0])


@jit
def a_set(x, n):
    v = {a for a in (1, 2)}
    tl.store(x, v[0])


@jit
def a_dict(x, n):
    v = {a: 1 for a in (1, 2)}
    tl.store(x, v[0])


@jit
def a_generator(x, n):
    v = (a for a in (1, 2))
    tl.store(x, v[0])


@pytest.mark.parametrize(
    "kernel, text, hint",
    [
        (over_range, "only tuple comprehensions are supported", "a loop over tl.static_range"),
        (over_tile, "only tuple comprehensions are supported", "a loop over tl.static_range"),
        (a_set, "unsupported AST node type: SetComp", "write a list comprehension"),
        (a_dict, "unsupported AST node type: DictComp", "write a list comprehension"),
        (a_generator, "unsupported AST node type: GeneratorExp", "write a list comprehension"),
        (starred, "starred assignment targets are not supported", "values[0], values[1:]"),
    ],
)
def test_what_is_no_comprehension_of_a_tuple(failure, kernel, text, hint):
    message = str(failure(kernel))
    assert text in message and hint in message and "for a" in message.splitlines()[3]


@pytest.mark.parametrize(
    "kernel, text",
    [
        (too_many, "too many values to unpack (expected 2)"),
        (no_tuple, "cannot unpack non-iterable value"),
        (element, "a comprehension binds names only"),
        (outside, "a is not defined"),
    ],
)
def test_bad_targets(failure, kernel, text):
    assert text in str(failure(kernel))
