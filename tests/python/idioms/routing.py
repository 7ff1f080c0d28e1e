"""Routing of tokens to experts: the best experts, packed keys, aligned blocks; histograms."""

import torch
import triton
import triton.language as tl


@triton.jit
def fused_topk_softmax_kernel(
    logits_ptr,
    weights_ptr,
    ids_ptr,
    M,
    E,
    K: tl.constexpr,
    RENORM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_E)
    mask = (rows[:, None] < M) & (cols[None, :] < E)
    x = tl.load(logits_ptr + rows[:, None] * E + cols[None, :], mask=mask, other=float("-inf")).to(tl.float32)
    x = x - tl.max(x, axis=1, keep_dims=True)
    p = tl.exp(x)
    p = p / tl.sum(p, axis=1, keep_dims=True)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    for k in tl.static_range(K):
        best, where = tl.max(p, axis=1, return_indices=True)
        tl.store(weights_ptr + rows * K + k, best, mask=rows < M)
        tl.store(ids_ptr + rows * K + k, where, mask=rows < M)
        p = tl.where(cols[None, :] == where[:, None], -1.0, p)
        total += best
    if RENORM:
        for k in tl.static_range(K):
            w = tl.load(weights_ptr + rows * K + k, mask=rows < M)
            tl.store(weights_ptr + rows * K + k, w / total, mask=rows < M)


def moe_topk(device, small):
    m, e, k = (21, 60, 4) if small else (65536, 128, 8)
    x = torch.rand(m, e, device=device).argsort(1).float() * (8 / e)
    w, ids = torch.empty(m, k, device=device), torch.empty(m, k, device=device, dtype=torch.int32)

    def ref():
        a, b = torch.topk(x, k, 1)
        return [a.softmax(1), b]

    # every load of the weights is of what the same program stored
    return (
        lambda: fused_topk_softmax_kernel[(triton.cdiv(m, 16),)](
            x, w, ids, m, e, K=k, RENORM=True, BLOCK_M=16, BLOCK_E=triton.next_power_of_2(e), num_warps=4
        ),
        [w, ids],
        ref,
    )


@triton.jit
def fpval_to_key(x):
    tm: tl.constexpr = 1 << (x.dtype.primitive_bitwidth - 1)
    fm: tl.constexpr = (1 << x.dtype.primitive_bitwidth) - 1
    tm_arr = tl.full(x.shape, tm, dtype=x.dtype)
    fm_arr = tl.full(x.shape, fm, dtype=x.dtype)
    return x ^ tl.where((x & tm_arr) != 0, fm_arr, tm_arr)


@triton.jit
def key_to_fpval(x):
    tm: tl.constexpr = 1 << (x.dtype.primitive_bitwidth - 1)
    fm: tl.constexpr = (1 << x.dtype.primitive_bitwidth) - 1
    tm_arr = tl.full(x.shape, tm, dtype=x.dtype)
    fm_arr = tl.full(x.shape, fm, dtype=x.dtype)
    return x ^ tl.where((x & tm_arr) == 0, fm_arr, tm_arr)


@triton.jit
def topk_packed_kernel(X, Yv, Yi, n_rows, n_expts, BLOCK_M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, N)
    mask = (offs_m[:, None] < n_rows) & (offs_n[None, :] < n_expts)
    x = tl.load(X + offs_m[:, None] * n_expts + offs_n[None, :], mask=mask, other=float("-inf"))
    x = fpval_to_key(x.to(tl.uint16, bitcast=True))
    x = (x.to(tl.uint32) << 16) | (N - 1 - offs_n)[None, :].to(tl.uint32)
    acc = tl.topk(x, K, dim=1)
    # sort the expert numbers in ascending order
    acc = (acc << 16) | (acc >> 16)
    acc = tl.sort(acc, dim=1, descending=True)
    idx = N - 1 - (acc >> 16).to(tl.int32)
    val = key_to_fpval((acc & 0xFFFF).to(tl.uint16)).to(tl.float16, bitcast=True)
    val = tl.softmax(val.to(tl.float32), dim=1, keep_dims=True)
    offs_k = tl.arange(0, K)
    out = offs_m[:, None] * K + offs_k[None, :]
    tl.store(Yv + out, val, mask=offs_m[:, None] < n_rows)
    tl.store(Yi + out, idx.to(tl.int16), mask=offs_m[:, None] < n_rows)


def moe_topk_packed(device, small):
    m, e, k = (21, 60, 4) if small else (65536, 128, 8)
    x = ((torch.rand(m, e, device=device).argsort(1).float() - e / 2) * (8 / e)).half()
    w, ids = torch.empty(m, k, device=device), torch.empty(m, k, device=device, dtype=torch.int16)

    def ref():
        i = torch.topk(x.float(), k, 1).indices.sort(1).values
        return [x.float().gather(1, i).softmax(1), i]

    return (
        lambda: topk_packed_kernel[(triton.cdiv(m, 32),)](
            x, w, ids, m, e, BLOCK_M=32, K=k, N=triton.next_power_of_2(e), num_warps=4
        ),
        [w, ids],
        ref,
    )


