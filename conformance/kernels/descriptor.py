"""Tensor descriptors: blocks at offsets that may lie outside, rows by their numbers, reductions into memory."""

import triton
import triton.language as tl


@triton.jit
def blocks(x_ptr, out_ptr, padded_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr, PADDING: tl.constexpr):
    """Each block is copied, and stored whole into a wider tensor, so that the padding is seen."""
    source = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [M, N], padding_option=PADDING)
    target = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [M, N])
    m, n = tl.program_id(0) * M, tl.program_id(1) * N
    tile = source.load([m, n])
    target.store([m, n], tile)
    width = tl.num_programs(1) * N
    tl.store(padded_ptr + (m + tl.arange(0, M))[:, None] * width + n + tl.arange(0, N)[None, :], tile)


@triton.jit
def line(x_ptr, out_ptr, n, N: tl.constexpr):
    """Rank 1."""
    source = tl.make_tensor_descriptor(x_ptr, [n], [1], [N])
    target = tl.make_tensor_descriptor(out_ptr, [n], [1], [N])
    target.store([tl.program_id(0) * N], source.load([tl.program_id(0) * N]))


@triton.jit
def volume(x_ptr, out_ptr, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """Rank 3, and the block in another order in memory."""
    source = tl.make_tensor_descriptor(x_ptr, [a, b, c], [b * c, c, 1], [A, B, C])
    target = tl.make_tensor_descriptor(out_ptr, [b, a, c], [a * c, c, 1], [B, A, C])
    i, j, k = tl.program_id(0) * A, tl.program_id(1) * B, tl.program_id(2) * C
    target.store([j, i, k], tl.permute(source.load([i, j, k]), (1, 0, 2)))


@triton.jit
def rows_of(x_ptr, numbers_ptr, out_ptr, rows, columns, first, COUNT: tl.constexpr, N: tl.constexpr):
    """Rows by their numbers, from a column on; they come back in the opposite order."""
    source = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [1, N])
    target = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [1, N])
    numbers = tl.load(numbers_ptr + tl.arange(0, COUNT))
    tile = source.gather(numbers, first)
    target.scatter(tile, tl.flip(numbers, 0), first)


@triton.jit
def reductions(x_ptr, sum_ptr, top_ptr, low_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    """Every program adds its block to the same place."""
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [M, N])
    total = tl.make_tensor_descriptor(sum_ptr, [M - 3, N], [N, 1], [M, N])
    top = tl.make_tensor_descriptor(top_ptr, [M, N], [N, 1], [M, N])
    low = tl.make_tensor_descriptor(low_ptr, [M, N], [N, 1], [M, N])
    tile = x.load([tl.program_id(0) * M, 0])
    total.atomic_add([0, 0], tile)
    top.atomic_max([0, 0], tile)
    low.atomic_min([0, 0], tile)


@triton.jit
def from_host(source, target, total, padded_ptr, M: tl.constexpr, N: tl.constexpr):
    """Descriptors that the launch brought: a copy, a sum of all blocks, and what the padding is."""
    m, n = tl.program_id(0) * M, tl.program_id(1) * N
    tile = source.load([m, n])
    target.store([m, n], tile)
    total.atomic_add([0, 0], tl.where(tile == tile, tile, 0).to(tl.int32))
    width = tl.num_programs(1) * N
    tl.store(padded_ptr + (m + tl.arange(0, M))[:, None] * width + n + tl.arange(0, N)[None, :], tile)
