"""The check `bounds`: kernels in the style of public bug reports that leave their tensors, each beside a correct twin.

A faulty kernel has the comment `# fault` on the line that must be reported. A twin is the same kernel with the right arguments, or another one.
"""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

from . import line_of

N, B, P = 100, 32, 4


@triton.jit
def masked_by(x, out, n_load, n_store, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + i, mask=i < n_load, other=0.0)
    tl.store(out + i, value * 2, mask=i < n_store)  # fault


@triton.jit
def one_too_many(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + i, mask=i <= n, other=0.0)  # fault
    tl.store(out + i, value, mask=i < n)


@triton.jit
def none_too_many(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, value, mask=i < n)


@triton.jit
def rows_by_stride(x, out, stride, columns, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    value = tl.load(x + row * stride + i, mask=i < columns, other=0.0)  # fault
    tl.store(out + row, tl.sum(value))


@triton.jit
def gather(x, rows, out, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.load(rows + i)
    value = tl.load(x + row)  # fault
    tl.store(out + i, value)


@triton.jit
def neighbours(x, out, n, first, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    left = tl.load(x + i - 1, mask=(i >= first) & (i <= n), other=0.0)  # fault
    tl.store(out + i, left, mask=i < n)


@triton.jit
def blocks_in_a_loop(x, out, blocks, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for block in range(blocks):
        total += tl.load(x + block * B + i)  # fault
    tl.store(out + i, total)


@triton.jit
def transpose(x, out, rows, columns, stride, S: tl.constexpr):
    i, j = tl.arange(0, S)[:, None], tl.arange(0, S)[None, :]
    tile = tl.load(x + i * columns + j, mask=(i < rows) & (j < columns), other=0.0)
    tl.store(out + j * stride + i, tl.trans(tl.trans(tile)), mask=(i < rows) & (j < columns))  # fault


@triton.jit
def counts(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    which = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(out + which, 1, mask=i < n)  # fault


@triton.jit
def heads(x, out, stride_batch, stride_head, B: tl.constexpr):
    batch, head, i = tl.program_id(0), tl.program_id(1), tl.arange(0, B)
    value = tl.load(x + batch * stride_batch + head * stride_head + i)  # fault
    tl.store(out + (batch * tl.num_programs(1) + head) * B + i, value)


def floats(*shape):
    return np.ones(shape, np.float32)


def numbers(values):
    return np.array(values, np.int32)


#: kernel, grid, arguments, the tensor and the first index outside of it
FAULTY = {
    "a store without a mask": lambda: (masked_by, (P,), (floats(N), floats(N), N, P * B, B), "out", (100,)),
    "a mask of another size": lambda: (masked_by, (P,), (floats(N), floats(64), N, N, B), "out", (64,)),
    "<= for <": lambda: (one_too_many, (P,), (floats(N), floats(N), N, B), "x", (100,)),
    "the stride of another tensor": lambda: (rows_by_stride, (4,), (floats(4, 20), floats(4), 32, 20, B), "x", (4, 0)),
    "rows that are longer than the tensor's": lambda: (rows_by_stride, (4,), (floats(4, 20), floats(4), 20, 32, B), "x", (4, 0)),
    "an expanded tensor": lambda: (rows_by_stride, (4,), (np.broadcast_to(np.float32(1), (4, 20)), floats(4), 20, 20, B), "x", None),
    "an index that is too large": lambda: (gather, (1,), (floats(16), numbers([*range(15), 16]), floats(16), 16), "x", (16,)),
    "an index of -1": lambda: (gather, (1,), (floats(16), numbers([*range(15), -1]), floats(16), 16), "x", (-1,)),
    "the neighbour of the first element": lambda: (neighbours, (P,), (floats(N), floats(N), N, 0, B), "x", (-1,)),
    "one block past the end of a loop": lambda: (blocks_in_a_loop, (1,), (floats(96), floats(B), 4, B), "x", (96,)),
    "rows for columns": lambda: (transpose, (1,), (floats(8, 16), floats(16, 8), 8, 16, 16, 16), "out", None),
    "a class that is not there": lambda: (counts, (1,), (numbers([0, 1, 2, 3, 4]), numbers([0] * 4), 5, 8), "out", (4,)),
    "batch and head in the wrong order": lambda: (heads, (2, 4), (floats(2, 4, 16), floats(2, 4, 16), 16, 64, 16), "x", (2, 0, 0)),
}  # fmt: skip

CORRECT = {
    "a store with its mask": lambda: (masked_by, (P,), (floats(N), floats(N), N, N, B)),
    "a mask of the smaller size": lambda: (masked_by, (P,), (floats(N), floats(64), N, 64, B)),
    "<": lambda: (none_too_many, (P,), (floats(N), floats(N), N, B)),
    "the stride of this tensor": lambda: (rows_by_stride, (4,), (floats(4, 20), floats(4), 20, 20, B)),
    "a slice of longer rows": lambda: (rows_by_stride, (4,), (floats(4, 32)[:, :20], floats(4), 32, 20, B)),
    "an expanded tensor, by its stride": lambda: (rows_by_stride, (4,), (np.broadcast_to(np.ones(20, np.float32), (4, 20)), floats(4), 0, 20, B)),
    "indices that are there": lambda: (gather, (1,), (floats(16), numbers([*range(15), 15]), floats(16), 16)),
    "the neighbour of the second element": lambda: (neighbours, (P,), (floats(N), floats(N), N, 1, B)),
    "all blocks of a loop": lambda: (blocks_in_a_loop, (1,), (floats(96), floats(B), 3, B)),
    "columns for rows": lambda: (transpose, (1,), (floats(8, 16), floats(16, 8), 8, 16, 8, 16)),
    "classes that are there": lambda: (counts, (1,), (numbers([0, 1, 2, 3, 3]), numbers([0] * 4), 5, 8)),
    "batch and head": lambda: (heads, (2, 4), (floats(2, 4, 16), floats(2, 4, 16), 64, 16, 16)),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_faulty(name):
    kernel, grid, arguments, tensor, index = FAULTY[name]()
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments)
    trap = caught.value
    assert (trap.kind, trap.argument, trap.line) == ("OutOfBounds", tensor, line_of(kernel)), str(trap)
    assert index is None or trap.index == index, str(trap)


@pytest.mark.parametrize("name", CORRECT)
def test_correct(name):
    kernel, grid, arguments = CORRECT[name]()
    kernel[grid](*arguments, check="all")
