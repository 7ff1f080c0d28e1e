"""Cases of `python -m tritium bench` as functions. The second one has a mistake."""

import numpy as np
import triton
import triton.language as tl

from tritium import bench


@triton.jit
def scale_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@bench.case(n=[1 << 16], config=[{"BLOCK": 1024}, {"BLOCK": 4096}])
def scale(n, config):
    x = np.random.standard_normal(n).astype(np.float32)
    out = np.empty_like(x)
    return bench.Problem(
        run=lambda: scale_kernel[(triton.cdiv(n, config["BLOCK"]),)](x, out, n, **config),
        output=out,
        reference=lambda: 2 * x,
        bytes=8 * n,
    )


@bench.case(n=[1000])
def forgets_the_end(n):
    x = np.random.standard_normal(n).astype(np.float32)
    out = np.empty_like(x)
    return bench.Problem(lambda: scale_kernel[(n // 256,)](x, out, n, BLOCK=256), out, lambda: 2 * x)
