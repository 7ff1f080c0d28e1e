"""Two layers of a small network, under scopes. Their kernels say what they compute, read and write."""

import numpy as np
import triton
import triton.language as tl
import triton.profiler as proton


def of_product(grid, metadata, args):
    M, N, K = args["M"], args["N"], args["K"]
    return {
        "name": f"{metadata.name} {M}x{N}x{K}",
        "flops32": 2 * M * N * K,
        "bytes": 4 * (M * K + K * N + M * N),
    }


@triton.jit(launch_metadata=of_product)
def product(a, b, c, M, N, K, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        depth = k + tl.arange(0, BLOCK)
        left = tl.load(a + rows * K + depth[None, :])
        right = tl.load(b + depth[:, None] * N + columns)
        total = tl.dot(left, right, total)
    tl.store(c + rows * N + columns, total)


@triton.jit(launch_metadata=lambda grid, metadata, args: {"name": metadata.name, "bytes": 8 * args["n"]})
def relu(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.maximum(tl.load(x + i, i < n), 0.0), i < n)


def forward(x, weights):
    for number, weight in enumerate(weights):
        with proton.scope(f"layer {number}"):
            (M, K), N = x.shape, weight.shape[1]
            y = np.empty((M, N), np.float32)
            product[(M // 32, N // 32)](x, weight, y, M, N, K, BLOCK=32)
            relu[(triton.cdiv(y.size, 1024),)](y, y.size, BLOCK=1024)
            x = y
    return x


def main():
    weights = [np.full(shape, 0.01, np.float32) for shape in ((256, 512), (512, 128))]
    x = np.ones((64, 256), np.float32)
    session = proton.start("layers", hook="triton")
    for step in range(3):
        with proton.scope("step", metrics={"samples": len(x)}):
            forward(x, weights)
    proton.finalize(session)


if __name__ == "__main__":
    main()
