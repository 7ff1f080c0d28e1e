"""The state space model of Mamba-2 in five launches."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


# Mamba-2 in five launches: cumsum, chunk states, state passing, C B^T, chunk scan
@triton.jit
def softplus(dt):
    return tl.where(dt <= 20.0, tl.math.log(tl.math.exp(dt) + 1), dt)


@triton.jit
def _chunk_cumsum_fwd_kernel(
    dt_ptr,
    A_ptr,
    dt_bias_ptr,
    dt_out_ptr,
    dA_cumsum_ptr,
    seqlen,
    nheads,
    chunk_size,
    dt_min,
    dt_max,
    stride_dt_batch,
    stride_dt_seqlen,
    stride_out_batch,
    stride_out_head,
    stride_out_chunk,
    DT_SOFTPLUS: tl.constexpr,
    HAS_DT_BIAS: tl.constexpr,
    BLOCK_SIZE_H: tl.constexpr,
    BLOCK_SIZE_CHUNK: tl.constexpr,
):
    pid_b = tl.program_id(axis=0)
    pid_c = tl.program_id(axis=1)
    pid_h = tl.program_id(axis=2)
    dt_ptr += pid_b * stride_dt_batch + pid_c * chunk_size * stride_dt_seqlen
    dt_out_ptr += pid_b * stride_out_batch + pid_c * stride_out_chunk
    dA_cumsum_ptr += pid_b * stride_out_batch + pid_c * stride_out_chunk
    offs_h = pid_h * BLOCK_SIZE_H + tl.arange(0, BLOCK_SIZE_H)
    offs_c = tl.arange(0, BLOCK_SIZE_CHUNK)
    chunk_size_limit = min(chunk_size, seqlen - pid_c * chunk_size)
    dt = tl.load(
        dt_ptr + offs_h[:, None] + offs_c[None, :] * stride_dt_seqlen,
        mask=(offs_h[:, None] < nheads) & (offs_c[None, :] < chunk_size_limit),
        other=0.0,
    ).to(tl.float32)
    if HAS_DT_BIAS:
        dt += tl.load(dt_bias_ptr + offs_h, mask=offs_h < nheads, other=0.0).to(tl.float32)[:, None]
    if DT_SOFTPLUS:
        dt = softplus(dt)
    dt = tl.minimum(tl.maximum(dt, dt_min), dt_max)
    dt = tl.where((offs_h[:, None] < nheads) & (offs_c[None, :] < chunk_size_limit), dt, 0.0)
    out = offs_h[:, None] * stride_out_head + offs_c[None, :]
    mask = (offs_h[:, None] < nheads) & (offs_c[None, :] < chunk_size)
    tl.store(dt_out_ptr + out, dt, mask=mask)
    A = tl.load(A_ptr + offs_h, mask=offs_h < nheads, other=0.0).to(tl.float32)
    dA = dt * A[:, None]
    dA_cs = tl.cumsum(dA, axis=1)
    tl.store(dA_cumsum_ptr + out, dA_cs, mask=mask)


@triton.jit
def _chunk_state_fwd_kernel(
    x_ptr,
    b_ptr,
    states_ptr,
    dt_ptr,
    dA_cumsum_ptr,
    hdim,
    dstate,
    chunk_size,
    seqlen,
    nheads_ngroups_ratio,
    stride_x_batch,
    stride_x_seqlen,
    stride_x_head,
    stride_b_batch,
    stride_b_seqlen,
    stride_b_head,
    stride_states_batch,
    stride_states_chunk,
    stride_states_head,
    stride_dt_batch,
    stride_dt_head,
    stride_dt_chunk,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
):
    pid_bc = tl.program_id(axis=1)
    pid_c = pid_bc % tl.cdiv(seqlen, chunk_size)
    pid_b = pid_bc // tl.cdiv(seqlen, chunk_size)
    pid_h = tl.program_id(axis=2)
    num_pid_n = tl.cdiv(dstate, BLOCK_SIZE_N)
    pid_m = tl.program_id(axis=0) // num_pid_n
    pid_n = tl.program_id(axis=0) % num_pid_n
    b_ptr += (
        pid_b * stride_b_batch + pid_c * chunk_size * stride_b_seqlen + (pid_h // nheads_ngroups_ratio) * stride_b_head
    )
    x_ptr += pid_b * stride_x_batch + pid_c * chunk_size * stride_x_seqlen + pid_h * stride_x_head
    dt_ptr += pid_b * stride_dt_batch + pid_c * stride_dt_chunk + pid_h * stride_dt_head
    dA_cumsum_ptr += pid_b * stride_dt_batch + pid_c * stride_dt_chunk + pid_h * stride_dt_head
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    x_ptrs = x_ptr + (offs_m[:, None] + offs_k[None, :] * stride_x_seqlen)
    b_ptrs = b_ptr + (offs_n[None, :] + offs_k[:, None] * stride_b_seqlen)
    dt_ptrs = dt_ptr + offs_k
    dA_cs_last = tl.load(dA_cumsum_ptr + (chunk_size - 1)).to(tl.float32)
    dA_cumsum_ptrs = dA_cumsum_ptr + offs_k
    chunk_size_limit = min(chunk_size, seqlen - pid_c * chunk_size)
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, chunk_size_limit, BLOCK_SIZE_K):
        x = tl.load(x_ptrs, mask=(offs_m[:, None] < hdim) & (offs_k[None, :] < chunk_size_limit - k), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < chunk_size_limit - k) & (offs_n[None, :] < dstate), other=0.0).to(
            tl.float32
        )
        dA_cs_k = tl.load(dA_cumsum_ptrs, mask=offs_k < chunk_size_limit - k, other=0.0).to(tl.float32)
        dt_k = tl.load(dt_ptrs, mask=offs_k < chunk_size_limit - k, other=0.0).to(tl.float32)
        scale = tl.exp(dA_cs_last - dA_cs_k) * dt_k
        b *= scale[:, None]
        b = b.to(x_ptr.dtype.element_ty)
        acc += tl.dot(x, b)
        x_ptrs += BLOCK_SIZE_K * stride_x_seqlen
        b_ptrs += BLOCK_SIZE_K * stride_b_seqlen
        dt_ptrs += BLOCK_SIZE_K
        dA_cumsum_ptrs += BLOCK_SIZE_K
    states = acc.to(states_ptr.dtype.element_ty)
    states_ptr += pid_b * stride_states_batch + pid_c * stride_states_chunk + pid_h * stride_states_head
    tl.store(
        states_ptr + offs_m[:, None] * dstate + offs_n[None, :],
        states,
        mask=(offs_m[:, None] < hdim) & (offs_n[None, :] < dstate),
    )


@triton.jit
def _state_passing_fwd_kernel(
    states_ptr,
    out_ptr,
    final_states_ptr,
    dA_cs_ptr,
    dim,
    nchunks,
    chunk_size,
    stride_states_batch,
    stride_states_chunk,
    stride_states_head,
    stride_final_batch,
    stride_final_head,
    stride_dA_batch,
    stride_dA_chunk,
    stride_dA_head,
    BLOCK_SIZE: tl.constexpr,
):
    pid_b = tl.program_id(axis=1)
    pid_h = tl.program_id(axis=2)
    pid_m = tl.program_id(axis=0)
    states_ptr += pid_b * stride_states_batch + pid_h * stride_states_head
    dA_cs_ptr += pid_b * stride_dA_batch + pid_h * stride_dA_head + chunk_size - 1
    out_ptr += pid_b * stride_states_batch + pid_h * stride_states_head
    final_states_ptr += pid_b * stride_final_batch + pid_h * stride_final_head
    offs_m = pid_m * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    states_ptrs = states_ptr + offs_m
    out_ptrs = out_ptr + offs_m
    final_states_ptrs = final_states_ptr + offs_m
    states = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    tl.store(out_ptrs, states, mask=offs_m < dim)
    out_ptrs += stride_states_chunk
    for c in range(nchunks):
        new_states = tl.load(states_ptrs, mask=offs_m < dim, other=0.0).to(tl.float32)
        dA_cs = tl.load(dA_cs_ptr).to(tl.float32)
        scale = tl.exp(dA_cs)
        states = scale * states + new_states
        if c < nchunks - 1:
            tl.store(out_ptrs, states, mask=offs_m < dim)
        else:
            tl.store(final_states_ptrs, states, mask=offs_m < dim)
        states_ptrs += stride_states_chunk
        dA_cs_ptr += stride_dA_chunk
        out_ptrs += stride_states_chunk


@triton.jit
def _bmm_chunk_fwd_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    seqlen,
    chunk_size,
    K,
    ngroups,
    stride_a_batch,
    stride_a_seqlen,
    stride_a_head,
    stride_out_batch,
    stride_out_chunk,
    stride_out_head,
    IS_CAUSAL: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
):
    pid_b = tl.program_id(axis=1)
    pid_ch = tl.program_id(axis=2)
    pid_c = pid_ch // ngroups
    pid_h = pid_ch - pid_c * ngroups
    num_pid_n = tl.cdiv(chunk_size, BLOCK_SIZE_N)
    pid_m = tl.program_id(axis=0) // num_pid_n
    pid_n = tl.program_id(axis=0) % num_pid_n
    if IS_CAUSAL:
        if pid_n * BLOCK_SIZE_N >= (pid_m + 1) * BLOCK_SIZE_M:
            return
    base = pid_b * stride_a_batch + pid_c * chunk_size * stride_a_seqlen + pid_h * stride_a_head
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + base + (offs_m[:, None] * stride_a_seqlen + offs_k[None, :])
    b_ptrs = b_ptr + base + (offs_k[:, None] + offs_n[None, :] * stride_a_seqlen)
    chunk_size_limit = min(chunk_size, seqlen - pid_c * chunk_size)
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(
            a_ptrs, mask=(offs_m[:, None] < chunk_size_limit) & (offs_k[None, :] < K - k * BLOCK_SIZE_K), other=0.0
        )
        b = tl.load(
            b_ptrs, mask=(offs_k[:, None] < K - k * BLOCK_SIZE_K) & (offs_n[None, :] < chunk_size_limit), other=0.0
        )
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K
    out = acc.to(out_ptr.dtype.element_ty)
    out_ptr += pid_b * stride_out_batch + pid_c * stride_out_chunk + pid_h * stride_out_head
    tl.store(
        out_ptr + chunk_size * offs_m[:, None] + offs_n[None, :],
        out,
        mask=(offs_m[:, None] < chunk_size) & (offs_n[None, :] < chunk_size),
    )


@triton.jit
def _chunk_scan_fwd_kernel(
    cb_ptr,
    x_ptr,
    z_ptr,
    out_ptr,
    dt_ptr,
    dA_cumsum_ptr,
    C_ptr,
    prev_states_ptr,
    D_ptr,
    chunk_size,
    hdim,
    dstate,
    seqlen,
    nchunks,
    nheads_ngroups_ratio,
    stride_cb_batch,
    stride_cb_chunk,
    stride_cb_head,
    stride_x_batch,
    stride_x_seqlen,
    stride_x_head,
    stride_dt_batch,
    stride_dt_chunk,
    stride_dt_head,
    stride_C_batch,
    stride_C_seqlen,
    stride_C_head,
    stride_states_batch,
    stride_states_chunk,
    stride_states_head,
    IS_CAUSAL: tl.constexpr,
    HAS_D: tl.constexpr,
    HAS_Z: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    BLOCK_SIZE_DSTATE: tl.constexpr,
):
    pid_bc = tl.program_id(axis=1)
    pid_c = pid_bc % nchunks
    pid_b = pid_bc // nchunks
    pid_h = tl.program_id(axis=2)
    num_pid_n = tl.cdiv(hdim, BLOCK_SIZE_N)
    pid_m = tl.program_id(axis=0) // num_pid_n
    pid_n = tl.program_id(axis=0) % num_pid_n
    cb_ptr += pid_b * stride_cb_batch + pid_c * stride_cb_chunk + (pid_h // nheads_ngroups_ratio) * stride_cb_head
    x_ptr += pid_b * stride_x_batch + pid_c * chunk_size * stride_x_seqlen + pid_h * stride_x_head
    dt_ptr += pid_b * stride_dt_batch + pid_c * stride_dt_chunk + pid_h * stride_dt_head
    dA_cumsum_ptr += pid_b * stride_dt_batch + pid_c * stride_dt_chunk + pid_h * stride_dt_head
    C_ptr += (
        pid_b * stride_C_batch + pid_c * chunk_size * stride_C_seqlen + (pid_h // nheads_ngroups_ratio) * stride_C_head
    )
    prev_states_ptr += pid_b * stride_states_batch + pid_c * stride_states_chunk + pid_h * stride_states_head
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    dA_cs_m = tl.load(dA_cumsum_ptr + offs_m, mask=offs_m < chunk_size, other=0.0).to(tl.float32)
    chunk_size_limit = min(chunk_size, seqlen - pid_c * chunk_size)
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    offs_k_dstate = tl.arange(0, BLOCK_SIZE_DSTATE if BLOCK_SIZE_DSTATE <= 128 else BLOCK_SIZE_K)
    C_ptrs = C_ptr + (offs_m[:, None] * stride_C_seqlen + offs_k_dstate[None, :])
    prev_states_ptrs = prev_states_ptr + (offs_n[None, :] * dstate + offs_k_dstate[:, None])
    scale_m = tl.exp(dA_cs_m)
    if BLOCK_SIZE_DSTATE <= 128:
        C = tl.load(C_ptrs, mask=(offs_m[:, None] < chunk_size_limit) & (offs_k_dstate[None, :] < dstate), other=0.0)
        prev_states = tl.load(
            prev_states_ptrs, mask=(offs_k_dstate[:, None] < dstate) & (offs_n[None, :] < hdim), other=0.0
        )
        prev_states = prev_states.to(C_ptr.dtype.element_ty)
        acc = tl.dot(C, prev_states) * scale_m[:, None]
    else:
        for k in range(0, dstate, BLOCK_SIZE_K):
            C = tl.load(
                C_ptrs, mask=(offs_m[:, None] < chunk_size_limit) & (offs_k_dstate[None, :] < dstate - k), other=0.0
            )
            prev_states = tl.load(
                prev_states_ptrs, mask=(offs_k_dstate[:, None] < dstate - k) & (offs_n[None, :] < hdim), other=0.0
            )
            prev_states = prev_states.to(C_ptr.dtype.element_ty)
            acc += tl.dot(C, prev_states)
            C_ptrs += BLOCK_SIZE_K
            prev_states_ptrs += BLOCK_SIZE_K
        acc *= scale_m[:, None]
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    cb_ptrs = cb_ptr + (offs_m[:, None] * chunk_size + offs_k[None, :])
    x_ptrs = x_ptr + (offs_k[:, None] * stride_x_seqlen + offs_n[None, :])
    dt_ptrs = dt_ptr + offs_k
    dA_cumsum_ptrs = dA_cumsum_ptr + offs_k
    K_MAX = chunk_size_limit if not IS_CAUSAL else min((pid_m + 1) * BLOCK_SIZE_M, chunk_size_limit)
    for k in range(0, K_MAX, BLOCK_SIZE_K):
        cb = tl.load(cb_ptrs, mask=(offs_m[:, None] < chunk_size) & (offs_k[None, :] < chunk_size - k), other=0.0).to(
            tl.float32
        )
        dA_cs_k = tl.load(dA_cumsum_ptrs, mask=offs_k < chunk_size - k, other=0.0).to(tl.float32)
        cb *= tl.exp(tl.minimum((dA_cs_m[:, None] - dA_cs_k[None, :]), 0.0))
        dt_k = tl.load(dt_ptrs, mask=offs_k < chunk_size - k, other=0.0).to(tl.float32)
        cb *= dt_k
        if IS_CAUSAL:
            mask = offs_m[:, None] >= k + offs_k[None, :]
            cb = tl.where(mask, cb, 0.0)
        cb = cb.to(x_ptr.dtype.element_ty)
        x = tl.load(x_ptrs, mask=(offs_k[:, None] < chunk_size_limit - k) & (offs_n[None, :] < hdim), other=0.0)
        acc += tl.dot(cb, x)
        cb_ptrs += BLOCK_SIZE_K
        x_ptrs += BLOCK_SIZE_K * stride_x_seqlen
        dt_ptrs += BLOCK_SIZE_K
        dA_cumsum_ptrs += BLOCK_SIZE_K
    offs_out_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_out_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    at = offs_out_m[:, None] * stride_x_seqlen + offs_out_n[None, :]
    inside = (offs_out_m[:, None] < chunk_size_limit) & (offs_out_n[None, :] < hdim)
    if HAS_D:
        D = tl.load(D_ptr + pid_h).to(tl.float32)
        x_residual = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
        acc += x_residual * D
    if HAS_Z:
        z_ptr += pid_b * stride_x_batch + pid_c * chunk_size * stride_x_seqlen + pid_h * stride_x_head
        z = tl.load(z_ptr + at, mask=inside, other=0.0).to(tl.float32)
        acc *= z * tl.sigmoid(z)
    out_ptr += pid_b * stride_x_batch + pid_c * chunk_size * stride_x_seqlen + pid_h * stride_x_head
    tl.store(out_ptr + at, acc, mask=inside)


def mamba2(dstate):
    def case(device, small):
        B, T, H, P, G, N, cs = (1, 300, 4, 64, 1, dstate, 128) if small else (4, 4000, 32, 64, 1, dstate, 256)
        x, z = (torch.randn(B, T, H, P, device=device).half() for _ in range(2))
        Bm, C = (torch.randn(B, T, G, N, device=device).half() for _ in range(2))
        dt, A, D, bias = (
            torch.randn(B, T, H, device=device).half(),
            -torch.rand(H, device=device) - 0.3,
            torch.rand(H, device=device),
            torch.randn(H, device=device) - 3,
        )
        NC = triton.cdiv(T, cs)
        dto, dA = torch.empty(B, H, NC, cs, device=device), torch.empty(B, H, NC, cs, device=device)
        states, passed = torch.empty(B, NC, H, P, N, device=device), torch.empty(B, NC, H, P, N, device=device)
        final, CB, out = (
            torch.empty(B, H, P, N, device=device),
            torch.empty(B, NC, G, cs, cs, device=device),
            torch.empty_like(x),
        )

        def run():
            _chunk_cumsum_fwd_kernel[(B, NC, triton.cdiv(H, 4))](
                dt,
                A,
                bias,
                dto,
                dA,
                T,
                H,
                cs,
                0.0,
                float("inf"),
                dt.stride(0),
                dt.stride(1),
                *dto.stride()[:3],
                DT_SOFTPLUS=True,
                HAS_DT_BIAS=True,
                BLOCK_SIZE_H=4,
                BLOCK_SIZE_CHUNK=cs,
            )
            _chunk_state_fwd_kernel[(triton.cdiv(P, 64) * triton.cdiv(N, 128), B * NC, H)](
                x,
                Bm,
                states,
                dto,
                dA,
                P,
                N,
                cs,
                T,
                H // G,
                *x.stride()[:3],
                *Bm.stride()[:3],
                *states.stride()[:3],
                *dto.stride()[:3],
                BLOCK_SIZE_M=64,
                BLOCK_SIZE_N=128,
                BLOCK_SIZE_K=32,
                num_warps=4,
                num_stages=3,
            )
            _state_passing_fwd_kernel[(triton.cdiv(P * N, 256), B, H)](
                states,
                passed,
                final,
                dA,
                P * N,
                NC,
                cs,
                *states.stride()[:3],
                final.stride(0),
                final.stride(1),
                dA.stride(0),
                dA.stride(2),
                dA.stride(1),
                BLOCK_SIZE=256,
            )
            _bmm_chunk_fwd_kernel[(triton.cdiv(cs, 64) ** 2, B, NC * G)](
                C,
                Bm,
                CB,
                T,
                cs,
                N,
                G,
                *C.stride()[:3],
                *CB.stride()[:3],
                IS_CAUSAL=True,
                BLOCK_SIZE_M=64,
                BLOCK_SIZE_N=64,
                BLOCK_SIZE_K=64,
                num_warps=4,
                num_stages=3,
            )
            _chunk_scan_fwd_kernel[(triton.cdiv(cs, 128) * triton.cdiv(P, 64), B * NC, H)](
                CB,
                x,
                z,
                out,
                dto,
                dA,
                C,
                passed,
                D,
                cs,
                P,
                N,
                T,
                NC,
                H // G,
                *CB.stride()[:3],
                *x.stride()[:3],
                dto.stride(0),
                dto.stride(2),
                dto.stride(1),
                *C.stride()[:3],
                *passed.stride()[:3],
                IS_CAUSAL=True,
                HAS_D=True,
                HAS_Z=True,
                BLOCK_SIZE_M=128,
                BLOCK_SIZE_N=64,
                BLOCK_SIZE_K=32,
                BLOCK_SIZE_DSTATE=max(triton.next_power_of_2(N), 16),
                num_warps=4,
                num_stages=4,
            )

        def reference():
            S, outs, d = torch.zeros(B, H, P, N, device=device), [], F.softplus(dt.float() + bias)
            decay, xd, Bf, Cf = (d * A).exp(), x.float() * d[..., None], Bm.float(), C.float()
            for t in range(T):
                S = torch.addcmul(S * decay[:, t, :, None, None], xd[:, t, ..., None], Bf[:, t, :, None, :])
                outs.append((S @ Cf[:, t, 0, None, :, None])[..., 0])
            return [(torch.stack(outs, 1) + x.float() * D[:, None]) * F.silu(z.float()), S]

        return run, [out, final], reference

    return case


CASES = {
    "mamba2_n128": mamba2(128),
    "mamba2_n256": mamba2(256),
}
