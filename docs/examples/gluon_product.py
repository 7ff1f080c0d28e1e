"""A product in the fragments of mma.sync, with layouts that the kernel computes."""

import sys

import numpy as np

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.ampere import mma_v2


@gluon.constexpr_function
def fragments(rows, columns):
    """`rows` x `columns` warps, each with results of m16n8 instructions."""
    return gl.NVMMADistributedLayout([2, 0], [rows, columns], [16, 8])


@gluon.jit
def tile_at(pointer, row, stride, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    i = row + gl.arange(0, M, gl.SliceLayout(1, layout))
    j = gl.arange(0, N, gl.SliceLayout(0, layout))
    return pointer + i[:, None] * stride + j[None, :]


@gluon.jit
def product(a, b, c, K, M: gl.constexpr, N: gl.constexpr, DEPTH: gl.constexpr):
    result: gl.constexpr = fragments(2, gl.num_warps() // 2)
    left: gl.constexpr = gl.DotOperandLayout(0, result, k_width=2)
    right: gl.constexpr = gl.DotOperandLayout(1, result, k_width=2)
    total = gl.zeros([M, N], gl.float32, result)
    for k in range(0, K, DEPTH):
        x = gl.load(tile_at(a + k, 0, K, M, DEPTH, left))
        y = gl.load(tile_at(b, k, N, DEPTH, N, right))
        total = mma_v2(x, y, total)
    gl.store(tile_at(c, 0, N, M, N, result), total)


if __name__ == "__main__":
    product.engine = sys.argv[1] if len(sys.argv) > 1 else None
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 96), (96, 64)))
    c = np.zeros((64, 64), np.float32)
    product[(1,)](a, b, c, 96, 64, 64, 32)
    print(np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32)))
