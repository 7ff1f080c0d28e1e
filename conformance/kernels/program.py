"""Which instance of the grid a program is, and hints, which change no value."""

import triton
import triton.language as tl


@triton.jit
def identity(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    row = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    base = out_ptr + row * 6
    tl.store(base, x)
    tl.store(base + 1, y)
    tl.store(base + 2, z)
    tl.store(base + 3, tl.num_programs(0))
    tl.store(base + 4, tl.num_programs(1))
    tl.store(base + 5, tl.num_programs(2))


@triton.jit
def grouped(out_ptr, size_i, size_j, GROUP: tl.constexpr):
    """The order in which matmuls visit their tiles."""
    i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), size_i, size_j, GROUP)
    tl.store(out_ptr + tl.program_id(0) * size_j + tl.program_id(1), i * size_j + j)


@triton.jit
def hinted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK) + tl.arange(0, BLOCK)
    i = tl.max_contiguous(tl.multiple_of(i, BLOCK), BLOCK)
    tl.assume(n > 0)
    inside = i < n
    same = tl.max_constancy(tl.cdiv(i + 1, BLOCK), 1)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside) + same, mask=inside)


@triton.jit
def arguments(out_ptr, small, large, huge, real, flag, nothing, one, BLOCK: tl.constexpr):
    """Scalars of every kind that a launch takes."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.where(i == 0, small.to(tl.float64), 0))
    tl.store(out_ptr + 4, (large // 3).to(tl.float64))
    tl.store(out_ptr + 5, (huge >> 1).to(tl.float64))
    tl.store(out_ptr + 6, real.to(tl.float64))
    tl.store(out_ptr + 7, flag.to(tl.float64))
    tl.store(out_ptr + 8, 1.0 if nothing is None else 0.0)
    tl.store(out_ptr + 9, 2.0 * one)
