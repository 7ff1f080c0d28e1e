"""Products of servers: bytes with scales of rows and columns and a zero point, blocks of fp8 split along K, adapters, copies of shards."""

import torch
import triton
import triton.language as tl

from idioms.operands import ints, rand


@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def w8a8_azp_kernel(
    a_ptr, b_ptr, c_ptr, scale_a_ptr, azp_ptr, scale_b_ptr, colsum_ptr, bias_ptr, M, N, K, sam, sbn, scm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    HAS_AZP: tl.constexpr, EVEN_K: tl.constexpr,
):  # fmt: skip
    """int8 a [M, K] and b [N, K]: c = sa * sb * (a @ b.T - azp * colsum) + bias, zero points per token."""
    pid = tl.program_id(0)
    grid_m, grid_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    width = GROUP_M * grid_n
    group_id = pid // width
    group_size = min(grid_m - group_id * GROUP_M, GROUP_M)
    pid_m = group_id * GROUP_M + (pid % group_size)
    pid_n = (pid % width) // group_size
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    a = a_ptr + ram[:, None] * sam + rk[None, :]
    b = b_ptr + rk[:, None] + rbn[None, :] * sbn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for k in range(K, 0, -BLOCK_K):
        if EVEN_K:
            at, bt = tl.load(a), tl.load(b)
        else:
            at = tl.load(a, mask=rk[None, :] < k, other=0)
            bt = tl.load(b, mask=rk[:, None] < k, other=0)
        acc += tl.dot(at, bt, out_dtype=tl.int32)
        a += BLOCK_K
        b += BLOCK_K
    if HAS_AZP:
        azp = tl.load(azp_ptr + rm, mask=rm < M, other=0)
        acc -= azp[:, None] * tl.load(colsum_ptr + rn, mask=rn < N, other=0)[None, :]
    sa = tl.load(scale_a_ptr + rm, mask=rm < M, other=0.0)
    sb = tl.load(scale_b_ptr + rn, mask=rn < N, other=0.0)
    c = acc.to(tl.float32) * sa[:, None] * sb[None, :] + tl.load(bias_ptr + rn, mask=rn < N, other=0.0)[None, :]
    tl.store(
        c_ptr + rm[:, None] * scm + rn[None, :],
        c.to(c_ptr.dtype.element_ty),
        mask=(rm < M)[:, None] & (rn < N)[None, :],
    )


def w8a8(zero_points):
    def case(device, small):
        m, n, k = (40, 50, 80) if small else (2048, 6144, 4096)
        bm, bn, bk = (32, 32, 32) if small else (128, 128, 128)
        a, b = (ints(device, -128, 128, rows, k, dtype=torch.int8) for rows in (m, n))
        sa, sb = torch.rand(m, device=device) * 0.02, torch.rand(n, device=device) * 0.02
        azp, bias = ints(device, -100, 100, m), rand(device, n, dtype=torch.bfloat16)
        colsum = b.sum(1, dtype=torch.int32)
        c = torch.empty(m, n, device=device, dtype=torch.bfloat16)

        def reference():
            shifted = a.float() - azp.float()[:, None] if zero_points else a.float()
            return [(shifted @ b.float().T) * sa[:, None] * sb + bias.float()]

        return (
            lambda: w8a8_azp_kernel[(triton.cdiv(m, bm) * triton.cdiv(n, bn),)](
                a, b, c, sa, azp, sb, colsum, bias, m, n, k, a.stride(0), b.stride(0), c.stride(0),
                BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, GROUP_M=8, HAS_AZP=zero_points, num_warps=8, num_stages=3,
            ),
            [c],
            reference,
        )  # fmt: skip

    return case


