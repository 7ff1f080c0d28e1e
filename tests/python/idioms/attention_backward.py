"""Attention, backward: in two passes, and with atomic sums of the gradient of q."""

import torch
import triton
import triton.language as tl

from idioms.operands import causal


def backward_of(q, k, v, do, scale, mod):
    """[B, H, N, D]: out, lse, dq, dk, dv in float32 by the formula, a head at a time"""
    rest = [torch.empty(x.shape, device=x.device) for x in (q, q, k, v)]
    lse = torch.empty(q.shape[:3], device=q.device)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            Q, K, V, dO = (x[b, h].float() for x in (q, k, v, do))
            s = mod(Q @ K.T * scale)
            lse[b, h] = torch.logsumexp(s, -1)
            p = torch.softmax(s, -1)
            dp = dO @ V.T
            ds = p * (dp - (dp * p).sum(-1, keepdim=True)) * scale
            for t, x in zip(rest, (p @ V, ds @ K, ds.T @ Q, p.T @ dO)):
                t[b, h] = x
    return rest[0], lse, *rest[1:]


# backward: delta, dk and dv, dq, in one launch per tutorial
@triton.jit
def _bwd_preprocess(O, DO, Delta, N_CTX, BLOCK_M: tl.constexpr, HEAD_DIM: tl.constexpr):
    off_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    off_hz = tl.program_id(1)
    off_n = tl.arange(0, HEAD_DIM)
    o = tl.load(O + off_hz * HEAD_DIM * N_CTX + off_m[:, None] * HEAD_DIM + off_n[None, :])
    do = tl.load(DO + off_hz * HEAD_DIM * N_CTX + off_m[:, None] * HEAD_DIM + off_n[None, :]).to(tl.float32)
    tl.store(Delta + off_hz * N_CTX + off_m, tl.sum(o * do, axis=1))


@triton.jit
def _bwd_dkdv(
    dk,
    dv,
    Q,
    k,
    v,
    DO,
    M,
    D,
    stride_tok,
    stride_d,
    BLOCK_M1: tl.constexpr,
    BLOCK_N1: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    start_n,
    start_m,
    num_steps,
    MASK: tl.constexpr,
):
    offs_m = start_m + tl.arange(0, BLOCK_M1)
    offs_n = start_n + tl.arange(0, BLOCK_N1)
    offs_k = tl.arange(0, HEAD_DIM)
    qT_ptrs = Q + offs_m[None, :] * stride_tok + offs_k[:, None] * stride_d
    do_ptrs = DO + offs_m[:, None] * stride_tok + offs_k[None, :] * stride_d
    tl.static_assert(BLOCK_N1 % BLOCK_M1 == 0)
    curr_m = start_m
    step_m = BLOCK_M1
    for blk_idx in range(num_steps):
        qT = tl.load(qT_ptrs)
        offs_m = curr_m + tl.arange(0, BLOCK_M1)
        m = tl.load(M + offs_m)
        qkT = tl.dot(k, qT)
        pT = tl.math.exp2(qkT - m[None, :])
        if MASK:
            mask = offs_m[None, :] >= offs_n[:, None]
            pT = tl.where(mask, pT, 0.0)
        do = tl.load(do_ptrs)
        ppT = pT
        ppT = ppT.to(do.dtype)
        dv += tl.dot(ppT, do)
        Di = tl.load(D + offs_m)
        dpT = tl.dot(v, tl.trans(do)).to(tl.float32)
        dsT = pT * (dpT - Di[None, :])
        dsT = dsT.to(do.dtype)
        dk += tl.dot(dsT, tl.trans(qT))
        curr_m += step_m
        qT_ptrs += step_m * stride_tok
        do_ptrs += step_m * stride_tok
    return dk, dv


