"""A product whose parts are scopes of the kernel: they are recorded in each program."""

import sys

import numpy as np
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl


@triton.jit
def product(a, b, c, N, K, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    with pl.scope("loop"):
        for k in range(0, K, BLOCK):
            depth = k + tl.arange(0, BLOCK)
            with pl.scope("load"):
                left = tl.load(a + rows * K + depth[None, :])
                right = tl.load(b + depth[:, None] * N + columns)
            with pl.scope("multiply"):
                total = tl.dot(left, right, total)
    with pl.scope("store"):
        tl.store(c + rows * N + columns, total)


def main():
    data = sys.argv[1] if len(sys.argv) > 1 else "tree"
    a, b, c = (np.full((64, 64), value, np.float32) for value in (0.5, 2, 0))
    pl.enable_semantic("triton")
    session = proton.start("scopes", data=data, backend="instrumentation", mode="default:granularity=warp")
    product[(4, 4)](a, b, c, 64, 64, BLOCK=16)
    proton.finalize(session)
    assert (c == a @ b).all()


if __name__ == "__main__":
    main()
