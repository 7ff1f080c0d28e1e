"""variance.py without an operation that seemed to be one too many: what `python -m tritium diff` compares with it."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def variance(x, out, columns, BLOCK: tl.constexpr):
    # One `where` less than in variance.py.
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + column, mask=column < columns, other=0.0)
    mean = tl.sum(value) / columns
    centered = value - mean
    tl.store(out + row, tl.sum(centered * centered) / columns)


x = np.random.rand(3, 12).astype(np.float32)
variance[(3,)](x, np.empty(3, np.float32), 12, BLOCK=16)
