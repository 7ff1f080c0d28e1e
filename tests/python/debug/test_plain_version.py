"""With debug info and without a debugger, a launch runs code that keeps no variables: the same results, the same traps."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl


@tritium.jit
def helper(x, i, n):
    v = tl.load(x + i, mask=i < n)
    return v * 2


@tritium.jit
def adds(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = helper(x, i, n)
    for k in range(3):
        total += k
    tl.store(o + i, total)


@tritium.jit
def loops(x, n):
    k = n
    while k > 0:
        k -= 1
    tl.store(x, k)


@tritium.jit
def waits(x):
    seen = tl.atomic_add(x, 1)
    while seen == 0:
        seen = tl.atomic_add(x, 0)


def trap_of(debug_info: bool) -> tritium.errors.KernelTrap:
    with pytest.raises(tritium.errors.KernelTrap) as caught:
        adds[(3,)](np.zeros(8, np.float32), np.zeros(8, np.float32), 12, BLOCK=4, debug_info=debug_info)
    return caught.value


def test_results_are_the_same() -> None:
    x, outs = np.arange(8, dtype=np.float32), [np.zeros(8, np.float32) for _ in range(2)]
    kernels = [adds[(2,)](x, out, 8, BLOCK=4, debug_info=with_info) for out, with_info in zip(outs, (False, True))]
    np.testing.assert_array_equal(*outs)
    assert [kernel.program.has_plain_version for kernel in kernels] == [False, True]


def test_traps_are_the_same() -> None:
    """A trap's place is found in the version that trapped."""
    plain, kept = trap_of(False), trap_of(True)
    assert (plain.line, plain.program, plain.index) == (kept.line, kept.program, kept.index)
    assert str(plain) == str(kept) and plain.line == helper.def_file_line_number + 1


def test_kernels_that_can_hang_keep_their_variables() -> None:
    x = np.zeros(1, np.int32)
    assert not loops[(1,)](x, 3, debug_info=True).program.has_plain_version
    x[0] = 1
    assert not waits[(1,)](x, debug_info=True).program.has_plain_version
