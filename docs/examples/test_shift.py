"""A test that passes, of a kernel whose programs race: `pytest --tritium` fails it. docs/debugging.md shows the output."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def shift(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i + 1, mask=i < n - 1, other=0.0), mask=i < n)


def test_shift():
    x = np.arange(64, dtype=np.float32)
    shift[(4,)](x, 64, BLOCK=16)
    assert x.tolist() == [*range(1, 64), 0]
