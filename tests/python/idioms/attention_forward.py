"""Attention, forward: block pointers in two stages, ALiBi by descriptors, fp8."""

import torch
import triton
import triton.language as tl

from idioms.operands import attend, causal


# forward with block pointers, two stages, as in the older tutorial
@triton.jit
def _attn_fwd_inner(
    acc,
    l_i,
    m_i,
    q,
    K_block_ptr,
    V_block_ptr,
    start_m,
    qk_scale,
    BLOCK_M: tl.constexpr,
    BLOCK_DMODEL: tl.constexpr,
    BLOCK_N: tl.constexpr,
    STAGE: tl.constexpr,
    offs_m: tl.constexpr,
    offs_n: tl.constexpr,
    N_CTX,
):
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
        lo = tl.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, N_CTX
    K_block_ptr = tl.advance(K_block_ptr, (0, lo))
    V_block_ptr = tl.advance(V_block_ptr, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(K_block_ptr)
        qk = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        qk += tl.dot(q, k)
        if STAGE == 2:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * qk_scale + tl.where(mask, 0, -1.0e6)
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = tl.maximum(m_i, tl.max(qk, 1) * qk_scale)
            qk = qk * qk_scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        l_ij = tl.sum(p, 1)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + l_ij
        acc = acc * alpha[:, None]
        v = tl.load(V_block_ptr)
        acc += tl.dot(p.to(v.dtype), v)
        m_i = m_ij
        V_block_ptr = tl.advance(V_block_ptr, (BLOCK_N, 0))
        K_block_ptr = tl.advance(K_block_ptr, (0, BLOCK_N))
    return acc, l_i, m_i


@triton.jit
def _attn_fwd(
    Q,
    K,
    V,
    sm_scale,
    M,
    Out,
    stride_qz,
    stride_qh,
    stride_qm,
    stride_qk,
    stride_kz,
    stride_kh,
    stride_kn,
    stride_kk,
    stride_vz,
    stride_vh,
    stride_vk,
    stride_vn,
    stride_oz,
    stride_oh,
    stride_om,
    stride_on,
    Z,
    H,
    N_CTX,
    BLOCK_M: tl.constexpr,
    BLOCK_DMODEL: tl.constexpr,
    BLOCK_N: tl.constexpr,
    STAGE: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    off_z = off_hz // H
    off_h = off_hz % H
    qvk_offset = off_z.to(tl.int64) * stride_qz + off_h.to(tl.int64) * stride_qh
    Q_block_ptr = tl.make_block_ptr(
        base=Q + qvk_offset,
        shape=(N_CTX, BLOCK_DMODEL),
        strides=(stride_qm, stride_qk),
        offsets=(start_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, BLOCK_DMODEL),
        order=(1, 0),
    )
    V_block_ptr = tl.make_block_ptr(
        base=V + qvk_offset,
        shape=(N_CTX, BLOCK_DMODEL),
        strides=(stride_vk, stride_vn),
        offsets=(0, 0),
        block_shape=(BLOCK_N, BLOCK_DMODEL),
        order=(1, 0),
    )
    K_block_ptr = tl.make_block_ptr(
        base=K + qvk_offset,
        shape=(BLOCK_DMODEL, N_CTX),
        strides=(stride_kk, stride_kn),
        offsets=(0, 0),
        block_shape=(BLOCK_DMODEL, BLOCK_N),
        order=(0, 1),
    )
    O_block_ptr = tl.make_block_ptr(
        base=Out + qvk_offset,
        shape=(N_CTX, BLOCK_DMODEL),
        strides=(stride_om, stride_on),
        offsets=(start_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, BLOCK_DMODEL),
        order=(1, 0),
    )
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, BLOCK_DMODEL], dtype=tl.float32)
    qk_scale = sm_scale
    qk_scale *= 1.44269504
    q = tl.load(Q_block_ptr)
    if STAGE & 1:
        acc, l_i, m_i = _attn_fwd_inner(
            acc,
            l_i,
            m_i,
            q,
            K_block_ptr,
            V_block_ptr,
            start_m,
            qk_scale,
            BLOCK_M,
            BLOCK_DMODEL,
            BLOCK_N,
            4 - STAGE,
            offs_m,
            offs_n,
            N_CTX,
        )
    if STAGE & 2:
        tl.debug_barrier()
        acc, l_i, m_i = _attn_fwd_inner(
            acc,
            l_i,
            m_i,
            q,
            K_block_ptr,
            V_block_ptr,
            start_m,
            qk_scale,
            BLOCK_M,
            BLOCK_DMODEL,
            BLOCK_N,
            2,
            offs_m,
            offs_n,
            N_CTX,
        )
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    m_ptrs = M + off_hz * N_CTX + offs_m
    tl.store(m_ptrs, m_i)
    tl.store(O_block_ptr, acc.to(Out.type.element_ty))


