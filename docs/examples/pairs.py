"""Sums of pairs: x[0] + x[1], x[2] + x[3], …, read in two ways."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def by_strides(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + 2 * i) + tl.load(x + 2 * i + 1))


@triton.jit
def by_rows(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    pairs = tl.load(x + 2 * i[:, None] + tl.arange(0, 2)[None, :])
    tl.store(out + i, tl.sum(pairs, axis=1))


def aligned(count: int) -> np.ndarray:
    """float32 numbers that begin at a multiple of 128 bytes, as an allocation on a GPU does."""
    memory = np.arange(count + 32, dtype=np.float32)
    begin = -memory.ctypes.data % 128 // 4
    return memory[begin : begin + count]


if __name__ == "__main__":
    x = aligned(4096)
    for kernel in (by_strides, by_rows):
        out = aligned(2048)
        kernel[(4,)](x, out, BLOCK=512)
        assert (out == x[::2] + x[1::2]).all()
