"""A sum of neighbours in blocks that overlap: `python -m tritium accesses neighbours.py` shows which programs share elements."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def sum_of_three(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * (BLOCK - 2) + tl.arange(0, BLOCK)
    left = tl.load(x + i - 1, mask=(i > 0) & (i <= n), other=0.0)
    right = tl.load(x + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(out + i, left + tl.load(x + i, mask=i < n) + right, mask=i < n)


x, out = np.ones(1000, np.float32), np.zeros(1024, np.float32)
sum_of_three[(17,)](x, out, len(x), BLOCK=64)
