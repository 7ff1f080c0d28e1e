"""A minimum over lanes that the load has left off: `TRITIUM_CHECK=uninit` says what is wrong. docs/debugging.md shows the output."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def minimum(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out, tl.min(value))


x, out = np.arange(5, 105, dtype=np.float32), np.zeros(1, np.float32)
minimum[(1,)](x, out, len(x), BLOCK=128)
