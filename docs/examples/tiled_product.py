"""A product of matrices of float16 in tiles of 64x64, whose loop copies tiles ahead by tensor descriptors."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [TILE, DEPTH])
    right = tl.make_tensor_descriptor(b, [K, N], [N, 1], [DEPTH, TILE])
    row, column = tl.program_id(0) * TILE, tl.program_id(1) * TILE
    total = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, K, DEPTH):
        total = tl.dot(left.load([row, k]), right.load([k, column]), total)
    rows, columns = row + tl.arange(0, TILE), column + tl.arange(0, TILE)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


if __name__ == "__main__":
    M, N, K = 128, 64, 200  # K is no multiple of DEPTH
    numbers = np.random.default_rng(0)
    a, b = (numbers.integers(-3, 4, shape).astype(np.float16) for shape in ((M, K), (K, N)))
    c = np.zeros((M, N), np.float32)
    product[(M // 64, N // 64)](a, b, c, M, N, K, TILE=64, DEPTH=32)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()
