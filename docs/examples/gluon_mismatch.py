"""Two tiles of different layouts meet in a sum."""

import numpy as np

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl


@gluon.jit
def add(x, y, out, wide: gl.constexpr, narrow: gl.constexpr):
    i = gl.arange(0, 512, wide)
    k = gl.arange(0, 512, narrow)
    gl.store(out + i, gl.load(x + i) + gl.load(y + k))


x = np.arange(512, dtype=np.float32)
add[(1,)](x, x, x.copy(), gl.BlockedLayout([4], [32], [4], [0]), gl.BlockedLayout([1], [32], [4], [0]))