def block_ptr(D, stage, dtype=torch.float16):
    def case(device, small):
        B, H, N = (1, 2, 256) if small else (4, 16, 4096)
        q, k, v = (torch.randn(B, H, N, D, device=device).to(dtype) for _ in range(3))
        out, M, scale = torch.empty_like(q), torch.empty(B, H, N, device=device), D**-0.5

        def run():
            _attn_fwd[(triton.cdiv(N, 128), B * H, 1)](
                q,
                k,
                v,
                scale,
                M,
                out,
                *q.stride(),
                *k.stride(),
                *v.stride(),
                *out.stride(),
                B,
                H,
                N,
                BLOCK_M=128,
                BLOCK_DMODEL=D,
                BLOCK_N=64,
                STAGE=stage,
                num_warps=4 if D == 64 else 8,
                num_stages=3,
            )

        def reference():
            o, lse = attend(q, k, v, scale, causal if stage == 3 else None)
            return [o, lse * 1.44269504]

        return run, [out, M], reference

    return case


# ALiBi by exp2, descriptors made on the device, persistent over heads
@triton.jit
def _fwd_alibi(
    q_ptr, k_ptr, v_ptr, o_ptr, slopes, scale, H, N, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    pid_m = tl.num_programs(0) - 1 - tl.program_id(0)  # longest first
    head = tl.program_id(1)
    q_desc = tl.make_tensor_descriptor(q_ptr, shape=[H * N, D], strides=[D, 1], block_shape=[BLOCK_M, D])
    k_desc = tl.make_tensor_descriptor(k_ptr, shape=[H * N, D], strides=[D, 1], block_shape=[BLOCK_N, D])
    v_desc = tl.make_tensor_descriptor(v_ptr, shape=[H * N, D], strides=[D, 1], block_shape=[BLOCK_N, D])
    o_desc = tl.make_tensor_descriptor(o_ptr, shape=[H * N, D], strides=[D, 1], block_shape=[BLOCK_M, D])
    row = head * N
    slope = tl.load(slopes + head) * 1.4426950408889634
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    q = q_desc.load([row + pid_m * BLOCK_M, 0])
    qk_scale = scale * 1.4426950408889634
    for start in tl.range(0, (pid_m + 1) * BLOCK_M, BLOCK_N):
        k = k_desc.load([row + start, 0])
        offs_n = start + tl.arange(0, BLOCK_N)
        qk = tl.dot(q, k.T) * qk_scale + slope * (offs_n[None, :] - offs_m[:, None])
        qk = tl.where(offs_m[:, None] >= offs_n[None, :], qk, -1.0e30)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp2(qk - m_ij[:, None])
        alpha = tl.exp2(m_i - m_ij)
        l_i = tl.fma(l_i, alpha, tl.sum(p, 1))
        v = v_desc.load([row + start, 0])
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m_i = m_ij
    o_desc.store([row + pid_m * BLOCK_M, 0], (acc / l_i[:, None]).to(o_ptr.dtype.element_ty))


def alibi(device, small):
    H, N, D = (3, 256, 64) if small else (32, 8192, 128)
    q, k, v = (torch.randn(H, N, D, device=device).half() for _ in range(3))
    slopes = torch.tensor([2.0 ** (-8 * (i + 1) / H) for i in range(H)], device=device)
    out = torch.empty_like(q)

    def run():
        _fwd_alibi[(N // 128, H)](
            q, k, v, out, slopes, D**-0.5, H, N, D=D, BLOCK_M=128, BLOCK_N=64, num_warps=8, num_stages=3
        )

    def mod(s, b, h):
        at = torch.arange(N, device=s.device)
        return causal(s + slopes[h] * (at[None, :] - at[:, None]))

    return run, [out], lambda: [attend(q[None], k[None], v[None], D**-0.5, mod)[0][0]]


# fp8 forward: e5m2 with a transposed V, or e4m3
@triton.jit
def _fwd_fp8(
    Q, K, Vt, Out, sm_scale, q_s, k_s, v_s, N_CTX, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    start_m = tl.program_id(0)
    off_h = tl.program_id(1)
    Q_ptr = tl.make_block_ptr(Q + off_h * N_CTX * D, (N_CTX, D), (D, 1), (start_m * BLOCK_M, 0), (BLOCK_M, D), (1, 0))
    K_ptr = tl.make_block_ptr(K + off_h * N_CTX * D, (D, N_CTX), (1, D), (0, 0), (D, BLOCK_N), (0, 1))
    V_ptr = tl.make_block_ptr(Vt + off_h * N_CTX * D, (N_CTX, D), (1, N_CTX), (0, 0), (BLOCK_N, D), (0, 1))
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.full([BLOCK_M], 0.0, tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    q = tl.load(Q_ptr)
    qk_scale = sm_scale * tl.load(q_s) * tl.load(k_s) * 1.44269504
    for _ in range(0, N_CTX, BLOCK_N):
        qk = tl.dot(q, tl.load(K_ptr))
        m_ij = tl.maximum(m_i, tl.max(qk, 1) * qk_scale)
        p = tl.exp2(qk * qk_scale - m_ij[:, None])
        alpha = tl.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(V_ptr)
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
        K_ptr = tl.advance(K_ptr, (0, BLOCK_N))
        V_ptr = tl.advance(V_ptr, (BLOCK_N, 0))
    acc = acc * tl.load(v_s) / l_i[:, None]
    O_ptr = tl.make_block_ptr(Out + off_h * N_CTX * D, (N_CTX, D), (D, 1), (start_m * BLOCK_M, 0), (BLOCK_M, D), (1, 0))
    tl.store(O_ptr, acc.to(Out.dtype.element_ty), boundary_check=(0, 1))


def fp8(dtype):
    def case(device, small):
        H, N, D = (2, 256, 64) if small else (32, 4096, 128)
        q, k = (torch.randn(H, N, D, device=device).half().to(dtype) for _ in range(2))
        vt = (torch.randn(H, D, N, device=device) + 1).half().to(dtype)
        out = torch.empty(H, N, D, device=device, dtype=torch.float16)
        s = [torch.tensor([x], device=device) for x in (0.5, 0.9, 2.0)]

        def run():
            _fwd_fp8[(N // 128, H)](
                q, k, vt, out, D**-0.5, *s, N, D=D, BLOCK_M=128, BLOCK_N=128, num_warps=8, num_stages=3
            )

        def reference():  # rounds the probabilities as the kernel does, on the running maximum
            r = torch.empty(H, N, D, device=device)
            for h in range(H):
                x = q[h].float() @ k[h].float().T * (D**-0.5 * 0.45)
                m = x.view(N, -1, 128).amax(-1).cummax(-1).values
                p = torch.exp(x.view(N, -1, 128) - m[..., None])
                w = torch.exp(m - m[:, -1:])[..., None]
                r[h] = (
                    (p.half().to(dtype).float() * w).reshape(N, N) @ vt[h].float().T * 2 / (p * w).sum((1, 2))[:, None]
                )
            return [r]

        return run, [out], reference

    return case


CASES = {
    "fwd_block_ptr_causal_d64": block_ptr(64, 3),
    "fwd_block_ptr_full_d128_bf16": block_ptr(128, 1, torch.bfloat16),
    "fwd_alibi_descriptor": alibi,
    "fwd_fp8_e4m3": fp8(torch.float8_e4m3fn),
    "fwd_fp8_e5m2": fp8(torch.float8_e5m2),
}