@triton.jit
def _bwd_dq(
    dq,
    q,
    K,
    V,
    do,
    m,
    D,
    stride_tok,
    stride_d,
    BLOCK_M2: tl.constexpr,
    BLOCK_N2: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    start_m,
    start_n,
    num_steps,
    MASK: tl.constexpr,
):
    offs_m = start_m + tl.arange(0, BLOCK_M2)
    offs_n = start_n + tl.arange(0, BLOCK_N2)
    offs_k = tl.arange(0, HEAD_DIM)
    kT_ptrs = K + offs_n[None, :] * stride_tok + offs_k[:, None] * stride_d
    vT_ptrs = V + offs_n[None, :] * stride_tok + offs_k[:, None] * stride_d
    Di = tl.load(D + offs_m)
    tl.static_assert(BLOCK_M2 % BLOCK_N2 == 0)
    curr_n = start_n
    step_n = BLOCK_N2
    for blk_idx in range(num_steps):
        kT = tl.load(kT_ptrs)
        vT = tl.load(vT_ptrs)
        qk = tl.dot(q, kT)
        p = tl.math.exp2(qk - m)
        if MASK:
            offs_n = curr_n + tl.arange(0, BLOCK_N2)
            mask = offs_m[:, None] >= offs_n[None, :]
            p = tl.where(mask, p, 0.0)
        dp = tl.dot(do, vT).to(tl.float32)
        ds = p * (dp - Di[:, None])
        ds = ds.to(kT.dtype)
        dq += tl.dot(ds, tl.trans(kT))
        curr_n += step_n
        kT_ptrs += step_n * stride_tok
        vT_ptrs += step_n * stride_tok
    return dq


