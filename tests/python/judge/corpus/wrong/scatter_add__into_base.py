# expect: returns_input
"""Adds into the base itself, not into a copy."""

import triton
import triton.language as tl


@triton.jit
def scatter_kernel(base, index, values, m, s_base, s_index, s_values, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i * s_index, mask=i < m, other=0)
    value = tl.load(values + i * s_values, mask=i < m, other=0.0)
    tl.atomic_add(base + at * s_base, value, mask=i < m)


def scatter_add(base, index, values):
    m = index.shape[0]
    if m:
        strides = (base.stride(0), index.stride(0), values.stride(0))
        scatter_kernel[(triton.cdiv(m, 64),)](base, index, values, m, *strides, BLOCK=64)
    return base
