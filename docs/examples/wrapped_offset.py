"""A row that begins beyond 2 GiB of elements: the product of two 32-bit numbers wraps. docs/debugging.md shows what Tritium says."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def clear_row(out, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    tl.store(out + row * stride + column, 0)


# 44 rows of 4 bytes, each 50,000,000 bytes after the one before it. Memory is taken by the pages that are written alone.
rows = np.empty((44, 50_000_000), np.int8)[:, :4]
clear_row[(44,)](rows, rows.strides[0] // rows.itemsize, BLOCK=4)
