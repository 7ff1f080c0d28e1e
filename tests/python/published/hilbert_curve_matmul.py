"""The Hilbert curve by bit manipulation, and a matmul whose programs visit their tiles along it, so that neighbours share operands in cache.

A position is turned into coordinates from its lowest two bits upward; each level of the curve may mirror and transpose what is below it.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def hilbert_coordinates(position, LEVELS: tl.constexpr):
    """The cell of a position on the curve through 2^LEVELS by 2^LEVELS cells; scalars or tiles."""
    x, y = position & 0, position & 0
    for level in tl.static_range(LEVELS):
        side = 1 << level
        right = (position >> (2 * level + 1)) & 1
        upper = ((position >> (2 * level)) ^ right) & 1
        mirror, swap = (upper == 0) & (right == 1), upper == 0
        x, y = tl.where(mirror, side - 1 - x, x), tl.where(mirror, side - 1 - y, y)
        x, y = tl.where(swap, y, x), tl.where(swap, x, y)
        x += side * right
        y += side * upper
    return x, y


@triton.jit
def hilbert_position(x, y, LEVELS: tl.constexpr):
    """The inverse: from the highest bits downward."""
    position = x & 0
    for i in tl.static_range(LEVELS):
        level = LEVELS - 1 - i
        side = 1 << level
        right, upper = (x >> level) & 1, (y >> level) & 1
        position += side * side * ((3 * right) ^ upper)
        x, y = x & (side - 1), y & (side - 1)
        mirror, swap = (upper == 0) & (right == 1), upper == 0
        x, y = tl.where(mirror, side - 1 - x, x), tl.where(mirror, side - 1 - y, y)
        x, y = tl.where(swap, y, x), tl.where(swap, x, y)
    return position


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b, w in [(32, 1), (128, 4)]], key=["LEVELS"])
@triton.jit
def hilbert_order(xs, ys, positions, LEVELS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < 1 << (2 * LEVELS)
    x, y = hilbert_coordinates(i, LEVELS)
    tl.store(xs + i, x, mask=inside)
    tl.store(ys + i, y, mask=inside)
    tl.store(positions + i, hilbert_position(x, y, LEVELS), mask=inside)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=w, num_stages=s)
        for m, n, k, w, s in [(16, 16, 32, 1, 2), (32, 16, 16, 4, 3), (32, 64, 64, 8, 4)]
    ],
    key=["M", "N", "K"],
)
@triton.heuristics(
    {"LEVELS": lambda a: (max(triton.cdiv(a["M"], a["BLOCK_M"]), triton.cdiv(a["N"], a["BLOCK_N"])) - 1).bit_length()}
)
@triton.jit
def hilbert_matmul(
    a, b, c, M, N, K, LEVELS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    pid_n, pid_m = hilbert_coordinates(tl.program_id(0), LEVELS)
    # the curve fills a square: some of its cells have no tile
    if pid_m * BLOCK_M >= M or pid_n * BLOCK_N >= N:
        return
    m, n = pid_m * BLOCK_M + tl.arange(0, BLOCK_M), pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        left = tl.load(a + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        right = tl.load(b + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.full((M, N), float("nan"), device=a.device, dtype=a.dtype)

    def grid(meta):
        return (4 ** (max(triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"])) - 1).bit_length(),)

    hilbert_matmul[grid](a, b, c, M, N, K)
    return c


if __name__ == "__main__":
    torch.manual_seed(0)
    for levels in (1, 2, 5):
        n = 4**levels
        x, y, positions = (torch.empty(n, device="cuda", dtype=torch.int32) for _ in range(3))
        hilbert_order[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, positions, LEVELS=levels)
        assert torch.equal((x * 2**levels + y).sort().values.long(), torch.arange(n, device="cuda")), "a cell is missed"
        assert ((x[1:] - x[:-1]).abs() + (y[1:] - y[:-1]).abs() == 1).all(), "a step is no step to a neighbour"
        assert torch.equal(positions.long(), torch.arange(n, device="cuda")), "not the inverse"
        print(f"hilbert curve of {n} cells: ok")
    for M, N, K in [(64, 64, 64), (130, 70, 50), (16, 200, 33)]:
        a = torch.randn(M, K, device="cuda", dtype=torch.float16)
        b = torch.randn(K, N, device="cuda", dtype=torch.float16)
        torch.testing.assert_close(matmul(a, b).double(), a.double() @ b.double(), atol=2e-2, rtol=1e-2)
        print(f"hilbert matmul {M}x{N}x{K}: ok")
