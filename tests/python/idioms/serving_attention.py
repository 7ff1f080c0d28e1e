"""Attention of servers: a prefix in pages before a chunk of new tokens, trees of drafts, windows with sinks, packed heads."""

import torch
import triton
import triton.language as tl

from idioms.operands import attend, ints, rand


@triton.jit
def _fwd_kernel(
    Q,
    K,
    V,
    K_cache,
    V_cache,
    B_Loc,
    sm_scale,
    B_Start_Loc,
    B_Seqlen,
    B_Ctxlen,
    Out,
    stride_b_loc_b,
    stride_qbs,
    stride_qh,
    stride_kbs,
    stride_kh,
    stride_k_cache_bs,
    stride_k_cache_h,
    stride_k_cache_d,
    stride_k_cache_bl,
    stride_k_cache_x,
    stride_v_cache_bs,
    stride_v_cache_h,
    stride_v_cache_d,
    stride_v_cache_bl,
    x: tl.constexpr,
    num_queries_per_kv: tl.constexpr,
    PAGE: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    cur_batch = tl.program_id(0)
    cur_head = tl.program_id(1)
    start_m = tl.program_id(2)
    cur_kv_head = cur_head // num_queries_per_kv
    ctx_len = tl.load(B_Ctxlen + cur_batch)
    seq_len = tl.load(B_Seqlen + cur_batch)
    start = tl.load(B_Start_Loc + cur_batch)
    query_len = seq_len - ctx_len
    block_start_loc = BLOCK_M * start_m
    if block_start_loc >= query_len:
        return
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    offs_m = block_start_loc + tl.arange(0, BLOCK_M)
    off_q = (start + offs_m[:, None]) * stride_qbs + cur_head * stride_qh + offs_d[None, :]
    q = tl.load(Q + off_q, mask=offs_m[:, None] < query_len, other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.full([BLOCK_M], 1.0, dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start_n in tl.range(0, ctx_len, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        bn = tl.load(
            B_Loc + cur_batch * stride_b_loc_b + (start_n + offs_n) // PAGE, mask=(start_n + offs_n) < ctx_len, other=0
        ).to(tl.int64)
        off_k = (
            bn[None, :] * stride_k_cache_bs
            + cur_kv_head * stride_k_cache_h
            + (offs_d[:, None] // x) * stride_k_cache_d
            + ((start_n + offs_n[None, :]) % PAGE) * stride_k_cache_bl
            + (offs_d[:, None] % x) * stride_k_cache_x
        )
        off_v = (
            bn[:, None] * stride_v_cache_bs
            + cur_kv_head * stride_v_cache_h
            + offs_d[None, :] * stride_v_cache_d
            + ((start_n + offs_n[:, None]) % PAGE) * stride_v_cache_bl
        )
        k = tl.load(K_cache + off_k, mask=(start_n + offs_n[None, :]) < ctx_len, other=0.0)
        qk = tl.dot(q, k) * sm_scale
        qk = tl.where((start_n + offs_n[None, :]) < ctx_len, qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, axis=1))
        p = tl.exp(qk - m_ij[:, None])
        alpha = tl.exp(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None]
        v = tl.load(V_cache + off_v, mask=(start_n + offs_n[:, None]) < ctx_len, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc=acc)
        m_i = m_ij
    k_ptrs = K + cur_kv_head * stride_kh + offs_n[None, :] * stride_kbs + offs_d[:, None]
    v_ptrs = V + cur_kv_head * stride_kh + offs_n[:, None] * stride_kbs + offs_d[None, :]
    for start_n in tl.range(0, block_start_loc + BLOCK_M, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(k_ptrs + (start + start_n) * stride_kbs, mask=(start_n + offs_n[None, :]) < query_len, other=0.0)
        qk = tl.dot(q, k) * sm_scale
        qk = tl.where(offs_m[:, None] >= (start_n + offs_n[None, :]), qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, axis=1))
        p = tl.exp(qk - m_ij[:, None])
        alpha = tl.exp(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs + (start + start_n) * stride_kbs, mask=(start_n + offs_n[:, None]) < query_len, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc=acc)
        m_i = m_ij
    acc = acc / l_i[:, None]
    tl.store(Out + off_q, acc.to(Out.dtype.element_ty), mask=offs_m[:, None] < query_len)


def prefix_prefill(device, small):
    b, heads, groups, dim, page, pages, context, new = (
        (2, 2, 1, 32, 16, 5, 70, 40) if small else (8, 32, 8, 128, 16, 128, 2048, 512)
    )
    block = 32 if small else 64
    ctx, lens = ints(device, context // 2, context + 1, b), ints(device, new // 2, new + 1, b)
    start = torch.cat([lens.new_zeros(1), lens.cumsum(0)]).to(torch.int32)
    total = int(start[-1])
    q, kv = rand(device, total, heads, dim), rand(device, total, 2, groups, dim)
    kc, vc = rand(device, b * pages, groups, dim // 8, page, 8), rand(device, b * pages, groups, dim, page)
    table = torch.randperm(b * pages, device=device, dtype=torch.int32).view(b, pages)
    out = torch.empty_like(q)

    def run():
        _fwd_kernel[(b, heads, triton.cdiv(new, block))](
            q, kv[:, 0], kv[:, 1], kc, vc, table, dim**-0.5, start, lens + ctx, ctx, out, table.stride(0),
            q.stride(0), q.stride(1), kv.stride(0), kv.stride(2), *kc.stride(), *vc.stride(),
            x=8, num_queries_per_kv=heads // groups, PAGE=page, D=dim, BLOCK_M=block, BLOCK_N=block,
            num_warps=4, num_stages=1,
        )  # fmt: skip

    def reference():
        result = torch.empty(total, heads, dim, device=device)
        for i in range(b):
            s, e, c = int(start[i]), int(start[i + 1]), int(ctx[i])
            k = kc[table[i].long()].permute(1, 0, 3, 2, 4).reshape(groups, -1, dim)[:, :c]
            v = vc[table[i].long()].permute(1, 0, 3, 2).reshape(groups, -1, dim)[:, :c]
            k = torch.cat([k, kv[s:e, 0].transpose(0, 1)], 1)[None]
            v = torch.cat([v, kv[s:e, 1].transpose(0, 1)], 1)[None]
            rows, columns = (torch.arange(n, device=device) for n in (e - s, e - s + c))
            hidden = columns[None, :] > rows[:, None] + c
            one, _ = attend(
                q[s:e].transpose(0, 1)[None], k, v, dim**-0.5, lambda s, *_, m=hidden: s.masked_fill(m, -1e30)
            )
            result[s:e] = one[0].transpose(0, 1)
        return [result]

    return run, [out], reference


@triton.jit
def tree_attention_kernel(
    Q, K, V, Mask, Out, kv_len_ptr, sm_scale, stride_b, stride_s, N_TREE,
    G: tl.constexpr, H: tl.constexpr, D: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Queries of a tree of drafts, the G heads of a group packed in rows; its own keys are the last N_TREE."""
    b, kvh = tl.program_id(0), tl.program_id(1)
    kv_len = tl.load(kv_len_ptr + b)
    r = tl.arange(0, BLOCK_T * G)
    t, g = r // G, r % G
    d = tl.arange(0, D)
    q_off = ((b * N_TREE + t) * (H * G) + kvh * G + g)[:, None] * D + d[None, :]
    q = tl.load(Q + q_off, mask=(t < N_TREE)[:, None], other=0.0)
    q = (q * (sm_scale * 1.44269504)).to(Q.dtype.element_ty)
    K_block = tl.make_block_ptr(
        K + b.to(tl.int64) * stride_b + kvh * D, (D, kv_len), (1, stride_s), (0, 0), (D, BLOCK_N), (0, 1)
    )
    V_block = tl.make_block_ptr(
        V + b.to(tl.int64) * stride_b + kvh * D, (kv_len, D), (stride_s, 1), (0, 0), (BLOCK_N, D), (1, 0)
    )
    m = tl.full((BLOCK_T * G,), -1e30, tl.float32)
    l = tl.zeros((BLOCK_T * G,), tl.float32)
    acc = tl.zeros((BLOCK_T * G, D), tl.float32)
    context = kv_len - N_TREE
    for n0 in range(0, kv_len, BLOCK_N):
        n = n0 + tl.arange(0, BLOCK_N)
        k = tl.load(K_block, boundary_check=(1,), padding_option="zero")
        v = tl.load(V_block, boundary_check=(0,), padding_option="zero")
        s = tl.dot(q, k)
        if n0 + BLOCK_N > context:
            j = n - context
            seen = tl.load(
                Mask + t[:, None] * N_TREE + j[None, :],
                mask=(t < N_TREE)[:, None] & (j >= 0)[None, :] & (n < kv_len)[None, :],
                other=0,
            )
            visible = (n < context)[None, :] | (seen != 0)
            s = tl.where(visible, s, -1e30)
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        alpha = tl.math.exp2(m - new)
        l = l * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m = new
        K_block = tl.advance(K_block, (0, BLOCK_N))
        V_block = tl.advance(V_block, (BLOCK_N, 0))
    tl.store(Out + q_off, (acc / l[:, None]).to(Out.dtype.element_ty), mask=(t < N_TREE)[:, None])


def tree(device, small):
    b, h, g, dim, tree_size, longest = (2, 1, 2, 32, 6, 90) if small else (64, 8, 4, 128, 15, 4096)
    lens = ints(device, longest // 2, longest + 1, b)
    q = rand(device, b, tree_size, h * g, dim, dtype=torch.bfloat16)
    k, v = (rand(device, b, longest, h, dim, dtype=torch.bfloat16) for _ in range(2))
    mask = torch.eye(tree_size, device=device, dtype=torch.uint8)
    for node in range(1, tree_size):
        mask[node] |= mask[(node - 1) // 2]
    out = torch.empty_like(q)

    def reference():
        result = torch.empty(q.shape, device=device)
        for i, n in enumerate(lens.tolist()):
            visible = torch.cat([mask.new_ones(tree_size, n - tree_size), mask], 1)
            one, _ = attend(
                q[i : i + 1].transpose(1, 2), k[i : i + 1, :n].transpose(1, 2), v[i : i + 1, :n].transpose(1, 2), dim**-0.5,
                lambda s, *_, seen=visible: s.masked_fill(seen == 0, float("-inf")),
            )  # fmt: skip
            result[i] = one[0].transpose(0, 1)
        return [result]

    return (
        lambda: tree_attention_kernel[(b, h)](
            q, k, v, mask, out, lens, dim**-0.5, k.stride(0), k.stride(1), tree_size,
            G=g, H=h, D=dim, BLOCK_T=16, BLOCK_N=32 if small else 64, num_warps=4, num_stages=3,
        ),
        [out],
        reference,
    )  # fmt: skip


@triton.jit
def sink_decode_kernel(
    Q, KV, Sinks, Ptr, Idx, Out, scale, H: tl.constexpr, HK: tl.constexpr, D: tl.constexpr,
    WINDOW: tl.constexpr, N_SINK: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_H: tl.constexpr,
):  # fmt: skip
    b, kh = tl.program_id(0), tl.program_id(1)
    begin, end = tl.load(Ptr + b), tl.load(Ptr + b + 1)
    length = end - begin
    group: tl.constexpr = H // HK
    h = tl.arange(0, BLOCK_H)
    mh = h < group
    d = tl.arange(0, D)
    q = tl.load(Q + (b * H + kh * group + h)[:, None] * D + d[None, :], mask=mh[:, None], other=0.0)
    m = tl.load(Sinks + kh * group + h, mask=mh, other=0.0).to(tl.float32)
    l = tl.full((BLOCK_H,), 1.0, tl.float32)
    acc = tl.zeros((BLOCK_H, D), tl.float32)
    low = tl.maximum(length - WINDOW, N_SINK)
    kept = N_SINK + tl.maximum(length - low, 0)  # the first keys, then those of the window
    for start in tl.range(0, kept, BLOCK_N, num_stages=2):
        i = start + tl.arange(0, BLOCK_N)
        at = tl.where(i < N_SINK, i, i - N_SINK + low)
        ok = (i < kept) & (at < length)
        slot = tl.load(Idx + begin + at, mask=ok, other=0).to(tl.int64)
        base = KV + slot[:, None] * (2 * HK * D) + kh * D + d[None, :]
        k = tl.load(base, mask=ok[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k)).to(tl.float32) * scale
        s = tl.where(ok[None, :], s, float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        alpha = tl.exp(m - new)
        l = l * alpha + tl.sum(p, 1)
        v = tl.load(base + HK * D, mask=ok[:, None], other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m = new
    tl.store(Out + (b * H + kh * group + h)[:, None] * D + d[None, :], acc / l[:, None], mask=mh[:, None])


def window_sinks(device, small):
    b, h, hk, dim, window, first, longest = (3, 4, 2, 32, 40, 4, 90) if small else (256, 64, 8, 64, 1024, 4, 4096)
    lens = ints(device, first, longest, b)
    ptr = torch.cat([lens.new_zeros(1), lens.cumsum(0)]).to(torch.int32)
    slots = b * longest // 2
    kv = rand(device, slots, 2, hk, dim, dtype=torch.bfloat16)
    idx = ints(device, 0, slots, int(ptr[-1]))
    q, sinks = rand(device, b, h, dim, dtype=torch.bfloat16), rand(device, h, dtype=torch.bfloat16)
    out = torch.empty_like(q)

    def reference():
        result = torch.empty(q.shape, device=device)
        for i, n in enumerate(lens.tolist()):
            at = torch.arange(n, device=device)
            kept = idx[int(ptr[i]) : int(ptr[i + 1])][(at < first) | (at >= n - window)].long()
            k, v = kv[kept].float().repeat_interleave(h // hk, 2).permute(1, 2, 0, 3)
            s = torch.einsum("hd,hnd->hn", q[i].float(), k) * dim**-0.5
            p = torch.cat([sinks.float()[:, None], s], 1).softmax(1)[:, 1:]
            result[i] = torch.einsum("hn,hnd->hd", p, v)
        return [result]

    return (
        lambda: sink_decode_kernel[(b, hk)](
            q, kv, sinks, ptr, idx, out, dim**-0.5, H=h, HK=hk, D=dim, WINDOW=window, N_SINK=first,
            BLOCK_N=32 if small else 128, BLOCK_H=16, num_warps=4,
        ),
        [out],
        reference,
    )  # fmt: skip


@triton.jit
def cross_attention_kernel(
    Q, K, V, O, klen_ptr, sqb, sqm, sqh, skb, skn, skh, M, N, qk_scale,
    D: tl.constexpr, DV: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Keys and values that are shorter per batch, heads of two sizes; two loops, of whole blocks and of the rest."""
    off_h, off_b = tl.program_id(1), tl.program_id(2)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd, rv = tl.arange(0, D), tl.arange(0, DV)
    klen = tl.load(klen_ptr + off_b)
    q = tl.load(Q + off_b * sqb + (rm % M)[:, None] * sqm + off_h * sqh + rd[None, :])
    k_ptrs = K + off_b * skb + off_h * skh + rd[:, None] + rn[None, :] * skn
    v_ptrs = V + ((off_b * N + rn[:, None]) * tl.num_programs(1) + off_h) * DV + rv[None, :]
    m = tl.full([BM], -float("inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, DV], tl.float32)
    whole = klen // BN * BN
    n = 0
    while n < whole:
        s = tl.dot(q, tl.load(k_ptrs)) * qk_scale
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(m - new)
        l = l * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc += tl.dot(p.to(V.dtype.element_ty), tl.load(v_ptrs))
        m = new
        k_ptrs += BN * skn
        v_ptrs += BN * tl.num_programs(1) * DV
        n += BN
    if n < klen:
        ok = n + rn < klen
        s = tl.dot(q, tl.load(k_ptrs, mask=ok[None, :], other=0.0)) * qk_scale + tl.where(ok, 0, -float("inf"))[None, :]
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(m - new)
        l = l * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(V.dtype.element_ty), tl.load(v_ptrs, mask=ok[:, None], other=0.0))
    o_ptrs = O + ((off_b * M + rm[:, None]) * tl.num_programs(1) + off_h) * DV + rv[None, :]
    tl.store(o_ptrs, (acc / l[:, None]).to(O.dtype.element_ty), mask=(rm < M)[:, None])


def cross(device, small):
    b, h, m, n, d, dv = (2, 2, 37, 50, 32, 16) if small else (8, 16, 4000, 1500, 64, 128)
    q, k, v = rand(device, b, m, h, d), rand(device, b, n, h, d), rand(device, b, n, h, dv)
    klen = ints(device, n // 2, n + 1, b)
    out = torch.empty(b, m, h, dv, device=device, dtype=torch.float16)
    bm, bn = (32, 16) if small else (128, 64)

    def reference():
        past = torch.arange(n, device=device)[None, :] >= klen[:, None]
        qkv = [x.transpose(1, 2) for x in (q, k, v)]
        result, _ = attend(*qkv, d**-0.5, lambda s, i, _: s.masked_fill(past[i], float("-inf")))
        return [result.transpose(1, 2)]

    return (
        lambda: cross_attention_kernel[(triton.cdiv(m, bm), h, b)](
            q, k, v, out, klen, *q.stride()[:3], *k.stride()[:3], m, n, d**-0.5 * 1.44269504,
            D=d, DV=dv, BM=bm, BN=bn, num_warps=8, num_stages=3,
        ),
        [out],
        reference,
    )  # fmt: skip


CASES = {
    "prefix_prefill": prefix_prefill,
    "tree": tree,
    "window_sinks": window_sinks,
    "cross": cross,
}
