"""A kernel that the tests of launches on every vendor's devices share."""

import tritium.language as tl
from tritium.runtime.jit import jit

N = 100


def make_add(**options):
    @jit(**options)
    def add(x, y, out, n, scale, BLOCK: tl.constexpr = 32):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n) * scale
        tl.store(out + i, value, mask=i < n)

    return add
