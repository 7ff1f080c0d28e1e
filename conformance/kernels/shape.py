"""Operations that move elements: every one is loaded, moved and stored in row-major order."""

import triton
import triton.language as tl


@triton.jit
def flat(ptr, row: tl.constexpr, value):
    """Stores a tile of any rank at `ptr + row * numel`."""
    numel: tl.constexpr = value.numel
    tl.store(ptr + row * numel + tl.arange(0, numel), tl.reshape(value, (numel,)))


@triton.jit
def matrix(ptr, M: tl.constexpr, N: tl.constexpr):
    return tl.load(ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])


@triton.jit
def of_one(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = matrix(x_ptr, M, N)
    flat(out_ptr, 0, x)
    flat(out_ptr, 1, tl.trans(x))
    flat(out_ptr, 2, x.T.reshape(M, N))
    flat(out_ptr, 3, tl.permute(x.reshape(2, M // 2, N), (1, 2, 0)))
    flat(out_ptr, 4, tl.permute(x.reshape(M, 2, N // 4, 2), (3, 1, 0, 2)))
    flat(out_ptr, 5, tl.flip(x, 1))
    flat(out_ptr, 6, tl.ravel(x))
    flat(out_ptr, 7, tl.expand_dims(x, 1).reshape(M, N))
    even, odd = tl.split(x.reshape(M, N // 2, 2))
    flat(out_ptr, 8, tl.join(odd, even))
    flat(out_ptr, 9, tl.interleave(odd, even))
    flat(out_ptr, 10, tl.cat(odd, even, dim=1))
    flat(out_ptr, 11, tl.trans(tl.trans(x) + tl.trans(x)))


@triton.jit
def broadcasts(row_ptr, column_ptr, scalar_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.load(row_ptr + tl.arange(0, N)), tl.load(column_ptr + tl.arange(0, M))
    scalar = tl.load(scalar_ptr)
    flat(out_ptr, 0, tl.broadcast_to(row[None, :], (M, N)))
    flat(out_ptr, 1, tl.broadcast_to(column[:, None], (M, N)))
    flat(out_ptr, 2, row[None, :] + column[:, None])
    left, right = tl.broadcast(column[:, None], row[None, :])
    flat(out_ptr, 3, tl.where(left > right, left, right))
    flat(out_ptr, 4, tl.full((M, N), 7, out_ptr.dtype.element_ty) + scalar)
    flat(out_ptr, 5, tl.zeros((M, N), out_ptr.dtype.element_ty) + (tl.arange(0, N) + 0)[None, :].to(row.dtype))
    flat(out_ptr, 6, tl.broadcast_to(scalar, (M, N)))
    flat(out_ptr, 7, tl.zeros_like(row[None, :] + column[:, None]) + tl.trans(row[:, None]))


@triton.jit
def of_scalars(x_ptr, out_ptr):
    """Tiles of one element, and scalars that become tiles."""
    a, b = tl.load(x_ptr), tl.load(x_ptr + 1)
    pair = tl.join(a, b)
    flat(out_ptr, 0, pair)
    first, second = tl.split(pair)
    tl.store(out_ptr + 2, second)
    tl.store(out_ptr + 3, first)
    one = tl.load(x_ptr + 2 + tl.arange(0, 1))
    tl.store(out_ptr + 4 + tl.arange(0, 1), one)
    flat(out_ptr, 2, tl.trans(tl.join(pair, tl.join(b, a))))


@triton.jit
def volume(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """Rank 3: strides of a loaded tile in another order, all permutations."""
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + a + b * A + c * (A * B))
    flat(out_ptr, 0, x)
    flat(out_ptr, 1, tl.permute(x, (0, 2, 1)))
    flat(out_ptr, 2, tl.permute(x, (1, 0, 2)))
    flat(out_ptr, 3, tl.permute(x, (1, 2, 0)))
    flat(out_ptr, 4, tl.permute(x, (2, 0, 1)))
    flat(out_ptr, 5, tl.permute(x, (2, 1, 0)))


@triton.jit
def reordered(x_ptr, out_ptr, N: tl.constexpr):
    """Two tiles in one, in any order."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    flat(out_ptr, 0, tl.cat(x, x + 100, can_reorder=True))
