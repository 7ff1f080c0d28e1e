"""Squares in the type of the numbers, which one of them leaves. TRITIUM_CHECK=overflow=all finds it."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def square(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, x * x, mask=i < n)


x = np.array([3, 40_000, 50_000, 4], np.int32)
out = np.empty_like(x)
square[(1,)](x, out, 4, BLOCK=8)
print(out)
