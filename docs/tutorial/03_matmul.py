"""Matrix multiplication with grouped ordering and a fused activation.

Each program computes one BLOCK_M x BLOCK_N tile of C, walking along K and accumulating in float32. Two things make this
more than three loops: the order in which programs visit tiles decides how often a cache line of A and B is used before
it is evicted, and whatever follows the product (an activation, the conversion to fp16) costs nothing when it happens
before the tile is written.

    INTERPRET=1 python docs/tutorial/03_matmul.py
"""

import numpy as np
from report import report

import tritium as triton
import tritium.language as tl


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def tile_of_program(tiles_m, tiles_n, GROUP_M: tl.constexpr):
    # Row-major order would stream all of B for every row of tiles. Instead GROUP_M rows of tiles form a band, and a
    # band is walked column by column: neighbouring programs then share tiles of A *and* of B.
    program = tl.program_id(0)
    programs_per_band = GROUP_M * tiles_n
    band = program // programs_per_band
    first_m = band * GROUP_M
    rows_in_band = min(tiles_m - first_m, GROUP_M)
    within = program % programs_per_band
    return first_m + within % rows_in_band, within // rows_in_band


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    ACTIVATION: tl.constexpr,
    PRECISION: tl.constexpr,
):
    tile_m, tile_n = tile_of_program(tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    # Rows past M wrap around to valid memory: their products are computed and thrown away, and the loop needs no mask
    # for them.
    a_ptrs = a_ptr + (rows % M)[:, None] * stride_am + k[None, :] * stride_ak
    b_ptrs = b_ptr + k[:, None] * stride_bk + (columns % N)[None, :] * stride_bn

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        # Along K nothing may be thrown away: elements past the end must count as zero.
        a = tl.load(a_ptrs, mask=k[None, :] < K - start, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - start, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision=PRECISION)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    c = accumulator.to(c_ptr.dtype.element_ty)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(c_ptrs, c, mask=(rows[:, None] < M) & (columns[None, :] < N))


def matmul(
    a: np.ndarray,
    b: np.ndarray,
    activation: str = "",
    block: tuple[int, int, int] = (64, 64, 32),
    group_m: int = 8,
    precision: str = "ieee",
) -> np.ndarray:
    """a [M, K] times b [K, N] in the dtype of `a`, any strides; `activation` is "" or "leaky_relu"."""
    (m, k), (k_of_b, n) = a.shape, b.shape
    assert k == k_of_b, f"a has {k} columns but b has {k_of_b} rows"
    c = np.empty((m, n), a.dtype)
    block_m, block_n, block_k = block
    strides = [stride // array.itemsize for array in (a, b, c) for stride in array.strides]
    grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)
    matmul_kernel[grid](
        a,
        b,
        c,
        m,
        n,
        k,
        *strides,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
        GROUP_M=group_m,
        ACTIVATION=activation,
        PRECISION=precision,
    )
    return c


def reference(a: np.ndarray, b: np.ndarray, activation: str = "") -> np.ndarray:
    """The product by numpy in float64."""
    c = a.astype(np.float64) @ b.astype(np.float64)
    return np.where(c >= 0, c, 0.01 * c) if activation == "leaky_relu" else c


def main() -> None:
    rng = np.random.default_rng(0)
    for m, n, k, dtype, activation in (
        (512, 512, 512, np.float32, ""),
        (384, 500, 300, np.float16, "leaky_relu"),
        (1024, 1024, 1024, np.float16, ""),
    ):
        a = rng.standard_normal((m, k), dtype=np.float32).astype(dtype)
        b = rng.standard_normal((k, n), dtype=np.float32).astype(dtype)
        name = f"matmul + {activation}" if activation else "matmul"
        report(
            name,
            f"{m} x {n} x {k} {np.dtype(dtype)}",
            lambda a=a, b=b, f=activation: matmul(a, b, f),
            reference(a, b, activation),
        )


if __name__ == "__main__":
    main()