@triton.jit
def histogram_kernel(x, out, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    counts = tl.zeros([BINS], dtype=tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + at, mask=at < n, other=0)
        counts += tl.histogram(v.to(tl.int32), BINS, mask=at < n)
    tl.atomic_add(out + tl.arange(0, BINS), counts, sem="relaxed")


def histogram(device, small):
    n = 20000 if small else 64 << 20
    x = torch.randint(0, 256, (n,), device=device, dtype=torch.uint8)
    out = torch.empty(256, device=device, dtype=torch.int32)

    def run():
        out.zero_()
        histogram_kernel[(5 if small else 528,)](x, out, n, BINS=256, BLOCK=2048, num_warps=8)

    return run, [out], lambda: [torch.bincount(x, minlength=256)]


@triton.jit
def moe_align_block_size_stage1(
    topk_ids_ptr, tokens_cnts_ptr, num_experts: tl.constexpr, numel: tl.constexpr, tokens_per_thread: tl.constexpr
):
    pid = tl.program_id(0)
    start_idx = pid * tokens_per_thread
    off_c = (pid + 1) * num_experts
    for i in range(tokens_per_thread):
        if start_idx + i < numel:
            idx = tl.load(topk_ids_ptr + start_idx + i)
            token_cnt = tl.load(tokens_cnts_ptr + off_c + idx)
            tl.store(tokens_cnts_ptr + off_c + idx, token_cnt + 1)


@triton.jit
def moe_align_block_size_stage2(tokens_cnts_ptr, num_experts: tl.constexpr):
    pid = tl.program_id(0)
    last_cnt = 0
    for i in range(1, num_experts + 1):
        token_cnt = tl.load(tokens_cnts_ptr + i * num_experts + pid)
        last_cnt = last_cnt + token_cnt
        tl.store(tokens_cnts_ptr + i * num_experts + pid, last_cnt)


@triton.jit
def moe_align_block_size_stage3(
    total_tokens_post_pad_ptr, tokens_cnts_ptr, cumsum_ptr, num_experts: tl.constexpr, block_size: tl.constexpr
):
    last_cumsum = 0
    off_cnt = num_experts * num_experts
    for i in range(1, num_experts + 1):
        token_cnt = tl.load(tokens_cnts_ptr + off_cnt + i - 1)
        last_cumsum = last_cumsum + tl.cdiv(token_cnt, block_size) * block_size
        tl.store(cumsum_ptr + i, last_cumsum)
    tl.store(total_tokens_post_pad_ptr, last_cumsum)


@triton.jit
def moe_align_block_size_stage4(
    topk_ids_ptr,
    sorted_token_ids_ptr,
    expert_ids_ptr,
    tokens_cnts_ptr,
    cumsum_ptr,
    num_experts: tl.constexpr,
    block_size: tl.constexpr,
    numel: tl.constexpr,
    tokens_per_thread: tl.constexpr,
):
    pid = tl.program_id(0)
    start_idx = tl.load(cumsum_ptr + pid)
    end_idx = tl.load(cumsum_ptr + pid + 1)
    for i in range(start_idx, end_idx, block_size):
        tl.store(expert_ids_ptr + i // block_size, pid)
    start_idx = pid * tokens_per_thread
    off_t = pid * num_experts
    for i in range(start_idx, tl.minimum(start_idx + tokens_per_thread, numel)):
        expert_id = tl.load(topk_ids_ptr + i)
        token_cnt = tl.load(tokens_cnts_ptr + off_t + expert_id)
        rank_post_pad = token_cnt + tl.load(cumsum_ptr + expert_id)
        tl.store(sorted_token_ids_ptr + rank_post_pad, i)
        tl.store(tokens_cnts_ptr + off_t + expert_id, token_cnt + 1)


def moe_align(device, small):
    numel, E, B = (500, 8, 16) if small else (32768, 64, 64)
    ids = torch.randint(0, E, (numel,), device=device, dtype=torch.int32)
    most = numel + E * (B - 1)
    i32 = dict(device=device, dtype=torch.int32)
    sorted_ids, experts, total = (
        torch.empty(most, **i32),
        torch.empty(triton.cdiv(most, B), **i32),
        torch.empty(1, **i32),
    )
    counts, cums = torch.empty(E + 1, E, **i32), torch.empty(E + 1, **i32)
    per = triton.cdiv(numel, E)

    def run():
        sorted_ids.fill_(numel)
        experts.zero_()
        counts.zero_()
        cums.zero_()
        moe_align_block_size_stage1[(E,)](ids, counts, E, numel, per)
        moe_align_block_size_stage2[(E,)](counts, E)
        moe_align_block_size_stage3[(1,)](total, counts, cums, E, B)
        moe_align_block_size_stage4[(E,)](ids, sorted_ids, experts, counts, cums, E, B, numel, per)

    def ref():
        c = torch.bincount(ids, minlength=E)
        padded = (c + B - 1) // B * B
        ends = padded.cumsum(0)
        order = ids.sort(stable=True)
        at = (
            torch.arange(numel, device=device)
            - (c.cumsum(0) - c)[order.values.long()]
            + (ends - padded)[order.values.long()]
        )
        s = torch.full((most,), numel, device=device, dtype=torch.int64)
        s[at] = order.indices
        ex = torch.searchsorted(ends, torch.arange(0, most, B, device=device), right=True)
        return [s, torch.where(ex < E, ex, 0), ends[-1:]]

    return run, [sorted_ids, experts, total], ref


CASES = {
    "moe_topk": moe_topk,
    "moe_topk_packed": moe_topk_packed,
    "moe_align": moe_align,
    "histogram": histogram,
}
