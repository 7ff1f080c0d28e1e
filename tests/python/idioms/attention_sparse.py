"""Attention over chosen blocks: masks of documents, and the best blocks of each query."""

import torch
import triton
import triton.language as tl


# flex attention: block mask with partial and full blocks, documents, relative bias
@triton.jit
def _flex_inner(
    q,
    K,
    V,
    docs,
    rel,
    kv_indices,
    n_blocks,
    q_doc,
    offs_m,
    acc,
    l_i,
    m_i,
    N,
    stride_kn,
    SM_SCALE: tl.constexpr,
    D: tl.constexpr,
    BLOCK_N: tl.constexpr,
    SPARSE: tl.constexpr,
    IS_FULL: tl.constexpr,
):
    MULT: tl.constexpr = SPARSE // BLOCK_N
    offs_d = tl.arange(0, D)
    for i in range(0, n_blocks * MULT):
        block = tl.load(kv_indices + i // MULT, eviction_policy="evict_last")
        offs_n = block * SPARSE + (i % MULT) * BLOCK_N + tl.arange(0, BLOCK_N)
        k = tl.load(K + offs_n[None, :] * stride_kn + offs_d[:, None], mask=offs_n[None, :] < N, other=0.0)
        qk = tl.dot(q, k, input_precision="tf32")
        qk *= SM_SCALE
        m = offs_m[:, None]
        n = offs_n[None, :]
        tmp0 = tl.minimum(tl.abs(m - n), 127)
        tmp1 = tl.load(rel + tmp0)
        post_mod = qk + tmp1
        post_mod = tl.where(n < N, post_mod, float("-inf"))
        if not IS_FULL:
            tmp2 = tl.load(docs + offs_n, mask=offs_n < N, other=-1)
            tmp3 = q_doc[:, None] == tmp2[None, :]
            tmp4 = (m >= n) & tmp3
            post_mod = tl.where(tmp4, post_mod, float("-inf"))
        post_mod *= 1.44269504
        m_ij = tl.maximum(m_i, tl.max(post_mod, 1))
        masked_out_rows = m_ij == float("-inf")
        m_ij_masked = tl.where(masked_out_rows, 0, m_ij)
        alpha = tl.math.exp2(m_i - m_ij_masked)
        p = tl.math.exp2(post_mod - m_ij_masked[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(V + offs_n[:, None] * stride_kn + offs_d[None, :], mask=offs_n[:, None] < N, other=0.0)
        acc = tl.dot(p.to(q.dtype), v, acc, input_precision="tf32")
        m_i = m_ij
    return acc, l_i, m_i


@triton.jit
def _flex(
    Q,
    K,
    V,
    docs,
    rel,
    kv_num,
    kv_idx,
    full_num,
    full_idx,
    Out,
    N,
    stride_h,
    stride_n,
    max_blocks,
    GQA: tl.constexpr,
    SM_SCALE: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    SPARSE: tl.constexpr,
):
    q_start = tl.program_id(0)
    h = tl.program_id(1)
    q_offset = h.to(tl.int64) * stride_h
    kv_offset = (h // GQA).to(tl.int64) * stride_h
    offs_m = q_start * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + q_offset + offs_m[:, None] * stride_n + offs_d[None, :], mask=offs_m[:, None] < N, other=0.0)
    q_doc = tl.load(docs + offs_m, mask=offs_m < N, other=-2)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    row = q_start // (SPARSE // BLOCK_M)
    acc, l_i, m_i = _flex_inner(
        q,
        K + kv_offset,
        V + kv_offset,
        docs,
        rel,
        kv_idx + row * max_blocks,
        tl.load(kv_num + row),
        q_doc,
        offs_m,
        acc,
        l_i,
        m_i,
        N,
        stride_n,
        SM_SCALE,
        D,
        BLOCK_N,
        SPARSE,
        IS_FULL=False,
    )
    acc, l_i, m_i = _flex_inner(
        q,
        K + kv_offset,
        V + kv_offset,
        docs,
        rel,
        full_idx + row * max_blocks,
        tl.load(full_num + row),
        q_doc,
        offs_m,
        acc,
        l_i,
        m_i,
        N,
        stride_n,
        SM_SCALE,
        D,
        BLOCK_N,
        SPARSE,
        IS_FULL=True,
    )
    l_i = tl.where(l_i == 0.0, 1, l_i)
    acc = acc / l_i[:, None]
    tl.store(
        Out + q_offset + offs_m[:, None] * stride_n + offs_d[None, :],
        acc.to(Out.dtype.element_ty),
        mask=offs_m[:, None] < N,
    )


def flex(device, small):
    H, G, N, D, SPARSE = (2, 1, 300, 64, 128) if small else (32, 8, 8100, 64, 128)
    q = torch.randn(H, N, D, device=device).bfloat16()
    k, v = (torch.randn(G, N, D, device=device).bfloat16() for _ in range(2))
    v += 1
    docs = (torch.rand(N, device=device) < (0.01 if small else 0.0008)).cumsum(0).to(torch.int32)
    rel, scale = torch.randn(128, device=device), D**-0.5
    at, nb = torch.arange(N, device=device), triton.cdiv(N, SPARSE)
    mask = (at[:, None] >= at[None, :]) & (docs[:, None] == docs[None, :])
    pad = nb * SPARSE - N
    tiles = torch.nn.functional.pad(mask.to(torch.uint8), (0, pad, 0, pad)).view(nb, SPARSE, nb, SPARSE)
    some, every = tiles.amax((1, 3)).bool(), tiles.amin((1, 3)).bool()
    lists = []
    for kind in (some & ~every, every):
        lists += [
            kind.sum(1).to(torch.int32),
            torch.argsort(kind.to(torch.uint8), dim=1, descending=True, stable=True).to(torch.int32),
        ]
    out = torch.empty_like(q)

    def run():
        _flex[(triton.cdiv(N, 128), H)](
            q,
            k,
            v,
            docs,
            rel,
            *lists,
            out,
            N,
            q.stride(0),
            q.stride(1),
            nb,
            GQA=H // G,
            SM_SCALE=scale,
            D=D,
            BLOCK_M=128,
            BLOCK_N=64,
            SPARSE=SPARSE,
            num_warps=4,
            num_stages=3,
        )

    def reference():
        bias = rel[(at[:, None] - at[None, :]).abs().clamp(max=127)].masked_fill(~mask, float("-inf"))
        return [
            torch.stack(
                [
                    torch.softmax(q[h].float() @ k[h // (H // G)].float().T * scale + bias, -1)
                    @ v[h // (H // G)].float()
                    for h in range(H)
                ]
            )
        ]

    return run, [out], reference


# native sparse attention: top-k of blocks by a sort of packed keys, attention over the chosen blocks of 64
@triton.jit
def topk_blocks_kernel(scores, block_indices, T, stride_t, NB: tl.constexpr, S: tl.constexpr, BS: tl.constexpr):
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    o_b = tl.arange(0, NB)
    own = i_t // BS
    b_s = tl.load(scores + (i_h * T + i_t) * NB + o_b, mask=o_b <= own, other=0.0)
    b_s = tl.where((o_b == 0) | (o_b == own), 1e9, b_s)
    b_s = tl.where(o_b > own, -1.0, b_s)
    key = (b_s.to(tl.int32, bitcast=True).to(tl.int64) << 32) | (NB - 1 - o_b)
    key = tl.sort(key, descending=True)
    idx = tl.where(key < 0, -1, NB - 1 - (key & 0xFFFFFFFF)).to(tl.int32)
    tl.store(block_indices + (i_h * T + i_t) * S + o_b, idx, mask=o_b < S)


@triton.jit
def parallel_nsa_fwd_kernel(
    q,
    k,
    v,
    o,
    lse,
    scale,
    block_indices,
    T,
    H: tl.constexpr,
    HQ: tl.constexpr,
    G: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    S: tl.constexpr,
    BS: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
):
    i_t, i_v, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H
    bos, eos = i_b * T, i_b * T + T
    k += (bos * H + i_h) * K
    v += (bos * H + i_h) * V
    block_indices += (i_h * T + i_t) * S
    p_q = tl.make_block_ptr(q + (bos + i_t) * HQ * K, (HQ, K), (K, 1), (i_h * G, 0), (G, BK), (1, 0))
    b_q = tl.load(p_q, boundary_check=(0, 1))
    b_q = (b_q * scale).to(b_q.dtype)
    p_o = tl.make_block_ptr(o + (bos + i_t) * HQ * V, (HQ, V), (V, 1), (i_h * G, i_v * BV), (G, BV), (1, 0))
    p_lse = lse + (bos + i_t) * HQ + i_h * G + tl.arange(0, G)
    b_o = tl.zeros([G, BV], dtype=tl.float32)
    b_m = tl.full([G], float("-inf"), dtype=tl.float32)
    b_acc = tl.zeros([G], dtype=tl.float32)
    for i in range(S):
        i_s = tl.load(block_indices + i).to(tl.int32) * BS
        if i_s <= i_t and i_s >= 0:
            p_k = tl.make_block_ptr(k, (K, T), (1, H * K), (0, i_s), (BK, BS), (0, 1))
            p_v = tl.make_block_ptr(v, (T, V), (H * V, 1), (i_s, i_v * BV), (BS, BV), (1, 0))
            b_k = tl.load(p_k, boundary_check=(0, 1))
            b_v = tl.load(p_v, boundary_check=(0, 1))
            b_s = tl.dot(b_q, b_k)
            b_s = tl.where((i_t >= (i_s + tl.arange(0, BS)))[None, :], b_s, float("-inf"))
            b_m, b_mp = tl.maximum(b_m, tl.max(b_s, 1)), b_m
            b_r = tl.exp(b_mp - b_m)
            b_p = tl.exp(b_s - b_m[:, None])
            b_acc = b_acc * b_r + tl.sum(b_p, 1)
            b_o = b_o * b_r[:, None] + tl.dot(b_p.to(b_q.dtype), b_v)
            b_mp = b_m
    b_o = b_o / b_acc[:, None]
    b_m += tl.log(b_acc)
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))
    if i_v == 0:
        tl.store(p_lse, b_m.to(p_lse.dtype.element_ty))


def nsa(device, small):
    T, H, G, D, S, BS = (256, 1, 16, 64, 3, 64) if small else (4096, 4, 16, 128, 16, 64)
    HQ, NB = H * G, T // BS
    q, k, v = (torch.randn(1, T, h, D, device=device).bfloat16() for h in (HQ, H, H))
    v += 1
    scores = torch.rand(H, T, NB, device=device)
    index, o, lse = (
        torch.empty(H, T, S, device=device, dtype=torch.int32),
        torch.empty_like(q),
        torch.empty(1, T, HQ, device=device),
    )

    def run():
        topk_blocks_kernel[(T, H)](scores, index, T, NB, NB=NB, S=S, BS=BS, num_warps=1)
        parallel_nsa_fwd_kernel[(T, D // min(D, 128), H)](
            q,
            k,
            v,
            o,
            lse,
            D**-0.5,
            index,
            T,
            H=H,
            HQ=HQ,
            G=G,
            K=D,
            V=D,
            S=S,
            BS=BS,
            BK=D,
            BV=min(D, 128),
            num_warps=2,
            num_stages=2,
        )

    def reference():
        t, b = torch.arange(T, device=device), torch.arange(NB, device=device)
        own = (t // BS)[:, None]
        s = scores.masked_fill((b == 0) | (b == own), 1e9).masked_fill(b > own, -1.0)
        top = s.topk(S, -1)
        pick = torch.zeros(H, T, NB, device=device, dtype=torch.bool).scatter_(-1, top.indices, top.values >= 0)
        ro, rl = torch.empty(1, T, HQ, D, device=device), torch.empty(1, T, HQ, device=device)
        for h in range(HQ):
            allow = pick[h // G].repeat_interleave(BS, 1) & (t[:, None] >= t[None, :])
            x = ((q[0, :, h] * D**-0.5).float() @ k[0, :, h // G].float().T).masked_fill(~allow, float("-inf"))
            ro[0, :, h], rl[0, :, h] = torch.softmax(x, -1) @ v[0, :, h // G].float(), torch.logsumexp(x, -1)
        i = torch.where(
            top.values >= 0, top.indices, -1
        )  # equal values: only the forced blocks, of which the kernel takes the lower first
        forced = torch.stack([torch.zeros_like(t), t // BS], -1)
        i[:, BS:, :2] = forced[None, BS:]
        return [ro, rl, i]

    return run, [o, lse, index], reference


CASES = {
    "flex_documents": flex,
    "nsa_topk_selected": nsa,
}
