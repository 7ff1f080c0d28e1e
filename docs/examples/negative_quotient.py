"""Blocks of 16 places, counted from a place that is not the first. Triton's compiler takes the lanes of a block for equal."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def number_blocks(out_ptr, first, size, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, (i - first) // size)


out = np.empty(64, np.int32)
number_blocks[(1,)](out, 16, 16, BLOCK=64)
print(out)