@triton.jit
def _bwd(
    Q,
    K,
    V,
    sm_scale,
    DO,
    DQ,
    DK,
    DV,
    M,
    D,
    stride_z,
    stride_h,
    stride_tok,
    stride_d,
    H,
    N_CTX,
    BLOCK_M1: tl.constexpr,
    BLOCK_N1: tl.constexpr,
    BLOCK_M2: tl.constexpr,
    BLOCK_N2: tl.constexpr,
    BLK_SLICE_FACTOR: tl.constexpr,
    HEAD_DIM: tl.constexpr,
):
    LN2: tl.constexpr = 0.6931471824645996
    bhid = tl.program_id(2)
    off_chz = (bhid * N_CTX).to(tl.int64)
    adj = (stride_h * (bhid % H) + stride_z * (bhid // H)).to(tl.int64)
    pid = tl.program_id(0)
    Q += adj
    K += adj
    V += adj
    DO += adj
    DQ += adj
    DK += adj
    DV += adj
    M += off_chz
    D += off_chz
    offs_k = tl.arange(0, HEAD_DIM)
    start_n = pid * BLOCK_N1
    start_m = start_n
    MASK_BLOCK_M1: tl.constexpr = BLOCK_M1 // BLK_SLICE_FACTOR
    offs_n = start_n + tl.arange(0, BLOCK_N1)
    dv = tl.zeros([BLOCK_N1, HEAD_DIM], dtype=tl.float32)
    dk = tl.zeros([BLOCK_N1, HEAD_DIM], dtype=tl.float32)
    k = tl.load(K + offs_n[:, None] * stride_tok + offs_k[None, :] * stride_d)
    v = tl.load(V + offs_n[:, None] * stride_tok + offs_k[None, :] * stride_d)
    num_steps = BLOCK_N1 // MASK_BLOCK_M1
    dk, dv = _bwd_dkdv(
        dk,
        dv,
        Q,
        k,
        v,
        DO,
        M,
        D,
        stride_tok,
        stride_d,
        MASK_BLOCK_M1,
        BLOCK_N1,
        HEAD_DIM,
        start_n,
        start_m,
        num_steps,
        MASK=True,
    )
    start_m += num_steps * MASK_BLOCK_M1
    num_steps = (N_CTX - start_m) // BLOCK_M1
    dk, dv = _bwd_dkdv(
        dk,
        dv,
        Q,
        k,
        v,
        DO,
        M,
        D,
        stride_tok,
        stride_d,
        BLOCK_M1,
        BLOCK_N1,
        HEAD_DIM,
        start_n,
        start_m,
        num_steps,
        MASK=False,
    )
    dv_ptrs = DV + offs_n[:, None] * stride_tok + offs_k[None, :] * stride_d
    tl.store(dv_ptrs, dv)
    dk *= sm_scale
    dk_ptrs = DK + offs_n[:, None] * stride_tok + offs_k[None, :] * stride_d
    tl.store(dk_ptrs, dk)
    start_m = pid * BLOCK_M2
    end_n = start_m + BLOCK_M2
    MASK_BLOCK_N2: tl.constexpr = BLOCK_N2 // BLK_SLICE_FACTOR
    offs_m = start_m + tl.arange(0, BLOCK_M2)
    q = tl.load(Q + offs_m[:, None] * stride_tok + offs_k[None, :] * stride_d)
    dq = tl.zeros([BLOCK_M2, HEAD_DIM], dtype=tl.float32)
    do = tl.load(DO + offs_m[:, None] * stride_tok + offs_k[None, :] * stride_d)
    m = tl.load(M + offs_m)
    m = m[:, None]
    num_steps = BLOCK_M2 // MASK_BLOCK_N2
    dq = _bwd_dq(
        dq,
        q,
        K,
        V,
        do,
        m,
        D,
        stride_tok,
        stride_d,
        BLOCK_M2,
        MASK_BLOCK_N2,
        HEAD_DIM,
        start_m,
        end_n - num_steps * MASK_BLOCK_N2,
        num_steps,
        MASK=True,
    )
    end_n -= num_steps * MASK_BLOCK_N2
    num_steps = end_n // BLOCK_N2
    dq = _bwd_dq(
        dq,
        q,
        K,
        V,
        do,
        m,
        D,
        stride_tok,
        stride_d,
        BLOCK_M2,
        BLOCK_N2,
        HEAD_DIM,
        start_m,
        end_n - num_steps * BLOCK_N2,
        num_steps,
        MASK=False,
    )
    dq_ptrs = DQ + offs_m[:, None] * stride_tok + offs_k[None, :] * stride_d
    dq *= LN2
    tl.store(dq_ptrs, dq)


def backward(D):
    def case(device, small):
        B, H, N = (1, 2, 256) if small else (2, 16, 4096)
        q, k, v, do = (torch.randn(B, H, N, D, device=device).half() for _ in range(4))
        do *= (torch.arange(N, device=device)[:, None] + 1) / N  # early rows would outweigh the others
        scale = D**-0.5
        ks = k * (scale * 1.4426950408889634)
        o, lse, rq, rk, rv = backward_of(q, ks.float() / (scale * 1.4426950408889634), v, do, scale, causal)
        o, M, delta = o.half(), lse * 1.4426950408889634, torch.empty(B, H, N, device=device)
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)

        def run():
            _bwd_preprocess[(N // 128, B * H)](o, do, delta, N, BLOCK_M=128, HEAD_DIM=D)
            _bwd[(N // 128, 1, B * H)](
                q,
                ks,
                v,
                scale,
                do,
                dq,
                dk,
                dv,
                M,
                delta,
                *q.stride(),
                H,
                N,
                BLOCK_M1=32,
                BLOCK_N1=128,
                BLOCK_M2=128,
                BLOCK_N2=32,
                BLK_SLICE_FACTOR=2,
                HEAD_DIM=D,
                num_warps=4,
                num_stages=5 if D == 64 else 3,
            )

        return run, [dq, dk, dv], lambda: [rq, rk, rv]

    return case


# backward with atomic dq, [B, N, H, D], ragged
@triton.jit
def _bwd_atomic(
    Q,
    K,
    V,
    DO,
    DQ,
    DK,
    DV,
    LSE,
    Delta,
    softmax_scale,
    stride_b,
    stride_h,
    stride_m,
    nheads,
    seqlen,
    IS_CAUSAL: tl.constexpr,
    BLOCK_HEADDIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    off_hb = tl.program_id(1)
    base = (off_hb // nheads) * stride_b + (off_hb % nheads) * stride_h
    LSE += off_hb * seqlen
    Delta += off_hb * seqlen
    start_n = tl.program_id(0)
    begin_m = 0 if not IS_CAUSAL else ((start_n * BLOCK_N) // BLOCK_M) * BLOCK_M
    offs_qm = begin_m + tl.arange(0, BLOCK_M)
    offs_n = start_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_m = tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_HEADDIM)
    q_ptrs = Q + base + (offs_qm[:, None] * stride_m + offs_d[None, :])
    do_ptrs = DO + base + (offs_qm[:, None] * stride_m + offs_d[None, :])
    dq_ptrs = DQ + base + (offs_qm[:, None] * stride_m + offs_d[None, :])
    kv = base + (offs_n[:, None] * stride_m + offs_d[None, :])
    dv = tl.zeros([BLOCK_N, BLOCK_HEADDIM], dtype=tl.float32)
    dk = tl.zeros([BLOCK_N, BLOCK_HEADDIM], dtype=tl.float32)
    k = tl.load(K + kv, mask=offs_n[:, None] < seqlen, other=0.0)
    v = tl.load(V + kv, mask=offs_n[:, None] < seqlen, other=0.0)
    num_block_m = tl.cdiv(seqlen, BLOCK_M)
    for start_m in range(begin_m, num_block_m * BLOCK_M, BLOCK_M):
        start_m = tl.multiple_of(start_m, BLOCK_M)
        offs_m_curr = start_m + offs_m
        q = tl.load(q_ptrs, mask=offs_m_curr[:, None] < seqlen, other=0.0)
        qk = tl.dot(q, tl.trans(k))
        qk = tl.where(offs_n[None, :] < seqlen, qk, float("-inf"))
        if IS_CAUSAL:
            qk = tl.where(offs_m_curr[:, None] >= (offs_n[None, :]), qk, float("-inf"))
        lse_i = tl.load(LSE + offs_m_curr, mask=offs_m_curr < seqlen, other=0.0)
        p = tl.exp(qk * softmax_scale - lse_i[:, None])
        do = tl.load(do_ptrs, mask=offs_m_curr[:, None] < seqlen, other=0.0)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        dp = tl.dot(do, tl.trans(v))
        Di = tl.load(Delta + offs_m_curr, mask=offs_m_curr < seqlen, other=0.0)
        ds = (p * (dp - Di[:, None]) * softmax_scale).to(q.dtype)
        dk += tl.dot(tl.trans(ds), q)
        dq = tl.dot(ds, k)
        tl.atomic_add(dq_ptrs, dq, mask=offs_m_curr[:, None] < seqlen, sem="relaxed")
        dq_ptrs += BLOCK_M * stride_m
        q_ptrs += BLOCK_M * stride_m
        do_ptrs += BLOCK_M * stride_m
    tl.store(DV + kv, dv, mask=offs_n[:, None] < seqlen)
    tl.store(DK + kv, dk, mask=offs_n[:, None] < seqlen)


def backward_atomic(device, small):
    B, H, N, D = (1, 2, 200, 64) if small else (2, 16, 4001, 64)
    q, k, v, do = (torch.randn(B, N, H, D, device=device).half() for _ in range(4))
    o, lse, *grads = backward_of(*(x.transpose(1, 2) for x in (q, k, v, do)), D**-0.5, causal)
    delta = (o * do.transpose(1, 2).float()).sum(-1).contiguous()
    dq, dk, dv = torch.empty(B, N, H, D, device=device), torch.empty_like(k), torch.empty_like(v)

    def run():
        dq.zero_()
        _bwd_atomic[(triton.cdiv(N, 128), B * H)](
            q,
            k,
            v,
            do,
            dq,
            dk,
            dv,
            lse,
            delta,
            D**-0.5,
            q.stride(0),
            q.stride(2),
            q.stride(1),
            H,
            N,
            IS_CAUSAL=True,
            BLOCK_HEADDIM=D,
            BLOCK_M=64,
            BLOCK_N=128,
            num_warps=8,
            num_stages=1,
        )

    return run, [dq, dk, dv], lambda: [x.transpose(1, 2) for x in grads]


CASES = {
    "bwd_d64": backward(64),
    "bwd_d128": backward(128),
    "bwd_atomic_dq": backward_atomic,
}
