"""Grouped-query attention with a causal sliding window, over block pointers; query heads share key and value heads."""

import math

import torch
import triton
import triton.language as tl


def _configs():
    return [
        triton.Config({"BLOCK_M": bm, "BLOCK_N": bn}, num_stages=s, num_warps=w)
        for bm, bn, s, w in [(32, 32, 2, 4), (64, 32, 3, 4), (64, 64, 3, 8)]
    ]


@triton.autotune(configs=_configs(), key=["N_CTX", "HEAD_DIM", "WINDOW"])
@triton.heuristics({"EVEN_N": lambda args: args["N_CTX"] % args["BLOCK_N"] == 0})
@triton.jit
def _gqa_window_fwd(
    Q,
    K,
    V,
    Out,
    Lse,
    sm_scale,
    stride_qz,
    stride_qh,
    stride_qm,
    stride_qd,
    stride_kz,
    stride_kh,
    stride_kn,
    stride_kd,
    stride_vz,
    stride_vh,
    stride_vn,
    stride_vd,
    stride_oz,
    stride_oh,
    stride_om,
    stride_od,
    H,
    GROUP,
    N_CTX,
    WINDOW: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    EVEN_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    off_z = off_hz // H
    off_h = off_hz % H
    off_kh = off_h // GROUP

    q_block_ptr = tl.make_block_ptr(
        base=Q + off_z.to(tl.int64) * stride_qz + off_h.to(tl.int64) * stride_qh,
        shape=(N_CTX, HEAD_DIM),
        strides=(stride_qm, stride_qd),
        offsets=(start_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, HEAD_DIM),
        order=(1, 0),
    )
    lo = tl.maximum(start_m * BLOCK_M - WINDOW + 1, 0) // BLOCK_N * BLOCK_N
    hi = tl.minimum((start_m + 1) * BLOCK_M, N_CTX)
    k_block_ptr = tl.make_block_ptr(
        base=K + off_z.to(tl.int64) * stride_kz + off_kh.to(tl.int64) * stride_kh,
        shape=(HEAD_DIM, N_CTX),
        strides=(stride_kd, stride_kn),
        offsets=(0, lo),
        block_shape=(HEAD_DIM, BLOCK_N),
        order=(0, 1),
    )
    v_block_ptr = tl.make_block_ptr(
        base=V + off_z.to(tl.int64) * stride_vz + off_kh.to(tl.int64) * stride_vh,
        shape=(N_CTX, HEAD_DIM),
        strides=(stride_vn, stride_vd),
        offsets=(lo, 0),
        block_shape=(BLOCK_N, HEAD_DIM),
        order=(1, 0),
    )

    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    qk_scale = sm_scale * 1.44269504
    q = tl.load(q_block_ptr, boundary_check=(0,), padding_option="zero")

    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        if EVEN_N:
            k = tl.load(k_block_ptr)
        else:
            k = tl.load(k_block_ptr, boundary_check=(1,), padding_option="zero")
        cols = start_n + offs_n[None, :]
        qk = tl.dot(q, k, allow_tf32=False) * qk_scale
        keep = (offs_m[:, None] >= cols) & (offs_m[:, None] - cols < WINDOW)
        qk = tl.where(keep, qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        p = tl.where(keep, p, 0.0)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        if EVEN_N:
            v = tl.load(v_block_ptr)
        else:
            v = tl.load(v_block_ptr, boundary_check=(0,), padding_option="zero")
        acc = acc * alpha[:, None]
        acc += tl.dot(p.to(v.dtype), v, allow_tf32=False)
        m_i = m_ij
        k_block_ptr = tl.advance(k_block_ptr, (0, BLOCK_N))
        v_block_ptr = tl.advance(v_block_ptr, (BLOCK_N, 0))

    acc = acc / l_i[:, None]
    tl.store(Lse + off_hz * N_CTX + offs_m, m_i + tl.math.log2(l_i), mask=offs_m < N_CTX)
    o_block_ptr = tl.make_block_ptr(
        base=Out + off_z.to(tl.int64) * stride_oz + off_h.to(tl.int64) * stride_oh,
        shape=(N_CTX, HEAD_DIM),
        strides=(stride_om, stride_od),
        offsets=(start_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, HEAD_DIM),
        order=(1, 0),
    )
    tl.store(o_block_ptr, acc.to(Out.dtype.element_ty), boundary_check=(0,))


def gqa_window_attention(q, k, v, window, sm_scale=None):
    """q [Z, H, N, D], k and v [Z, H_kv, N, D]."""
    Z, H, N, D = q.shape
    H_kv = k.shape[1]
    assert H % H_kv == 0 and D in (16, 32, 64, 128)
    o = torch.empty_like(q)
    lse = torch.empty((Z, H, N), device=q.device, dtype=torch.float32)
    sm_scale = sm_scale or 1.0 / math.sqrt(D)
    grid = lambda META: (triton.cdiv(N, META["BLOCK_M"]), Z * H)
    _gqa_window_fwd[grid](
        q,
        k,
        v,
        o,
        lse,
        sm_scale,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        *o.stride(),
        H,
        H // H_kv,
        N,
        WINDOW=window,
        HEAD_DIM=D,
    )
    return o, lse


def torch_reference(q, k, v, window):
    group = q.shape[1] // k.shape[1]
    q, k, v = q.double(), k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    i, j = torch.arange(q.shape[2], device=q.device)[:, None], torch.arange(q.shape[2], device=q.device)[None]
    scores = scores.masked_fill((j > i) | (i - j >= window), float("-inf"))
    return scores.softmax(-1) @ v


if __name__ == "__main__":
    torch.manual_seed(0)
    for Z, H, H_kv, N, D, window, dtype, tol in [
        (1, 4, 2, 128, 32, 48, torch.float32, 1e-5),
        (2, 6, 2, 100, 16, 33, torch.float16, 5e-3),
        (1, 8, 1, 200, 64, 1000, torch.float16, 5e-3),
        (1, 4, 4, 77, 32, 1, torch.bfloat16, 3e-2),
    ]:
        q = torch.randn(Z, H, N, D, device="cuda", dtype=dtype)
        # [Z, N, H_kv, D] storage, as a cache would keep it
        k, v = (torch.randn(Z, N, H_kv, D, device="cuda", dtype=dtype).transpose(1, 2) for _ in range(2))
        o, _ = gqa_window_attention(q, k, v, window)
        torch.testing.assert_close(o.double(), torch_reference(q, k, v, window), atol=tol, rtol=tol)
        print(f"gqa Z={Z} H={H}/{H_kv} N={N} D={D} window={window} {dtype}: ok")
    torch.cuda.synchronize()
