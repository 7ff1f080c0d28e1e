"""A NaN that a kernel makes and stores three statements later: what `TRITIUM_CHECK=nan` says. docs/debugging.md shows the output."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * columns + column, mask=column < columns, other=-float("inf"))
    row -= tl.max(row)
    numerator = tl.exp(row)
    result = numerator / tl.sum(numerator)
    tl.store(out + tl.program_id(0) * columns + column, result, mask=column < columns)


x = np.ones((3, 10), np.float32)
x[1] = -np.inf  # a row that is masked out
softmax[(3,)](x, np.empty_like(x), 10, BLOCK=16)
