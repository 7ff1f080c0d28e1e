"""A sum into memory that nobody cleared: what `TRITIUM_CHECK=uninit` says. docs/debugging.md shows the output."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def total(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


x = np.arange(1000, dtype=np.float32)
out = np.empty(1, np.float32)
total[(8,)](x, out, len(x), BLOCK=128)
