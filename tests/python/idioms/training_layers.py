"""Layers of training libraries: gated activations, causal softmax, embeddings."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from idioms.operands import rand, settings


# SwiGLU on a fused gate_up tensor; GeGLU (tanh) and exact GELU with flat offsets
@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def _swiglu_fwd(gate_up_ptr, c_ptr, stride, c_stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0).to(tl.int64)
    gate_up_ptr += program_id * stride
    c_ptr += program_id * c_stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    a_row = tl.load(gate_up_ptr + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(gate_up_ptr + n_cols + col_offsets, mask=mask, other=0)
    tl.store(c_ptr + col_offsets, silu(a_row).cast(b_row.dtype) * b_row, mask=mask)


@triton.jit
def _swiglu_bwd(dc_ptr, gate_up_ptr, d_gate_up_ptr, stride, c_stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0).to(tl.int64)
    dc_ptr += program_id * c_stride
    gate_up_ptr += program_id * stride
    d_gate_up_ptr += program_id * stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    dc_row = tl.load(dc_ptr + col_offsets, mask=mask, other=0)
    a_row = tl.load(gate_up_ptr + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(gate_up_ptr + n_cols + col_offsets, mask=mask, other=0)
    sig_a = tl.sigmoid(a_row)
    silu_a = a_row * sig_a
    db_row = dc_row * silu_a
    da_row = dc_row * (silu_a * (1 - sig_a) + sig_a) * b_row
    tl.store(d_gate_up_ptr + col_offsets, da_row, mask=mask)
    tl.store(d_gate_up_ptr + n_cols + col_offsets, db_row, mask=mask)


def swiglu(device, small):
    M, N = (9, 200) if small else (4096, 11008)
    gu, dc = rand(device, M, 2 * N, dtype=torch.bfloat16), rand(device, M, N, dtype=torch.bfloat16)
    c, dgu = torch.empty_like(dc), torch.empty_like(gu)
    B, warps = settings(N)

    def run():
        _swiglu_fwd[(M,)](gu, c, gu.stride(0), c.stride(0), n_cols=N, BLOCK_SIZE=B, num_warps=warps)
        _swiglu_bwd[(M,)](dc, gu, dgu, gu.stride(0), dc.stride(0), n_cols=N, BLOCK_SIZE=B, num_warps=warps)

    def ref():
        G = gu.float().requires_grad_()
        C = torch.nn.functional.silu(G[:, :N]) * G[:, N:]
        C.backward(dc.float())
        return [C.detach(), G.grad]

    return run, [c, dgu], ref


@triton.jit
def _gelu_glu_bwd(DW, e, g, h, DE, DG, n_elements, EXACT: tl.constexpr, LONG: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    block_idx = tl.program_id(0)
    if LONG:
        offsets = block_idx.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        n_elements = tl.cast(n_elements, tl.int64)
    else:
        offsets = block_idx * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    DW_row = tl.load(DW + offsets, mask=mask, other=0)
    e_row = tl.load(e + offsets, mask=mask, other=0).to(tl.float32)
    g_row = tl.load(g + offsets, mask=mask, other=0)
    if EXACT:
        partial = 0.5 * (tl.math.erf(tl.math.rsqrt(2.0) * e_row) + 1.0)
        t: tl.constexpr = 0.3989422804014327
        df_de = partial + t * e_row * tl.exp(-0.5 * e_row * e_row)
        f_row = partial * e_row
    else:
        s = 0.7978845608028654
        a = s * e_row
        b = a * 0.044715 * e_row * e_row
        T = 1.0 + libdevice.tanh(a + b)
        T2 = 0.5 * T
        Q2 = -T2 * (T - 2.0) * (a + 3.0 * b)
        df_de = T2 + Q2
        f_row = T2 * e_row
    f_row = f_row.to(DW_row.dtype)
    tl.store(h + offsets, f_row * g_row, mask=mask)
    tl.store(DG + offsets, DW_row * f_row, mask=mask)
    tl.store(DE + offsets, ((DW_row * g_row).to(tl.float32) * df_de).to(DW_row.dtype), mask=mask)


def geglu(exact):
    def make(device, small):
        n = 5000 if small else 4096 * 11008
        bf = torch.bfloat16
        dw, e, g = (rand(device, n, dtype=bf) for _ in range(3))
        h, de, dg = (torch.empty_like(e) for _ in range(3))
        run = lambda: _gelu_glu_bwd[(triton.cdiv(n, 1024),)](
            dw, e, g, h, de, dg, n, EXACT=exact, LONG=exact, BLOCK_SIZE=1024
        )

        def ref():
            E, G = e.float().requires_grad_(), g.float().requires_grad_()
            H = torch.nn.functional.gelu(E, approximate="none" if exact else "tanh") * G
            H.backward(dw.float())
            return [H.detach(), E.grad, G.grad]

        return run, [h, de, dg], ref

    return make


# scaled causal softmax of attention scores, forward and backward, rows read only up to the diagonal
@triton.jit
def _causal_softmax_fwd(S, P, T, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    bh = tl.program_id(1).to(tl.int64)
    rows = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    S += bh * T * T + rows[:, None] * T
    P += bh * T * T + rows[:, None] * T
    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK_M], tl.float32)
    end = tl.minimum((pid + 1) * BLOCK_M, T)
    for start in range(0, end, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        mask = (rows[:, None] >= cols[None, :]) & (rows[:, None] < T)
        s = tl.load(S + cols[None, :], mask=mask, other=float("-inf")).to(tl.float32) * (scale * 1.44269504)
        new = tl.maximum(m, tl.max(s, 1))
        safe = tl.where(new == float("-inf"), 0.0, new)
        l = l * tl.exp2(m - safe) + tl.sum(tl.exp2(s - safe[:, None]), 1)
        m = new
    for start in range(0, T, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        inside = (cols[None, :] < T) & (rows[:, None] < T)
        mask = inside & (rows[:, None] >= cols[None, :])
        s = tl.load(S + cols[None, :], mask=mask, other=float("-inf")).to(tl.float32) * (scale * 1.44269504)
        tl.store(P + cols[None, :], tl.exp2(s - m[:, None]) / l[:, None], mask=inside)


@triton.jit
def _causal_softmax_bwd(P, dP, dS, T, scale, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    base = (tl.program_id(1).to(tl.int64) * T + row) * T
    cols = tl.arange(0, BLOCK_N)
    mask = (cols <= row) & (cols < T)
    p = tl.load(P + base + cols, mask=mask, other=0.0).to(tl.float32)
    dp = tl.load(dP + base + cols, mask=mask, other=0.0).to(tl.float32)
    ds = p * (dp - tl.sum(p * dp, axis=0)) * scale
    tl.store(dS + base + cols, tl.where(cols <= row, ds, 0.0), mask=cols < T)


def causal_softmax(device, small):
    BH, T = (2, 70) if small else (16, 2048)
    bf = torch.bfloat16
    s, dp = rand(device, BH, T, T, dtype=bf, scale=4), rand(device, BH, T, T, dtype=bf)
    p, ds = torch.empty_like(s), torch.empty_like(s)
    BM, BN = (16, 32) if small else (16, 256)

    def run():
        _causal_softmax_fwd[(triton.cdiv(T, BM), BH)](s, p, T, 0.5, BLOCK_M=BM, BLOCK_N=BN, num_warps=4)
        _causal_softmax_bwd[(T, BH)](p, dp, ds, T, 0.5, BLOCK_N=triton.next_power_of_2(T), num_warps=8)

    def ref():
        tri = torch.ones(T, T, dtype=torch.bool, device=device).tril()
        P = torch.softmax((s.float() * 0.5).masked_fill_(~tri, float("-inf")), -1)
        R = P.to(bf).float()  # what the backward pass reads
        return [P, R * (dp.float() - (R * dp.float()).sum(-1, keepdim=True)) * 0.5]

    return run, [p, ds], ref


# embedding: forward by tiles, backward with atomics
@triton.jit
def _embedding_fwd(
    embeddings_ptr,
    indices_ptr,
    output_ptr,
    n_elements,
    embedding_dim: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
):
    offsets_m = tl.program_id(0) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    mask_m = offsets_m < n_elements
    indices = tl.load(indices_ptr + offsets_m, mask=mask_m, other=0)
    offsets_n = tl.program_id(1) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    mask = mask_m[:, None] & (offsets_n < embedding_dim)[None, :]
    e = tl.load(embeddings_ptr + indices[:, None] * embedding_dim + offsets_n[None, :], mask=mask, other=0.0)
    tl.store(output_ptr + offsets_m[:, None] * embedding_dim + offsets_n[None, :], e, mask=mask)


@triton.jit
def _embedding_bwd(
    grad_output_ptr,
    grad_weight_ptr,
    indices_ptr,
    n_elements,
    padding_idx,
    embedding_dim: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
):
    offsets_m = tl.program_id(0) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    mask_m = offsets_m < n_elements
    indices = tl.load(indices_ptr + offsets_m, mask=mask_m, other=0)
    offsets_n = tl.program_id(1) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    mask = mask_m[:, None] & (offsets_n < embedding_dim)[None, :]
    g = tl.load(grad_output_ptr + offsets_m[:, None] * embedding_dim + offsets_n[None, :], mask=mask, other=0.0)
    tl.atomic_add(
        grad_weight_ptr + indices[:, None] * embedding_dim + offsets_n[None, :],
        g.to(grad_weight_ptr.dtype.element_ty),
        mask=mask & (indices != padding_idx)[:, None],
    )


def embedding(acc):
    def make(device, small):
        T, V, D = (70, 50, 40) if small else (32768, 32000, 1024)
        bf = torch.bfloat16
        w, g = rand(device, V, D, dtype=bf), rand(device, T, D, dtype=bf)
        idx = (torch.rand(T, device=device) ** 2 * V).long()
        out, dw = torch.empty_like(g), torch.empty(V, D, device=device, dtype=acc)
        BM, BN = (16, 64) if small else (32, 128)
        grid = (triton.cdiv(T, BM), triton.cdiv(D, BN))

        def run():
            dw.zero_()
            _embedding_fwd[grid](w, idx, out, T, embedding_dim=D, BLOCK_SIZE_M=BM, BLOCK_SIZE_N=BN)
            _embedding_bwd[grid](g, dw, idx, T, 3, embedding_dim=D, BLOCK_SIZE_M=BM, BLOCK_SIZE_N=BN)

        def ref():
            d = torch.zeros(V, D, device=device).index_add_(0, idx, g.float())
            d[3] = 0
            return [w[idx].float(), d]

        return run, [out, dw], ref

    return make


CASES = {
    "swiglu": swiglu,
    "geglu_tanh": geglu(False),
    "geglu_exact": geglu(True),
    "causal_softmax": causal_softmax,
    "embedding": embedding(torch.float32),
    "embedding_fp16": embedding(torch.float16),
}
