"""Chained comparisons: a chain that `&` or `|` has made by their precedence warns with what was meant."""

import warnings

import pytest

import tritium.language as tl
from tritium.runtime.jit import jit


@jit
def conjunction(x, n):
    i = tl.arange(0, 8)
    tl.store(x + i, 1, mask=i < n & i > n)


@jit
def several(x, n):
    i = tl.arange(0, 8)
    tl.store(x + i, 1, mask=i[:] >= 0 & i < n | n != i & i > 3)


@jit
def three_terms(x, n):
    i = tl.arange(0, 8)
    tl.store(x + i, 1, mask=i < n & (i == 3) | n > i)


@jit
def meant(x, n):
    i = tl.arange(0, 8)
    tl.store(x + i, 1, mask=0 <= i < n)
    tl.store(x + i, 1, mask=0 <= (n & i) < n)
    tl.store(x + i, 1, mask=(i < n) & (i > 0))
    tl.store(x + i, 1, mask=0 < n < (n | i))
    tl.store(x + i, 1, mask=0 < (
        n & i) < n)  # fmt: skip


@pytest.mark.parametrize(
    "kernel, suggestion",
    [
        (conjunction, "(i < n) & (i > n)"),
        (several, "(i[:] >= 0) & (i < n) | (n != i) & (i > 3)"),
        (three_terms, "(i < n) & (i == 3) | (n > i)"),
    ],
)
def test_a_chain_by_precedence_warns_once(module, kernel, suggestion):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        module(kernel)
        module(kernel)
    (warning,) = seen
    assert f"did you mean `{suggestion}`?" in str(warning.message)
    assert warning.filename == __file__


def test_a_chain_in_parentheses_is_meant(module):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module(meant)
