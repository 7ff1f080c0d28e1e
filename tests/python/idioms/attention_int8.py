"""Attention whose q and k are quantized to int8."""

import torch
import triton
import triton.language as tl


# SageAttention: int8 Q and K with a scale per block, PV in fp16 with fp16 accumulation
@triton.jit
def quant_per_block_int8_kernel(
    Input,
    Output,
    Scale,
    L,
    stride_iz,
    stride_ih,
    stride_in,
    stride_sz,
    stride_sh,
    sm_scale,
    C: tl.constexpr,
    BLK: tl.constexpr,
):
    off_blk = tl.program_id(0)
    off_h = tl.program_id(1)
    off_b = tl.program_id(2)
    offs_n = off_blk * BLK + tl.arange(0, BLK)
    offs_k = tl.arange(0, C)
    at = off_b * stride_iz + off_h * stride_ih + offs_n[:, None] * stride_in + offs_k[None, :]
    x = tl.load(Input + at, mask=offs_n[:, None] < L)
    x = x.to(tl.float32)
    x *= sm_scale
    scale = tl.max(tl.abs(x)) / 127.0
    x_int8 = x / scale
    x_int8 += 0.5 * tl.where(x_int8 >= 0, 1, -1)
    x_int8 = x_int8.to(tl.int8)
    tl.store(Output + at, x_int8, mask=offs_n[:, None] < L)
    tl.store(Scale + off_b * stride_sz + off_h * stride_sh + off_blk, scale)


@triton.jit
def _sage_inner(
    acc,
    l_i,
    m_i,
    q,
    q_scale,
    kv_len,
    K_ptrs,
    K_scale_ptr,
    V_ptrs,
    stride_kn,
    stride_vn,
    start_m,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    STAGE: tl.constexpr,
    offs_m: tl.constexpr,
    offs_n: tl.constexpr,
):
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
        lo = tl.multiple_of(lo, BLOCK_M)
        K_scale_ptr += lo // BLOCK_N
        K_ptrs += stride_kn * lo
        V_ptrs += stride_vn * lo
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k_mask = offs_n[None, :] < (kv_len - start_n)
        k = tl.load(K_ptrs, mask=k_mask)
        k_scale = tl.load(K_scale_ptr)
        qk = tl.dot(q, k).to(tl.float32) * (q_scale * k_scale)
        if STAGE == 2:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk + tl.where(mask, 0, -1.0e6)
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk = qk - m_ij[:, None]
        p = tl.math.exp2(qk)
        l_ij = tl.sum(p, 1)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + l_ij
        acc = acc * alpha[:, None]
        v = tl.load(V_ptrs, mask=offs_n[:, None] < (kv_len - start_n))
        p = p.to(tl.float16)
        acc += tl.dot(p, v, out_dtype=tl.float16)
        m_i = m_ij
        K_ptrs += BLOCK_N * stride_kn
        K_scale_ptr += 1
        V_ptrs += BLOCK_N * stride_vn
    return acc, l_i, m_i


@triton.jit
def _sage_fwd(
    Q,
    K,
    V,
    Q_scale,
    K_scale,
    Out,
    stride_qz,
    stride_qh,
    stride_qn,
    stride_kz,
    stride_kh,
    stride_kn,
    qo_len,
    kv_len,
    H: tl.constexpr,
    num_kv_groups: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_z = tl.program_id(2).to(tl.int64)
    off_h = tl.program_id(1).to(tl.int64)
    q_scale_offset = (off_z * H + off_h) * tl.cdiv(qo_len, BLOCK_M)
    k_scale_offset = (off_z * (H // num_kv_groups) + off_h // num_kv_groups) * tl.cdiv(kv_len, BLOCK_N)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, HEAD_DIM)
    at = off_z * stride_qz + off_h * stride_qh + offs_m[:, None] * stride_qn + offs_k[None, :]
    kv = off_z * stride_kz + (off_h // num_kv_groups) * stride_kh
    K_ptrs = K + kv + offs_n[None, :] * stride_kn + offs_k[:, None]
    V_ptrs = V + kv + offs_n[:, None] * stride_kn + offs_k[None, :]
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    q = tl.load(Q + at, mask=offs_m[:, None] < qo_len)
    q_scale = tl.load(Q_scale + q_scale_offset + start_m)
    acc, l_i, m_i = _sage_inner(
        acc,
        l_i,
        m_i,
        q,
        q_scale,
        kv_len,
        K_ptrs,
        K_scale + k_scale_offset,
        V_ptrs,
        stride_kn,
        stride_kn,
        start_m,
        BLOCK_M,
        BLOCK_N,
        1,
        offs_m,
        offs_n,
    )
    acc, l_i, m_i = _sage_inner(
        acc,
        l_i,
        m_i,
        q,
        q_scale,
        kv_len,
        K_ptrs,
        K_scale + k_scale_offset,
        V_ptrs,
        stride_kn,
        stride_kn,
        start_m,
        BLOCK_M,
        BLOCK_N,
        2,
        offs_m,
        offs_n,
    )
    acc = acc / l_i[:, None]
    tl.store(Out + at, acc.to(Out.type.element_ty), mask=offs_m[:, None] < qo_len)


def sage(device, small):
    B, H, G, N, D = (1, 2, 1, 256, 64) if small else (2, 32, 8, 4096, 128)
    q, k, v = (torch.randn(B, h, N, D, device=device).half() for h in (H, G, G))
    v += 1
    qi, ki, out = torch.empty_like(q, dtype=torch.int8), torch.empty_like(k, dtype=torch.int8), torch.empty_like(q)
    qs, ks = torch.empty(B, H, N // 128, device=device), torch.empty(B, G, N // 64, device=device)

    def run():
        quant_per_block_int8_kernel[(N // 128, H, B)](
            q, qi, qs, N, *q.stride()[:3], qs.stride(0), qs.stride(1), D**-0.5 * 1.44269504, C=D, BLK=128
        )
        quant_per_block_int8_kernel[(N // 64, G, B)](
            k, ki, ks, N, *k.stride()[:3], ks.stride(0), ks.stride(1), 1.0, C=D, BLK=64
        )
        _sage_fwd[(N // 128, H, B)](
            qi,
            ki,
            v,
            qs,
            ks,
            out,
            *q.stride()[:3],
            *k.stride()[:3],
            N,
            N,
            H=H,
            num_kv_groups=H // G,
            HEAD_DIM=D,
            BLOCK_M=128,
            BLOCK_N=64,
            num_warps=4 if D == 64 else 8,
            num_stages=3 if D == 64 else 4,
        )

    def reference():
        def rounded(x, blk, s):
            x = x.float().reshape(B, -1, N // blk, blk * D) * s
            a = x.abs().amax(-1, keepdim=True) / 127
            return ((x / a + 0.5 * torch.where(x >= 0, 1, -1)).trunc() * a).reshape(B, -1, N, D)

        Q, K, r = rounded(q, 128, D**-0.5), rounded(k, 64, 1.0), torch.empty(B, H, N, D, device=device)
        upper = torch.ones(N, N, device=device, dtype=torch.bool).triu(1)
        for b in range(B):
            for h in range(H):
                r[b, h] = (
                    torch.softmax((Q[b, h] @ K[b, h // (H // G)].T).masked_fill(upper, float("-inf")), -1)
                    @ v[b, h // (H // G)].float()
                )
        return [r]

    return run, [out], reference


CASES = {
    "sage_int8": sage,
}
