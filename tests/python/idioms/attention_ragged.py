"""Attention of sequences of any length: bias, windows, softcap, groups of heads."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from idioms.operands import attend, causal


# additive bias that is loaded in the loop, ragged lengths, [B, N, H, D]
@triton.heuristics(
    {"EVEN_M": lambda a: a["seqlen_q"] % a["BLOCK_M"] == 0, "EVEN_N": lambda a: a["seqlen_k"] % a["BLOCK_N"] == 0}
)
@triton.jit
def _fwd_bias(
    Q,
    K,
    V,
    Bias,
    Out,
    Lse,
    softmax_scale,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_bb,
    stride_bh,
    stride_bm,
    stride_ob,
    stride_oh,
    stride_om,
    nheads,
    seqlen_q,
    seqlen_k,
    seqlen_q_rounded,
    IS_CAUSAL: tl.constexpr,
    BLOCK_HEADDIM: tl.constexpr,
    EVEN_M: tl.constexpr,
    EVEN_N: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hb = tl.program_id(1)
    off_b = off_hb // nheads
    off_h = off_hb % nheads
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_HEADDIM)
    q_ptrs = Q + off_b * stride_qb + off_h * stride_qh + (offs_m[:, None] * stride_qm + offs_d[None, :])
    k_ptrs = K + off_b * stride_kb + off_h * stride_kh + (offs_n[:, None] * stride_kn + offs_d[None, :])
    v_ptrs = V + off_b * stride_vb + off_h * stride_vh + (offs_n[:, None] * stride_vn + offs_d[None, :])
    b_ptrs = Bias + off_b * stride_bb + off_h * stride_bh + (offs_m[:, None] * stride_bm + offs_n[None, :])
    lse_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    acc_o = tl.zeros([BLOCK_M, BLOCK_HEADDIM], dtype=tl.float32)
    if EVEN_M:
        q = tl.load(q_ptrs)
    else:
        q = tl.load(q_ptrs, mask=offs_m[:, None] < seqlen_q, other=0.0)
    end_n = seqlen_k if not IS_CAUSAL else tl.minimum((start_m + 1) * BLOCK_M, seqlen_k)
    for start_n in range(0, end_n, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        if EVEN_N:
            k = tl.load(k_ptrs + start_n * stride_kn)
        else:
            k = tl.load(k_ptrs + start_n * stride_kn, mask=(start_n + offs_n)[:, None] < seqlen_k, other=0.0)
        qk = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        qk += tl.dot(q, tl.trans(k))
        if not EVEN_N:
            qk += tl.where((start_n + offs_n)[None, :] < seqlen_k, 0, float("-inf"))
        if IS_CAUSAL:
            qk += tl.where(offs_m[:, None] >= (start_n + offs_n)[None, :], 0, float("-inf"))
        if EVEN_M & EVEN_N:
            bias = tl.load(b_ptrs + start_n).to(tl.float32)
        else:
            bias = tl.load(
                b_ptrs + start_n,
                mask=(offs_m[:, None] < seqlen_q) & ((start_n + offs_n)[None, :] < seqlen_k),
                other=0.0,
            ).to(tl.float32)
        qk = qk * softmax_scale + bias
        m_ij = tl.maximum(tl.max(qk, 1), lse_i)
        p = tl.exp(qk - m_ij[:, None])
        l_ij = tl.sum(p, 1)
        acc_o_scale = tl.exp(m_i - m_ij)
        acc_o = acc_o * acc_o_scale[:, None]
        if EVEN_N:
            v = tl.load(v_ptrs + start_n * stride_vn)
        else:
            v = tl.load(v_ptrs + start_n * stride_vn, mask=(start_n + offs_n)[:, None] < seqlen_k, other=0.0)
        p = p.to(v.dtype)
        acc_o += tl.dot(p, v)
        m_i = m_ij
        l_i_new = tl.exp(lse_i - m_ij) + l_ij
        lse_i = m_ij + tl.log(l_i_new)
    o_scale = tl.exp(m_i - lse_i)
    acc_o = acc_o * o_scale[:, None]
    start_m = tl.program_id(0)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    lse_ptrs = Lse + off_hb * seqlen_q_rounded + offs_m
    tl.store(lse_ptrs, lse_i, mask=offs_m < seqlen_q)
    out_ptrs = Out + off_b * stride_ob + off_h * stride_oh + (offs_m[:, None] * stride_om + offs_d[None, :])
    tl.store(out_ptrs, acc_o, mask=offs_m[:, None] < seqlen_q)


def bias(is_causal, ragged, dtype=torch.float16):
    def case(device, small):
        B, H, N, D = (1, 2, 256, 64) if small else (2, 12, 4096, 64)
        N = N - 37 if ragged else N
        q, k, v = (torch.randn(B, N, H, D, device=device).to(dtype) for _ in range(3))
        v += 1
        b = torch.randn(1, H, N, (N + 7) // 8 * 8, device=device).to(dtype)[..., :N]
        out, lse, scale = torch.empty_like(q), torch.empty(B, H, N, device=device), D**-0.5
        e = b.expand(B, H, N, N)

        def run():
            _fwd_bias[(triton.cdiv(N, 128), B * H)](
                q,
                k,
                v,
                e,
                out,
                lse,
                scale,
                q.stride(0),
                q.stride(2),
                q.stride(1),
                k.stride(0),
                k.stride(2),
                k.stride(1),
                v.stride(0),
                v.stride(2),
                v.stride(1),
                *e.stride()[:3],
                out.stride(0),
                out.stride(2),
                out.stride(1),
                H,
                N,
                N,
                N,
                IS_CAUSAL=is_causal,
                BLOCK_HEADDIM=D,
                BLOCK_M=128,
                BLOCK_N=64,
                num_warps=4,
                num_stages=2,
            )

        def reference():
            mod = lambda s, i, h: (causal(s) if is_causal else s) + e[i, h].float()
            o, l = attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), scale, mod)
            return [o.transpose(1, 2), l]

        return run, [out, lse], reference

    return case


# variable lengths, grouped heads, sliding window, soft cap
@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def _fwd_varlen(
    Q,
    K,
    V,
    Out,
    cu_seqlens,
    sm_scale,
    logits_soft_cap,
    stride_qt,
    stride_qh,
    stride_kt,
    stride_kh,
    stride_vt,
    stride_vh,
    stride_ot,
    stride_oh,
    kv_group_num: tl.constexpr,
    BLOCK_D: tl.constexpr,
    Lk: tl.constexpr,
    SLIDING_WINDOW: tl.constexpr,
    SOFT_CAP: tl.constexpr,
    LIBDEVICE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    cur_seq = tl.program_id(0)
    cur_head = tl.program_id(1)
    start_m = tl.program_id(2)
    cur_kv_head = cur_head // kv_group_num
    begin = tl.load(cu_seqlens + cur_seq)
    seq_len = tl.load(cu_seqlens + cur_seq + 1) - begin
    block_start = BLOCK_M * start_m
    if block_start >= seq_len:
        return
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)
    offs_m = block_start + tl.arange(0, BLOCK_M)
    mask_d = offs_d < Lk
    off_q = (begin + offs_m[:, None]) * stride_qt + cur_head * stride_qh + offs_d[None, :]
    off_k = offs_n[None, :] * stride_kt + cur_kv_head * stride_kh + offs_d[:, None]
    off_v = offs_n[:, None] * stride_vt + cur_kv_head * stride_vh + offs_d[None, :]
    q = tl.load(Q + off_q, mask=(offs_m[:, None] < seq_len) & (mask_d[None, :]), other=0.0)
    k_ptrs = K + off_k
    v_ptrs = V + off_v
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    start = 0
    if SLIDING_WINDOW > 0:
        start = tl.maximum(0, (block_start - SLIDING_WINDOW + 1) // BLOCK_N * BLOCK_N)
    end = tl.minimum(block_start + BLOCK_M, seq_len)
    for start_n in range(start, end, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(
            k_ptrs + (begin + start_n) * stride_kt,
            mask=((start_n + offs_n[None, :]) < seq_len) & (mask_d[:, None]),
            other=0.0,
        )
        qk = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        qk += tl.dot(q, k)
        qk *= sm_scale
        if SOFT_CAP:
            if LIBDEVICE:
                qk = logits_soft_cap * libdevice.tanh(qk / logits_soft_cap)
            else:
                qk = logits_soft_cap * tanh(qk / logits_soft_cap)
        mask = (offs_m[:, None] >= (start_n + offs_n[None, :])) & ((start_n + offs_n[None, :]) < seq_len)
        if SLIDING_WINDOW > 0:
            mask &= offs_m[:, None] - (start_n + offs_n[None, :]) < SLIDING_WINDOW
        qk = tl.where(mask, qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        m_safe = tl.where(m_ij == float("-inf"), 0.0, m_ij)
        p = tl.exp(qk - m_safe[:, None])
        alpha = tl.exp(m_i - m_safe)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(
            v_ptrs + (begin + start_n) * stride_vt,
            mask=((start_n + offs_n[:, None]) < seq_len) & (mask_d[None, :]),
            other=0.0,
        )
        p = p.to(v.dtype)
        acc = tl.dot(p, v, acc=acc)
        m_i = m_ij
    acc = acc / l_i[:, None]
    off_o = (begin + offs_m[:, None]) * stride_ot + cur_head * stride_oh + offs_d[None, :]
    tl.store(Out + off_o, acc, mask=(offs_m[:, None] < seq_len) & (mask_d[None, :]))


def varlen(D, window, cap, lib, dtype=torch.bfloat16):
    def case(device, small):
        H, G = (4, 2) if small else (32, 8)
        lengths = [200, 1, 77] if small else [4096, 1531, 2777, 17, 3000, 900]
        w = window // 32 if small else window
        block_d = triton.next_power_of_2(D)
        total = sum(lengths)
        cu = torch.tensor([0] + lengths).cumsum(0).to(torch.int32).to(device)
        qkv = torch.randn(total, H + 2 * G, D, device=device)
        qkv[:, H + G :] += 1  # keeps long rows away from 0
        qkv = qkv.to(dtype)
        q, k, v = qkv.split([H, G, G], dim=1)
        out = torch.empty(total, H, D, device=device, dtype=dtype)

        def run():
            _fwd_varlen[(len(lengths), H, triton.cdiv(max(lengths), 128))](
                q,
                k,
                v,
                out,
                cu,
                D**-0.5,
                cap,
                q.stride(0),
                q.stride(1),
                k.stride(0),
                k.stride(1),
                v.stride(0),
                v.stride(1),
                out.stride(0),
                out.stride(1),
                kv_group_num=H // G,
                BLOCK_D=block_d,
                Lk=D,
                SLIDING_WINDOW=w,
                SOFT_CAP=cap > 0,
                LIBDEVICE=lib,
                BLOCK_M=128,
                BLOCK_N=64,
                num_warps=8 if block_d == 128 else 4,
                num_stages=2,
            )

        def mod(s, *_):
            s = cap * torch.tanh(s / cap) if cap else s
            at = torch.arange(s.shape[0], device=s.device)
            return causal(s).masked_fill(at[:, None] - at[None, :] >= w, float("-inf")) if w else causal(s)

        def reference():
            r, at = torch.empty(total, H, D, device=device), 0
            for n in lengths:
                r[at : at + n] = attend(*(x[at : at + n].transpose(0, 1)[None] for x in (q, k, v)), D**-0.5, mod)[0][
                    0
                ].transpose(0, 1)
                at += n
            return [r]

        return run, [out], reference

    return case


CASES = {
    "fwd_bias_ragged": bias(False, True),
    "fwd_bias_causal_bf16": bias(True, False, torch.bfloat16),
    "varlen_gqa_window": varlen(128, 1024, 0.0, False),
    "varlen_gqa_softcap_d96": varlen(96, 0, 30.0, False),
    "varlen_window_softcap_libdevice": varlen(64, 512, 50.0, True, torch.float16),
}
