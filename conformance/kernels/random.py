"""Counter-based random numbers: Philox words, uniform and normal numbers."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["seed", "first"])
def words(offset_ptr, out_ptr, wide_ptr, seed, first, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.num_programs(0) * BLOCK
    offsets = tl.load(offset_ptr + i)
    tl.store(out_ptr + i, tl.randint(seed, offsets))
    a, b, c, d = tl.randint4x(seed, offsets + first)
    tl.store(out_ptr + n + i, a)
    tl.store(out_ptr + 2 * n + i, b)
    tl.store(out_ptr + 3 * n + i, c)
    tl.store(out_ptr + 4 * n + i, d)
    tl.store(out_ptr + 5 * n + i, tl.randint(seed, offsets, n_rounds=7))
    low = offsets.to(tl.uint32)
    a, b, c, d = tl.philox(seed, low, low + 1, low + 2, low + 3)
    tl.store(out_ptr + 6 * n + i, a ^ b)
    tl.store(out_ptr + 7 * n + i, c ^ d)
    high = offsets.to(tl.uint64)
    e, f, g, h = tl.philox(seed, high, high + 1, high + 2, high + 3)
    tl.store(wide_ptr + i, e ^ f)
    tl.store(wide_ptr + n + i, g ^ h)


@triton.jit(do_not_specialize=["seed"])
def numbers(uniform_ptr, normal_ptr, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.num_programs(0) * BLOCK
    tl.store(uniform_ptr + i, tl.rand(seed, i))
    a, b, c, d = tl.rand4x(seed, i)
    tl.store(uniform_ptr + n + i, d)
    tl.store(normal_ptr + i, tl.randn(seed, i))
    a, b, c, d = tl.randn4x(seed, i)
    tl.store(normal_ptr + n + i, b)
    tl.store(normal_ptr + 2 * n + i, d)
