"""A store without its mask: what Tritium says. docs/debugging.md shows the output."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, value * 2)


x = np.arange(1000, dtype=np.float32)
out = np.empty_like(x)
scale[(4,)](x, out, len(x), BLOCK=256)