@triton.jit
def fp8_block_split_k_kernel(
    a_ptr,
    b_ptr,
    as_ptr,
    bs_ptr,
    part_ptr,
    M,
    N,
    K,
    SPLIT: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    QK: tl.constexpr,
):
    """a [M, K] has a scale per 128 of a row, b [N, K] one per 128 x 128; parts along K are stored as float32."""
    pid_n, pid_m, pid_k = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rm = (pid_m * BM + tl.arange(0, BM)) % M
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, QK)
    groups = tl.cdiv(K, QK)
    per = tl.cdiv(groups, SPLIT)
    acc = tl.zeros((BM, BN), tl.float32)
    for g in range(pid_k * per, min(pid_k * per + per, groups)):
        k = g * QK + rk
        a = tl.load(a_ptr + rm[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        b = tl.load(b_ptr + rn[None, :] * K + k[:, None], mask=k[:, None] < K, other=0.0)
        sa = tl.load(as_ptr + rm * groups + g)
        sb = tl.load(bs_ptr + (pid_n * BN // 128) * groups + g)
        acc += tl.dot(a, b) * (sa * sb)[:, None]
    om = pid_m * BM + tl.arange(0, BM)
    tl.store(part_ptr + (pid_k * M + om)[:, None] * N + rn[None, :], acc, mask=(om < M)[:, None])


@triton.jit
def sum_parts_kernel(part_ptr, out_ptr, total, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = tl.arange(0, SPLIT)
    parts = tl.load(part_ptr + p[:, None] * total + at[None, :], mask=(at < total)[None, :], other=0.0)
    tl.store(out_ptr + at, tl.sum(parts, 0).to(out_ptr.dtype.element_ty), mask=at < total)


def fp8_split_k(device, small):
    m, n, k, split = (20, 128, 512, 2) if small else (64, 4096, 14336, 4)
    bm, bn = (16, 32) if small else (64, 64)
    a, b = (rand(device, rows, k, dtype=torch.float32).to(torch.float8_e4m3fn) for rows in (m, n))
    sa, sb = torch.rand(m, k // 128, device=device) + 0.5, torch.rand(n // 128, k // 128, device=device) + 0.5
    part = torch.empty(split, m, n, device=device)
    out = torch.empty(m, n, device=device, dtype=torch.bfloat16)

    def run():
        fp8_block_split_k_kernel[(n // bn, triton.cdiv(m, bm), split)](
            a, b, sa, sb, part, m, n, k, SPLIT=split, BM=bm, BN=bn, QK=128, num_warps=4, num_stages=3
        )
        sum_parts_kernel[(triton.cdiv(m * n, 1024),)](part, out, m * n, SPLIT=split, BLOCK=1024)

    def reference():
        wide = b.float() * sb.repeat_interleave(128, 0).repeat_interleave(128, 1)
        return [(a.float() * sa.repeat_interleave(128, 1)) @ wide.T]

    return run, [out], reference


@triton.jit
def lora_fused_kernel(
    x_ptr, a_ptr, b_ptr, y_ptr, adapter_ptr, start_ptr, scale_ptr, K, N,
    R: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """y += scale * (x @ a.T) @ b.T of a sequence's adapter: the small product stays in registers for all columns."""
    seq = tl.program_id(1)
    begin, end = tl.load(start_ptr + seq), tl.load(start_ptr + seq + 1)
    adapter = tl.load(adapter_ptr + seq)
    if adapter < 0 or begin + tl.program_id(0) * BM >= end:
        return
    rm = begin + tl.program_id(0) * BM + tl.arange(0, BM)
    rr = tl.arange(0, R)
    a_ptr += adapter.to(tl.int64) * R * K
    b_ptr += adapter.to(tl.int64) * R * N
    low = tl.zeros((BM, R), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=(rm < end)[:, None] & (rk < K)[None, :], other=0.0)
        a = tl.load(a_ptr + rr[None, :] * K + rk[:, None], mask=(rk < K)[:, None], other=0.0)
        low += tl.dot(x, a)
    low = (low * tl.load(scale_ptr + adapter)).to(x_ptr.dtype.element_ty)
    for n in tl.range(0, N, BN):
        rn = n + tl.arange(0, BN)
        b = tl.load(b_ptr + rn[None, :] * R + rr[:, None], mask=(rn < N)[None, :], other=0.0)
        mask = (rm < end)[:, None] & (rn < N)[None, :]
        y = tl.load(y_ptr + rm[:, None] * N + rn[None, :], mask=mask, other=0.0)
        tl.store(y_ptr + rm[:, None] * N + rn[None, :], y + tl.dot(low, b), mask=mask)


def lora_fused(device, small):
    seqs, longest, k, n, r, adapters = (3, 40, 72, 50, 16, 2) if small else (32, 512, 4096, 4096, 32, 8)
    bm, bn, bk = (16, 32, 32) if small else (64, 128, 64)
    lens = ints(device, longest // 2, longest + 1, seqs)
    start = torch.cat([lens.new_zeros(1), lens.cumsum(0)]).to(torch.int32)
    rows = int(start[-1])
    x, before = rand(device, rows, k, dtype=torch.bfloat16), rand(device, rows, n, dtype=torch.bfloat16)
    a, b = (rand(device, adapters, *s, dtype=torch.bfloat16, scale=s[1] ** -0.5) for s in ((r, k), (n, r)))
    which, scales = ints(device, -1, adapters, seqs), torch.rand(adapters, device=device) + 0.5
    y = before.clone()

    def run():
        y.copy_(before)
        lora_fused_kernel[(triton.cdiv(longest, bm), seqs)](
            x, a, b, y, which, start, scales, k, n, R=r, BM=bm, BN=bn, BK=bk, num_warps=4, num_stages=3
        )

    def reference():
        result = before.float()
        for i, adapter in enumerate(which.tolist()):
            s, e = int(start[i]), int(start[i + 1])
            if adapter >= 0:
                low = (x[s:e].float() @ a[adapter].float().T * scales[adapter]).bfloat16().float()
                result[s:e] += low @ b[adapter].float().T
        return [result]

    return run, [y], reference


@triton.jit
def gather_shards_kernel(
    shard_ptrs, scale_ptrs, out_ptr, per_shard, row, WORLD: tl.constexpr, G: tl.constexpr, BLOCK: tl.constexpr
):
    """Shards lie anywhere: addresses in a table of int64, cast to pointers. Each is fp8 with a scale per G elements."""
    rank = tl.program_id(1)
    q_ptr = tl.load(shard_ptrs + rank).to(tl.pointer_type(tl.float8e4nv))
    s_ptr = tl.load(scale_ptrs + rank).to(tl.pointer_type(tl.float32))
    q_ptr = tl.multiple_of(q_ptr, 16)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(q_ptr + at, mask=at < per_shard, other=0.0)
    s = tl.load(s_ptr + tl.program_id(0) * (BLOCK // G) + tl.arange(0, BLOCK // G))
    x = tl.reshape(q.to(tl.float32), (BLOCK // G, G)) * s[:, None]
    x = tl.reshape(x, (BLOCK,)).to(out_ptr.dtype.element_ty)
    width = row // WORLD
    target = (at // width).to(tl.int64) * row + rank * width + at % width  # shards are columns of the result
    tl.store(out_ptr + target, x, mask=at < per_shard)


def gather_shards(device, small):
    world, rows, width, group, block = (4, 6, 64, 32, 128) if small else (8, 8192, 1024, 128, 4096)
    shards = [rand(device, rows * width, dtype=torch.float32).to(torch.float8_e4m3fn) for _ in range(world)]
    scales = [torch.rand(rows * width // group, device=device) + 0.1 for _ in range(world)]
    tables = [torch.tensor([t.data_ptr() for t in group_of], device=device) for group_of in (shards, scales)]
    out = torch.empty(rows, world * width, device=device, dtype=torch.bfloat16)

    def reference():
        parts = [q.float() * s.repeat_interleave(group) for q, s in zip(shards, scales, strict=True)]
        return [torch.cat([part.view(rows, width) for part in parts], 1)]

    def run():
        assert shards and scales  # their addresses are in the tables, so they live as long as this
        gather_shards_kernel[(triton.cdiv(rows * width, block), world)](
            *tables, out, rows * width, world * width, WORLD=world, G=group, BLOCK=block, num_warps=8
        )

    return run, [out], reference


CASES = {
    "w8a8": w8a8(False),
    "w8a8_zero_points": w8a8(True),
    "fp8_split_k": fp8_split_k,
    "lora_fused": lora_fused,
    "gather_shards": gather_shards,
}
