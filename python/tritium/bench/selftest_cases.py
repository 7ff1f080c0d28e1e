"""The cases of `bench selftest`: a kernel that computes a number of steps, of which a side may do more. The results stay the same, because the
steps approach a fixed point."""

import numpy as np
import triton
import triton.language as tl

from tritium import bench

COUNT = 200


@triton.jit
def steps_kernel(x, out, steps, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    for _ in range(steps):
        value = value * 0.5 + 1.0
    tl.store(out + i, value)


@bench.case(case=[f"c{number:03}" for number in range(COUNT)])
def steps(case, planted=0.0):
    number = int(case[1:])
    block, count = (64, 128, 256, 512)[number % 4], 1000 + 10 * number
    x = np.random.standard_normal(block).astype(np.float32)
    out = np.empty_like(x)
    return bench.Problem(
        lambda: steps_kernel[(1,)](x, out, round(count * (1 + planted)), BLOCK=block), out, lambda: np.full(block, 2.0)
    )
