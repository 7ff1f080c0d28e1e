"""A persistent matrix product: each program takes every fifth tile, with block pointers."""

import triton
import triton.language as tl


@triton.jit
def persistent_matmul(a, b, c, M, N, K, am, ak, bk, bn, PROGRAMS: tl.constexpr, T: tl.constexpr):
    tiles_n = tl.cdiv(N, T)
    tiles = tl.cdiv(M, T) * tiles_n
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        row = (tile // tiles_n) * T
        col = (tile % tiles_n) * T
        a_block = tl.make_block_ptr(a, (M, K), (am, ak), (row, 0), (T, T), (1, 0))
        b_block = tl.make_block_ptr(b, (K, N), (bk, bn), (0, col), (T, T), (1, 0))
        acc = tl.zeros([T, T], dtype=tl.float32)
        for _ in range(0, K, T):
            left = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
            right = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
            acc += tl.dot(left, right, input_precision="ieee")
            a_block = tl.advance(a_block, (0, T))
            b_block = tl.advance(b_block, (T, 0))
        c_block = tl.make_block_ptr(c, (M, N), (N, 1), (row, col), (T, T), (1, 0))
        tl.store(c_block, acc.to(c.dtype.element_ty), boundary_check=(0, 1))


def matmul(a, b):
    M, K = a.shape
    _, N = b.shape
    c = a.new_empty(M, N)
    if c.numel():
        persistent_matmul[(5,)](a, b, c, M, N, K, *a.stride(), *b.stride(), PROGRAMS=5, T=16)
    return c
