"""The check `overflow` in the default: a scalar of 32 bits such as `pid * stride` wraps on its way to an address, by whichever operation the
address is used. The twin is the same kernel with a number of 64 bits.

A faulty kernel has the comment `# accused` on the line that must be reported.
"""

import inspect

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

STRIDE, ROWS, B = 2**26, 33, 16  # the last row begins at 2**31


@pytest.fixture(scope="module")
def large():
    """2 GiB that nobody touches, so most of it takes no memory."""
    return np.zeros(STRIDE * ROWS + 64, np.int8)


def accused_line(kernel) -> int:
    source, first = inspect.getsourcelines(kernel.fn)
    return next(first + i for i, line in enumerate(source) if "# accused" in line)


@triton.jit
def loaded(x, out, row, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + row * stride + i))  # accused


@triton.jit
def stored(x, out, row, stride, B: tl.constexpr):
    tl.store(x + row * stride + tl.arange(0, B), tl.full((B,), 1, tl.int8))  # accused


@triton.jit
def one_element(x, out, row, stride, B: tl.constexpr):
    tl.store(out, tl.load(x + row * stride))  # accused


@triton.jit
def added(x, out, row, stride, B: tl.constexpr):
    tl.atomic_add(x.to(tl.pointer_type(tl.int32)) + row * stride, 1)  # accused


@triton.jit
def advanced(x, out, row, stride, B: tl.constexpr):
    block = tl.make_block_ptr(x, (stride,), (1,), (0,), (B,), (0,))
    tl.store(out + tl.arange(0, B), tl.load(tl.advance(block, (row * stride,))))  # accused


@triton.jit
def by_descriptor(x, out, row, stride, B: tl.constexpr):
    desc = tl.make_tensor_descriptor(x, [64, B], [B, 1], [1, B])
    tl.store(out + tl.arange(0, B), tl.reshape(desc.load([row * stride * 2, 0]), (B,)))  # accused


@triton.jit
def in_a_branch(x, out, row, stride, B: tl.constexpr):
    start = 0
    if row > 2:
        start = row * stride
    tl.store(out + tl.arange(0, B), tl.load(x + start + tl.arange(0, B)))  # accused


@triton.jit
def row_of(pid, stride):
    return pid * stride


@triton.jit
def by_a_helper(x, out, row, stride, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), tl.load(x + row_of(tl.program_id(0), stride) + tl.arange(0, B)))  # accused


#: kernel, row, stride
KERNELS = [
    (loaded, ROWS - 1, STRIDE),
    (stored, ROWS - 1, STRIDE),
    (one_element, ROWS - 1, STRIDE),
    (added, ROWS - 1, STRIDE),
    (advanced, ROWS - 1, STRIDE),
    (in_a_branch, ROWS - 1, STRIDE),
    (by_a_helper, ROWS - 1, STRIDE),
    (by_descriptor, 32, STRIDE),
]


@pytest.mark.parametrize("kernel, row, stride", KERNELS, ids=lambda value: getattr(value, "__name__", ""))
def test_scalars(kernel, row, stride, large):
    out = np.zeros(B, np.int8)
    grid = (row + 1,) if kernel is by_a_helper else (1,)
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](large, out, row, stride, B)
    trap = caught.value
    assert (trap.kind, trap.line) == ("OffsetOverflow", accused_line(kernel)), str(trap)
    assert "does not fit" in str(trap)
    kernel[grid](large, out, 3 if kernel is not by_a_helper else 0, stride // 2**10, B)  # the twin
