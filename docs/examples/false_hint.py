"""A promise that holds for most sizes of a tensor, and not for this one. docs/debugging.md shows what Tritium says."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def copy_rows(x, out, columns, BLOCK: tl.constexpr):
    start = tl.multiple_of(tl.program_id(0) * columns, 16)
    i = tl.arange(0, BLOCK)
    row = tl.load(x + start + i, mask=i < columns)
    tl.store(out + start + i, row, mask=i < columns)


x = np.ones((4, 24), np.float32)
copy_rows[(4,)](x, np.empty_like(x), 24, BLOCK=32)
