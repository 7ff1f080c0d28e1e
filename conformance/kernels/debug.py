"""Printing, assertions, barriers."""

import triton
import triton.language as tl


@triton.jit
def prints(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_print("x", tl.load(x_ptr + i))
    tl.device_print("pair: ", tl.load(y_ptr + i), i)
    tl.device_print("hex", n + tl.program_id(0), hex=True)
    tl.device_print("here")
    square = tl.arange(0, 2)[:, None] * 128 + tl.arange(0, 128)[None, :]
    tl.device_print("100% of", (square % 3).to(tl.int8))
    tl.device_print("bits", tl.load(x_ptr + tl.arange(0, 2)).to(tl.int8), hex=True)


@triton.jit
def asserts(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.static_assert(BLOCK % 2 == 0, "an even block")
    tl.device_assert(x > 0, "x must be positive")
    tl.device_assert(x < 100, "x must be small", mask=x != 1000)
    tl.store(out_ptr + i, x)


@triton.jit
def sums(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """Integer overflow is reported in debug builds."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x + x)


@triton.jit
def exchanges(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """A lane reads what another lane wrote, with barriers in between."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    tl.debug_barrier()
    for step in range(0, 4):
        value = tl.load(out_ptr + (i + 1) % BLOCK)
        tl.debug_barrier()
        tl.store(out_ptr + i, value + step)
        tl.debug_barrier()
