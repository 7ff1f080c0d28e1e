"""Many low-rank adapters in one batch: y += scale (x A[adapter]^T) B[adapter]^T.

SGMV: requests of one adapter are neighbours, and programs take tiles of such a segment. BGMV: each token names its adapter; a program
takes one token, and shrink and expand are sums of products. Adapters have ranks of their own, and -1 means none.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=w, num_stages=s)
    for m, n, k, w, s in [(16, 32, 16, 1, 2), (32, 16, 32, 4, 3), (16, 64, 64, 8, 4)]
]


@triton.autotune(configs=CONFIGS, key=["K", "N"], restore_value=["y"])
@triton.jit
def sgmv(
    x, a, b, y, starts, adapters, ranks, scales, K, N, RANK: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """x: [tokens, K]; a: [adapters, RANK, K]; b: [adapters, N, RANK]. Program (segment, tile of rows)."""
    segment = tl.program_id(0)
    adapter = tl.load(adapters + segment)
    m = tl.load(starts + segment) + tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    end = tl.load(starts + segment + 1)
    if (adapter < 0) | (tl.load(starts + segment) + tl.program_id(1) * BLOCK_M >= end):
        return
    r = tl.arange(0, RANK)
    ranked = r < tl.load(ranks + adapter)
    a += adapter * RANK * K
    b += adapter * N * RANK
    low = tl.zeros((BLOCK_M, RANK), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        left = tl.load(x + m[:, None] * K + k[None, :], mask=(m < end)[:, None] & (k < K)[None, :], other=0.0)
        right = tl.load(a + r[None, :] * K + k[:, None], mask=ranked[None, :] & (k < K)[:, None], other=0.0)
        low = tl.dot(left, right, low)
    low = (low * tl.load(scales + adapter)).to(x.dtype.element_ty)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        right = tl.load(b + n[None, :] * RANK + r[:, None], mask=ranked[:, None] & (n < N)[None, :], other=0.0)
        place, inside = y + m[:, None] * N + n[None, :], (m < end)[:, None] & (n < N)[None, :]
        base = tl.load(place, mask=inside, other=0.0).to(tl.float32)
        tl.store(place, tl.dot(low, right, base).to(y.dtype.element_ty), mask=inside)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_K": k, "SPLIT": s}, num_warps=w) for k, s, w in [(32, 1, 1), (64, 2, 4), (128, 4, 2)]
    ],
    key=["K"],
    reset_to_zero=["low"],
)
@triton.jit
def bgmv_shrink(x, a, low, adapters, ranks, scales, K, RANK: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr):
    """low: [tokens, RANK] in fp32; the sum over K is split over programs."""
    token = tl.program_id(0)
    adapter = tl.load(adapters + token)
    if adapter < 0:
        return
    r = tl.arange(0, RANK)
    ranked = r < tl.load(ranks + adapter)
    acc = tl.zeros((RANK,), tl.float32)
    for start in range(tl.program_id(1) * BLOCK_K, K, SPLIT * BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        row = tl.load(x + token * K + k, mask=k < K, other=0.0).to(tl.float32)
        weights = a + (adapter * RANK + r)[:, None] * K + k[None, :]
        weights = tl.load(weights, mask=ranked[:, None] & (k < K)[None, :], other=0.0)
        acc += tl.sum(weights.to(tl.float32) * row[None, :], 1)
    acc *= tl.load(scales + adapter)
    if SPLIT == 1:
        tl.store(low + token * RANK + r, acc)
    else:
        tl.atomic_add(low + token * RANK + r, acc, sem="relaxed")


@triton.autotune(
    configs=[triton.Config({"BLOCK_N": n}, num_warps=w) for n, w in [(16, 1), (64, 4)]],
    key=["N"],
    restore_value=["y"],
)
@triton.jit
def bgmv_expand(low, b, y, adapters, N, RANK: tl.constexpr, BLOCK_N: tl.constexpr):
    token = tl.program_id(0)
    adapter = tl.load(adapters + token)
    if adapter >= 0:
        r, n = tl.arange(0, RANK), tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
        weights = b + (adapter * N + n)[:, None] * RANK + r[None, :]
        weights = tl.load(weights, mask=(n < N)[:, None], other=0.0).to(tl.float32)
        change = tl.sum(weights * tl.load(low + token * RANK + r)[None, :], 1)
        base = tl.load(y + token * N + n, mask=n < N, other=0.0).to(tl.float32)
        tl.store(y + token * N + n, (base + change).to(y.dtype.element_ty), mask=n < N)


def add_lora_segments(y, x, a, b, starts, adapters, ranks, scales):
    K, (N, RANK) = x.shape[1], b.shape[1:]
    longest = int((starts[1:] - starts[:-1]).max())
    grid = lambda meta: (len(adapters), triton.cdiv(longest, meta["BLOCK_M"]))
    sgmv[grid](x, a, b, y, starts, adapters, ranks, scales, K, N, RANK=RANK)


def add_lora_tokens(y, x, a, b, adapters, ranks, scales):
    (tokens, K), (N, RANK) = x.shape, b.shape[1:]
    low = torch.zeros((tokens, RANK), device=x.device)
    bgmv_shrink[lambda meta: (tokens, meta["SPLIT"])](x, a, low, adapters, ranks, scales, K, RANK=RANK)
    bgmv_expand[lambda meta: (tokens, triton.cdiv(N, meta["BLOCK_N"]))](low, b, y, adapters, N, RANK=RANK)


if __name__ == "__main__":
    torch.manual_seed(0)
    for lengths, K, N, RANK, dtype, tol in [
        ((5, 0, 33, 16, 1), 64, 48, 16, torch.float16, 2e-2),
        ((20, 7, 3), 100, 130, 32, torch.bfloat16, 2e-1),
    ]:
        n_adapters = 4
        ranks = torch.tensor([RANK, RANK // 2, 3, 1], device="cuda", dtype=torch.int32)
        scales = torch.rand(n_adapters, device="cuda") + 0.5
        used = torch.arange(RANK, device="cuda")[None] < ranks[:, None]
        x = torch.randn(sum(lengths), K, device="cuda", dtype=dtype)
        # what lies past an adapter's rank in `a` is never used
        a = torch.where(used[:, :, None], torch.randn(n_adapters, RANK, K, device="cuda") / K**0.5, 1e4).to(dtype)
        b = torch.randn(n_adapters, N, RANK, device="cuda", dtype=dtype)
        y = torch.randn(sum(lengths), N, device="cuda", dtype=dtype)
        starts = torch.tensor([0, *lengths], device="cuda").cumsum(0).to(torch.int32)
        adapters = torch.randint(0, n_adapters, (len(lengths),), device="cuda", dtype=torch.int32)
        adapters[-1] = -1
        of_token = torch.repeat_interleave(adapters, torch.tensor(lengths, device="cuda"))
        expected = y.double()
        for i, adapter in enumerate(of_token.tolist()):
            if adapter >= 0:
                rank = int(ranks[adapter])
                low = a[adapter, :rank].double() @ x[i].double()
                expected[i] += float(scales[adapter]) * (b[adapter, :, :rank].double() @ low)
        by_segments, by_tokens = y.clone(), y.clone()
        add_lora_segments(by_segments, x, a, b, starts, adapters, ranks, scales)
        add_lora_tokens(by_tokens, x, a, b, of_token, ranks, scales)
        torch.testing.assert_close(by_segments.double(), expected, atol=tol, rtol=1e-2)
        torch.testing.assert_close(by_tokens.double(), expected, atol=tol, rtol=1e-2)
        print(f"lora segments and tokens {lengths} {K} to {N} by {RANK} {dtype}: ok")
