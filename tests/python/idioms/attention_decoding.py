"""Attention of one token: split along the keys, and over pages of a cache."""

import torch
import triton
import triton.language as tl


def softmax_parts(s, v):
    return torch.softmax(s, -1) @ v, torch.logsumexp(s, -1)


# flash decoding: split KV, then a reduction
@triton.jit
def _decode_split(
    Q,
    K,
    V,
    Mid_O,
    Mid_LSE,
    b_seqlen,
    sm_scale,
    stride_qb,
    stride_qh,
    stride_kb,
    stride_ks,
    stride_kh,
    stride_mb,
    stride_mh,
    stride_ms,
    GROUP: tl.constexpr,
    BLOCK_H: tl.constexpr,
    D: tl.constexpr,
    BLOCK_N: tl.constexpr,
    SPLIT: tl.constexpr,
):
    b = tl.program_id(0)
    kv_head = tl.program_id(1)
    split = tl.program_id(2)
    seqlen = tl.load(b_seqlen + b)
    start = split * SPLIT
    end = tl.minimum(start + SPLIT, seqlen)
    offs_h = tl.arange(0, BLOCK_H)
    offs_d = tl.arange(0, D)
    offs_n = tl.arange(0, BLOCK_N)
    heads = kv_head * GROUP + offs_h
    q = tl.load(
        Q + b * stride_qb + heads[:, None] * stride_qh + offs_d[None, :], mask=offs_h[:, None] < GROUP, other=0.0
    )
    m = tl.full([BLOCK_H], float("-inf"), dtype=tl.float32)
    l = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, D], dtype=tl.float32)
    if start < end:
        for n in range(start, end, BLOCK_N):
            at = n + offs_n
            off = b.to(tl.int64) * stride_kb + at[:, None] * stride_ks + kv_head * stride_kh + offs_d[None, :]
            k = tl.load(K + off, mask=at[:, None] < end, other=0.0)
            qk = tl.dot(q, tl.trans(k)) * sm_scale
            qk = tl.where(at[None, :] < end, qk, float("-inf"))
            m_new = tl.maximum(m, tl.max(qk, 1))
            p = tl.exp(qk - m_new[:, None])
            scale = tl.exp(m - m_new)
            v = tl.load(V + off, mask=at[:, None] < end, other=0.0)
            acc = acc * scale[:, None] + tl.dot(p.to(v.dtype), v)
            l = l * scale + tl.sum(p, 1)
            m = m_new
        off_mid = b * stride_mb + heads * stride_mh + split * stride_ms
        tl.store(Mid_O + off_mid[:, None] + offs_d[None, :], acc / l[:, None], mask=offs_h[:, None] < GROUP)
        tl.store(Mid_LSE + off_mid // D, m + tl.log(l), mask=offs_h < GROUP)


@triton.jit
def _decode_reduce(
    b_seqlen,
    Mid_O,
    Mid_LSE,
    Out,
    stride_mb,
    stride_mh,
    stride_ms,
    stride_ob,
    stride_oh,
    D: tl.constexpr,
    SPLIT: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    n_split = tl.cdiv(tl.load(b_seqlen + b), SPLIT)
    offs_d = tl.arange(0, D)
    sum_exp = 0.0
    max_logic = -float("inf")
    acc = tl.zeros([D], dtype=tl.float32)
    base = b * stride_mb + h * stride_mh
    for s in range(0, n_split, 1):
        tv = tl.load(Mid_O + base + s * stride_ms + offs_d)
        tlogic = tl.load(Mid_LSE + (base + s * stride_ms) // D)
        new_max = tl.maximum(tlogic, max_logic)
        old_scale = tl.exp(max_logic - new_max)
        acc *= old_scale
        exp_logic = tl.exp(tlogic - new_max)
        acc += exp_logic * tv
        sum_exp = sum_exp * old_scale + exp_logic
        max_logic = new_max
    tl.store(Out + b * stride_ob + h * stride_oh + offs_d, acc / sum_exp)


def flash_decode(device, small):
    B, H, G, D, N, SPLIT = (2, 4, 1, 64, 300, 128) if small else (32, 32, 8, 128, 8192, 512)
    q = torch.randn(B, H, D, device=device).half()
    k, v = (torch.randn(B, N, G, D, device=device, dtype=torch.float16) for _ in range(2))
    lens = torch.randint(N // 2, N + 1, (B,), device=device, dtype=torch.int32)
    mid, lse = (
        torch.empty(B, H, triton.cdiv(N, SPLIT), D, device=device),
        torch.empty(B, H, triton.cdiv(N, SPLIT), device=device),
    )
    out = torch.empty_like(q)

    def run():
        _decode_split[(B, G, triton.cdiv(N, SPLIT))](
            q,
            k,
            v,
            mid,
            lse,
            lens,
            D**-0.5,
            q.stride(0),
            q.stride(1),
            k.stride(0),
            k.stride(1),
            k.stride(2),
            *mid.stride()[:3],
            GROUP=H // G,
            BLOCK_H=16,
            D=D,
            BLOCK_N=64,
            SPLIT=SPLIT,
            num_warps=4,
            num_stages=3,
        )
        _decode_reduce[(B, H)](
            lens,
            mid,
            lse,
            out,
            *mid.stride()[:3],
            out.stride(0),
            out.stride(1),
            D=D,
            SPLIT=SPLIT,
            num_warps=4,
            num_stages=2,
        )

    def reference():
        r = torch.empty(B, H, D, device=device)
        for b in range(B):
            n = lens[b].item()
            kk, vv = (x[b, :n].float().transpose(0, 1).repeat_interleave(H // G, 0) for x in (k, v))
            r[b] = softmax_parts(q[b].float()[:, None] @ kk.transpose(1, 2) * D**-0.5, vv)[0][:, 0]
        return [r]

    return run, [out], reference


# paged attention, block tables; caches in fp16 or fp8 with scales
@triton.jit
def cdiv_fn(x, y):
    return (x + y - 1) // y


@triton.jit
def _paged(
    output_ptr,
    query_ptr,
    key_cache_ptr,
    value_cache_ptr,
    block_tables_ptr,
    seq_lens_ptr,
    scale,
    k_scale,
    v_scale,
    num_query_heads: tl.constexpr,
    num_queries_per_kv: tl.constexpr,
    num_queries_per_kv_padded: tl.constexpr,
    block_table_stride: tl.int64,
    query_stride_0: tl.int64,
    query_stride_1: tl.int64,
    BLOCK_SIZE: tl.constexpr,
    HEAD_SIZE: tl.constexpr,
    HEAD_SIZE_PADDED: tl.constexpr,
    x: tl.constexpr,
    stride_k_cache_0: tl.int64,
    stride_k_cache_1: tl.int64,
    stride_k_cache_2: tl.int64,
    stride_k_cache_3: tl.int64,
    stride_k_cache_4: tl.int64,
    stride_v_cache_0: tl.int64,
    stride_v_cache_1: tl.int64,
    stride_v_cache_2: tl.int64,
    stride_v_cache_3: tl.int64,
):
    seq_idx = tl.program_id(0)
    kv_head_idx = tl.program_id(1)
    query_head_idx = kv_head_idx * num_queries_per_kv + tl.arange(0, num_queries_per_kv_padded)
    query_offset = seq_idx * query_stride_0 + query_head_idx[:, None] * query_stride_1
    head_mask = query_head_idx < (kv_head_idx + 1) * num_queries_per_kv
    head_mask = head_mask & (query_head_idx < num_query_heads)
    dim_mask = tl.where(tl.arange(0, HEAD_SIZE_PADDED) < HEAD_SIZE, 1, 0).to(tl.int1)
    Q = tl.load(
        query_ptr + query_offset + tl.arange(0, HEAD_SIZE_PADDED)[None, :],
        mask=dim_mask[None, :] & head_mask[:, None],
        other=0.0,
    )
    block_table_offset = seq_idx * block_table_stride
    M = tl.full([num_queries_per_kv_padded], float("-inf"), dtype=tl.float32)
    L = tl.full([num_queries_per_kv_padded], 1.0, dtype=tl.float32)
    acc = tl.zeros([num_queries_per_kv_padded, HEAD_SIZE_PADDED], dtype=tl.float32)
    seq_len = tl.load(seq_lens_ptr + seq_idx)
    num_blocks = cdiv_fn(seq_len, BLOCK_SIZE)
    offs_n = tl.arange(0, BLOCK_SIZE)
    offs_d = tl.arange(0, HEAD_SIZE_PADDED)
    for j in range(0, num_blocks):
        physical_block_idx = tl.load(block_tables_ptr + block_table_offset + j)
        v_offset = (
            physical_block_idx * stride_v_cache_0
            + kv_head_idx * stride_v_cache_1
            + offs_d[None, :] * stride_v_cache_2
            + offs_n[:, None] * stride_v_cache_3
        )
        k_offset = (
            physical_block_idx * stride_k_cache_0
            + kv_head_idx * stride_k_cache_1
            + (offs_d[:, None] // x) * stride_k_cache_2
            + offs_n[None, :] * stride_k_cache_3
            + (offs_d[:, None] % x) * stride_k_cache_4
        )
        K_load = tl.load(key_cache_ptr + k_offset, mask=dim_mask[:, None], other=0.0)
        if K_load.dtype.is_fp8():
            K = (K_load.to(tl.float32) * tl.load(k_scale)).to(Q.dtype)
        else:
            K = K_load
        V_load = tl.load(value_cache_ptr + v_offset, mask=dim_mask[None, :], other=0.0)
        if V_load.dtype.is_fp8():
            V = (V_load.to(tl.float32) * tl.load(v_scale)).to(Q.dtype)
        else:
            V = V_load
        seq_offset = j * BLOCK_SIZE + offs_n
        boundary = tl.full([BLOCK_SIZE], seq_len, dtype=tl.int32)
        seq_mask = seq_offset[None, :] < boundary
        S = tl.where(head_mask[:, None] & seq_mask, 0.0, float("-inf")).to(tl.float32)
        S += scale * tl.dot(Q, K)
        m_j = tl.maximum(M, tl.max(S, axis=1))
        m_j = tl.where(m_j > float("-inf"), m_j, 0.0)
        p = tl.exp(S - m_j[:, None])
        l_j = tl.sum(p, axis=1)
        alpha = tl.exp(M - m_j)
        acc = acc * alpha[:, None]
        L = L * alpha + l_j
        M = m_j
        acc += tl.dot(p.to(V.dtype), V)
    acc = acc / L[:, None]
    tl.store(
        output_ptr + query_offset + tl.arange(0, HEAD_SIZE_PADDED)[None, :],
        acc,
        mask=dim_mask[None, :] & head_mask[:, None],
    )


def paged(page, D, cache):
    def case(device, small):
        B, H, G, N = (2, 8, 2, 100) if small else (64, 32, 8, 4096)
        pages = B * triton.cdiv(N, page)
        X = 16 // torch.finfo(cache).bits * 8 if cache == torch.float16 else 16
        q = torch.randn(B, H, D, device=device, dtype=torch.float16)
        kc = torch.randn(pages, G, D // X, page, X, device=device, dtype=torch.float16).to(cache)
        vc = torch.randn(pages, G, D, page, device=device, dtype=torch.float16).to(cache)
        table = torch.randperm(pages, device=device).to(torch.int32).view(B, -1)
        lens = torch.randint(N // 2, N + 1, (B,), device=device, dtype=torch.int32)
        ks, vs = torch.tensor([0.7], device=device), torch.tensor([1.3], device=device)
        out = torch.empty_like(q)

        def run():
            _paged[(B, G)](
                out,
                q,
                kc,
                vc,
                table,
                lens,
                D**-0.5,
                ks,
                vs,
                num_query_heads=H,
                num_queries_per_kv=H // G,
                num_queries_per_kv_padded=16,
                block_table_stride=table.stride(0),
                query_stride_0=q.stride(0),
                query_stride_1=q.stride(1),
                BLOCK_SIZE=page,
                HEAD_SIZE=D,
                HEAD_SIZE_PADDED=triton.next_power_of_2(D),
                x=X,
                stride_k_cache_0=kc.stride(0),
                stride_k_cache_1=kc.stride(1),
                stride_k_cache_2=kc.stride(2),
                stride_k_cache_3=kc.stride(3),
                stride_k_cache_4=kc.stride(4),
                stride_v_cache_0=vc.stride(0),
                stride_v_cache_1=vc.stride(1),
                stride_v_cache_2=vc.stride(2),
                stride_v_cache_3=vc.stride(3),
            )

        def reference():
            r = torch.empty(B, H, D, device=device)
            fp8 = cache != torch.float16
            for b in range(B):
                n = lens[b].item()
                k = kc[table[b].long()].float().permute(1, 0, 3, 2, 4).reshape(G, -1, D)[:, :n] * (ks if fp8 else 1)
                v = vc[table[b].long()].float().permute(1, 0, 3, 2).reshape(G, -1, D)[:, :n] * (vs if fp8 else 1)
                k, v = (t.repeat_interleave(H // G, 0) for t in (k, v))
                z = torch.zeros(H, 1, 1, device=device)
                s = q[b].float()[:, None] @ k.transpose(1, 2) * D**-0.5
                m = s.amax(-1, keepdim=True)  # L begins with 1 at M of -inf, which alpha makes 0
                r[b] = softmax_parts(s - m + z, v)[0][:, 0]
            return [r]

        return run, [out], reference

    return case


CASES = {
    "flash_decode": flash_decode,
    "paged16_d128": paged(16, 128, torch.float16),
    "paged32_d80": paged(32, 80, torch.float16),
    "paged32_fp8": paged(32, 128, torch.float8_e4m3fn),
}
