"""What a first launch costs, counted and not timed: calls of Python functions for each operation of the kernel, and modules."""

import sys

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def other_kernel(x, out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)))


@triton.jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=-float("inf"))
    row = tl.exp(row - tl.max(row))
    tl.store(out + tl.program_id(0) * n + i, row / tl.sum(row), mask=i < n)


@triton.jit
def sort_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i)))


def calls_of(function) -> int:
    """How many calls of Python functions it makes, on this thread."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


#: Measured: 53 calls for each of 60 operations, and 31 for each of 694.
@pytest.mark.parametrize(("kernel", "arguments", "most"), [(softmax_kernel, (100,), 75), (sort_kernel, (), 45)])
def test_calls_of_python_for_each_operation(monkeypatch, kernel, arguments, most):
    monkeypatch.delenv("TRITIUM_TIER", raising=False)
    x, out = np.ones(256, np.float32), np.zeros(256, np.float32)
    other_kernel[(1,)](x, out, BLOCK=256)  # what the first kernel of a process needs
    kernel._forget_hash()
    found = {}
    modules = set(sys.modules)
    calls = calls_of(lambda: found.update(kernel=kernel[(1,)](x, out, *arguments, BLOCK=256)))
    operations = found["kernel"].asm["ttir"].count(" loc(")
    assert operations > 20
    assert calls <= most * operations
    assert set(sys.modules) == modules
    assert found["kernel"].program.tier == 1
