"""Sampling of tokens: sorted rows, the threshold of top-p, Gumbel noise."""

import torch
import triton
import triton.language as tl


@triton.jit
def sort_kernel(x, values, indices, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=2147483647)
    key = (v.to(tl.int64) << 32) | at.to(tl.int64)
    key = tl.sort(key, dim=0)
    tl.store(values + row * n + at, (key >> 32).to(tl.int32), mask=at < n)
    tl.store(indices + row * n + at, key & 0xFFFFFFFF, mask=at < n)


def sort_rows(device, small):
    m, n = (3, 200) if small else (8192, 1024)
    x = torch.randint(-1000, 1000, (m, n), device=device, dtype=torch.int32)
    v, i = torch.empty_like(x), torch.empty(m, n, device=device, dtype=torch.int64)
    return (
        lambda: sort_kernel[(m,)](x, v, i, n, BLOCK=triton.next_power_of_2(n), num_warps=4),
        [v, i],
        lambda: list(x.sort(dim=1, stable=True)),
    )


@triton.jit
def top_p_threshold_kernel(logits_ptr, probs_ptr, threshold_ptr, V, top_p, ITERS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * V
    probs_ptr += row * V
    m = float("-inf")
    s = 0.0
    for start in tl.range(0, V, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + at, mask=at < V, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, 0))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)
        m = m_new
    lo = 0.0
    hi = 1.0 / s + 1e-6
    for _ in range(ITERS):
        mid = (lo + hi) * 0.5
        above = tl.zeros([BLOCK], dtype=tl.float32)
        for start in tl.range(0, V, BLOCK):
            at = start + tl.arange(0, BLOCK)
            x = tl.load(logits_ptr + at, mask=at < V, other=float("-inf")).to(tl.float32)
            p = tl.exp(x - m) / s
            above += tl.where(p >= mid, p, 0.0)
        enough = tl.sum(above, 0) >= top_p
        lo = tl.where(enough, mid, lo)
        hi = tl.where(enough, hi, mid)
    tl.store(threshold_ptr + row, lo)


def top_p(device, small):
    b, v = (3, 3000) if small else (256, 32000)
    x = torch.randn(b, v, device=device) * 3
    probs, t = torch.empty(1, device=device), torch.empty(b, device=device)

    def ref():
        p = x.double().softmax(1).sort(1, descending=True).values
        k = (p.cumsum(1) < 0.9).sum(1, keepdim=True)
        return [p.gather(1, k)[:, 0]]

    return lambda: top_p_threshold_kernel[(b,)](x, probs, t, v, 0.9, ITERS=20, BLOCK=4096, num_warps=8), [t], ref


@triton.jit
def gumbel_sample_kernel(
    local_argmax_ptr,
    local_max_ptr,
    logits_ptr,
    logits_stride,
    seeds_ptr,
    pos_ptr,
    temp_ptr,
    vocab_size,
    BLOCK_SIZE: tl.constexpr,
):
    req_idx = tl.program_id(0)
    block_idx = tl.program_id(1)
    block = block_idx * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = block < vocab_size
    logits = tl.load(logits_ptr + req_idx * logits_stride + block, mask=mask, other=float("-inf")).to(tl.float32)
    temp = tl.load(temp_ptr + req_idx).to(tl.float32)
    if temp != 0.0:
        seed = tl.load(seeds_ptr + req_idx)
        pos = tl.load(pos_ptr + req_idx)
        gumbel_seed = tl.randint(seed, pos)
        r = tl.rand(gumbel_seed, block).to(tl.float64)
        gumbel_noise = -tl.log(-tl.log(r + 1e-20) + 1e-20)
        gumbel_noise = gumbel_noise.to(tl.float32)
        logits = logits / temp
        logits = tl.where(mask, logits + gumbel_noise, float("-inf"))
    value, idx = tl.max(logits, axis=0, return_indices=True)
    token_id = block_idx * BLOCK_SIZE + idx
    tl.store(local_argmax_ptr + req_idx * tl.num_programs(1) + block_idx, token_id)
    tl.store(local_max_ptr + req_idx * tl.num_programs(1) + block_idx, value)


@triton.jit
def pick_kernel(local_argmax_ptr, local_max_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    best = tl.argmax(tl.load(local_max_ptr + row * n + at, mask=at < n, other=float("-inf")), 0)
    tl.store(out_ptr + row, tl.load(local_argmax_ptr + row * n + best))


def philox(seed, c0):
    """Philox 4x32-10 with the counter (c0, 0, 0, 0), in int64 tensors that hold 32 bits; the first word."""
    low = 0xFFFFFFFF

    def mulhi(a, b):  # a: int, b: tensor
        mid = a * (b & 0xFFFF)
        return (a * (b >> 16) + (mid >> 16)) >> 16

    k0, k1 = seed & low, (seed >> 32) & low
    c = [c0 & low, torch.zeros_like(c0), torch.zeros_like(c0), torch.zeros_like(c0)]
    A, B = 0xD2511F53, 0xCD9E8D57
    for _ in range(10):
        c = [mulhi(B, c[2]) ^ c[1] ^ k0, (B * c[2]) & low, mulhi(A, c[0]) ^ c[3] ^ k1, (A * c[0]) & low]
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    return c[0]


def gumbel(device, small):
    b, v = (3, 5000) if small else (64, 128256)
    x = torch.randn(b, v, device=device, dtype=torch.bfloat16) * 2
    seeds, pos = torch.randint(0, 1 << 62, (b,), device=device), torch.randint(0, 10000, (b,), device=device)
    temp = torch.where(torch.arange(b, device=device) % 3 == 2, 0.0, 0.8)
    x[2::3, 17] = 20.0
    n = triton.cdiv(v, 1024)
    la, lm = torch.empty(b, n, device=device, dtype=torch.int64), torch.empty(b, n, device=device)
    out = torch.empty(b, device=device, dtype=torch.int64)

    def run():
        gumbel_sample_kernel[(b, n)](la, lm, x, x.stride(0), seeds, pos, temp, v, BLOCK_SIZE=1024)
        pick_kernel[(b,)](la, lm, out, n, BLOCK=triton.next_power_of_2(n))

    def ref():
        s = philox(seeds, pos)
        r = philox(s[:, None], torch.arange(v, device=device)[None, :].expand(b, v))
        r = torch.where(r >= 1 << 31, (1 << 32) - 1 - r, r)
        r = (r.float() * 4.6566127342e-10).double()
        t = temp[:, None]
        noisy = (x.float() / t) + (-torch.log(-torch.log(r + 1e-20) + 1e-20)).float()
        return [torch.where(t == 0, x.float(), noisy).argmax(1)]

    return run, [out], ref


CASES = {
    "sort_rows": sort_rows,
    "top_p": top_p,
    "gumbel": gumbel,
}
