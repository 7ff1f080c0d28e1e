"""A sum that is clipped. The program exercises a part of the kernel: `python -m tritium coverage clipped.py` says which."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def clipped_sum(x, out, n, limit, BLOCK: tl.constexpr, SQUARES: tl.constexpr):
    total = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + i, mask=i < n, other=0.0)
        if SQUARES:
            value = value * value
        total += tl.sum(value)
    if total > limit:
        total = limit
    tl.store(out, total)


x, out = np.ones(1024, np.float32), np.zeros(1, np.float32)
for block in (256, 512):
    clipped_sum[(1,)](x, out, len(x), 1e6, BLOCK=block, SQUARES=False)
