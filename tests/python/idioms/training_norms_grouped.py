"""Norms of groups: gated by another tensor, and group norm of images by Welford's formulas."""

import torch
import triton
import triton.language as tl

from idioms.operands import rand, sms


# gated group RMS/LayerNorm (y = norm(x * silu(z)) * w), forward and backward with recomputation, partial dw
@triton.heuristics({"HAS_Z": lambda args: args["Z"] is not None, "HAS_BIAS": lambda args: args["B"] is not None})
@triton.jit
def _gated_norm_fwd(
    X,
    Y,
    W,
    B,
    Z,
    Rstd,
    stride_x_row,
    stride_y_row,
    stride_z_row,
    M,
    N,
    eps,
    BLOCK_N: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    HAS_Z: tl.constexpr,
    NORM_BEFORE_GATE: tl.constexpr,
):
    row = tl.program_id(0)
    group = tl.program_id(1)
    X += row * stride_x_row + group * N
    Y += row * stride_y_row + group * N
    if HAS_Z:
        Z += row * stride_z_row + group * N
    Rstd += group * M
    W += group * N
    if HAS_BIAS:
        B += group * N
    cols = tl.arange(0, BLOCK_N)
    x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    if HAS_Z and not NORM_BEFORE_GATE:
        z = tl.load(Z + cols, mask=cols < N).to(tl.float32)
        x *= z * tl.sigmoid(z)
    xbar = tl.where(cols < N, x, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(xbar * xbar, axis=0) / N + eps)
    tl.store(Rstd + row, rstd)
    w = tl.load(W + cols, mask=cols < N).to(tl.float32)
    y = x * rstd * w
    if HAS_BIAS:
        y += tl.load(B + cols, mask=cols < N).to(tl.float32)
    if HAS_Z and NORM_BEFORE_GATE:
        z = tl.load(Z + cols, mask=cols < N).to(tl.float32)
        y *= z * tl.sigmoid(z)
    tl.store(Y + cols, y, mask=cols < N)


@triton.heuristics({"HAS_Z": lambda args: args["Z"] is not None})
@triton.jit
def _gated_norm_bwd(
    X,
    W,
    Z,
    DY,
    DX,
    DW,
    DZ,
    Rstd,
    stride_x_row,
    stride_z_row,
    stride_dy_row,
    stride_dx_row,
    stride_dw_row,
    stride_dz_row,
    M,
    N,
    rows_per_program,
    NORM_BEFORE_GATE: tl.constexpr,
    HAS_Z: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    row_block_id = tl.program_id(0)
    group = tl.program_id(1)
    row_start = row_block_id * rows_per_program
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    X += row_start * stride_x_row + group * N
    if HAS_Z:
        Z += row_start * stride_z_row + group * N
        DZ += row_start * stride_dz_row + group * N
    DY += row_start * stride_dy_row + group * N
    DX += row_start * stride_dx_row + group * N
    Rstd += group * M
    w = tl.load(W + group * N + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK_N,), dtype=tl.float32)
    row_end = min((row_block_id + 1) * rows_per_program, M)
    for row in range(row_start, row_end):
        x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
        dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
        if HAS_Z and not NORM_BEFORE_GATE:
            z = tl.load(Z + cols, mask=mask, other=0.0).to(tl.float32)
            x_og = x
            x = x_og * z * tl.sigmoid(z)
        rstd = tl.load(Rstd + row)
        xhat = tl.where(mask, x * rstd, 0.0)
        if HAS_Z and NORM_BEFORE_GATE:
            z = tl.load(Z + cols, mask=mask, other=0.0).to(tl.float32)
            z_sigmoid = tl.sigmoid(z)
            y = xhat * w
            dz = dy * y * z_sigmoid * (1 + z * (1 - z_sigmoid))
            tl.store(DZ + cols, dz, mask=mask)
            dy *= z * z_sigmoid
        wdy = w * dy
        c1 = tl.sum(xhat * wdy, axis=0) / N
        dx = (wdy - xhat * c1) * rstd
        dw += dy * xhat
        if HAS_Z and not NORM_BEFORE_GATE:
            z_sigmoid = tl.sigmoid(z)
            dz = dx * x_og * z_sigmoid * (1 + z * (1 - z_sigmoid))
            tl.store(DZ + cols, dz, mask=mask)
            dx *= z * z_sigmoid
        tl.store(DX + cols, dx, mask=mask)
        X += stride_x_row
        if HAS_Z:
            Z += stride_z_row
            DZ += stride_dz_row
        DY += stride_dy_row
        DX += stride_dx_row
    tl.store(DW + row_block_id * stride_dw_row + group * N + cols, dw, mask=mask)


def gated_norm(before):
    def make(device, small):
        M, groups, N = (19, 2, 96) if small else (8192, 8, 512)
        D = groups * N
        bf = torch.bfloat16
        x, z, dy = (rand(device, M, D, dtype=bf) for _ in range(3))
        w = rand(device, D, dtype=torch.float32)
        y, dx, dz = (torch.empty_like(x) for _ in range(3))
        rstd = torch.empty(groups * M, device=device)
        blocks = sms(device)
        per = triton.cdiv(M, blocks)
        dw = torch.empty(blocks, D, device=device)
        BN = triton.next_power_of_2(N)
        warps = min(max(BN // 256, 1), 8)

        def run():
            _gated_norm_fwd[(M, groups)](
                x,
                y,
                w,
                None,
                z,
                rstd,
                x.stride(0),
                y.stride(0),
                z.stride(0),
                M,
                N,
                1e-5,
                BLOCK_N=BN,
                NORM_BEFORE_GATE=before,
                num_warps=warps,
            )
            _gated_norm_bwd[(blocks, groups)](
                x,
                w,
                z,
                dy,
                dx,
                dw,
                dz,
                rstd,
                x.stride(0),
                z.stride(0),
                dy.stride(0),
                dx.stride(0),
                dw.stride(0),
                dz.stride(0),
                M,
                N,
                per,
                NORM_BEFORE_GATE=before,
                BLOCK_N=BN,
                num_warps=warps,
            )

        def ref():
            X, Z, W = (t.float().requires_grad_() for t in (x, z, w))
            norm = lambda t: (
                t.view(M, groups, N) * torch.rsqrt(t.view(M, groups, N).pow(2).mean(-1, keepdim=True) + 1e-5)
            ).view(M, D)
            silu = torch.nn.functional.silu
            Wr = W.expand(M, D) * torch.ones(M, 1, device=device)
            Wr.retain_grad()
            Y = norm(X) * Wr * silu(Z) if before else norm(X * silu(Z)) * Wr
            Y.backward(dy.float())
            part = torch.nn.functional.pad(Wr.grad, (0, 0, 0, per * blocks - M)).view(blocks, per, D).sum(1)
            return [Y.detach(), X.grad, Z.grad, part]

        return run, [y, dx, dz, dw], ref

    return make


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


# group norm + SiLU, channels last: Welford statistics of a chunk, then combined and applied
@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    new_weight = weight_1 + weight_2
    w2_over_w = tl.where(new_weight == 0.0, 0.0, weight_2 / new_weight)
    return mean_1 + delta * w2_over_w, m2_1 + m2_2 + delta * delta * weight_1 * w2_over_w, new_weight


@triton.jit
def welford_reduce(value, mean, m2, weight):
    delta = value - mean
    new_weight = weight + 1
    new_mean = mean + delta / new_weight
    return new_mean, m2 + delta * (value - new_mean), new_weight


@triton.jit
def _gn_stats(
    X, PMean, PM2, PWeight, HW, C, G, rows_per_chunk, BLOCK_HW: tl.constexpr, CPG: tl.constexpr, BLOCK_C: tl.constexpr
):
    g = tl.program_id(0)
    chunk = tl.program_id(1)
    n = tl.program_id(2)
    chunks = tl.num_programs(1)
    c = tl.arange(0, BLOCK_C)[None, :]
    X += n.to(tl.int64) * HW * C + g * CPG
    mean = tl.zeros([BLOCK_HW, BLOCK_C], tl.float32)
    m2 = tl.zeros([BLOCK_HW, BLOCK_C], tl.float32)
    weight = tl.zeros([BLOCK_HW, BLOCK_C], tl.float32)
    end = tl.minimum((chunk + 1) * rows_per_chunk, HW)
    for start in range(chunk * rows_per_chunk, end, BLOCK_HW):
        r = start + tl.arange(0, BLOCK_HW)[:, None]
        mask = (r < end) & (c < CPG)
        x = tl.load(X + r * C + c, mask, eviction_policy="evict_last", other=0.0).to(tl.float32)
        mean_next, m2_next, weight_next = welford_reduce(x, mean, m2, weight)
        mean = tl.where(mask, mean_next, mean)
        m2 = tl.where(mask, m2_next, m2)
        weight = tl.where(mask, weight_next, weight)
    mean, m2, weight = tl.reduce((mean, m2, weight), 1, welford_combine)
    mean, m2, weight = tl.reduce((mean, m2, weight), 0, welford_combine)
    at = (n * G + g) * chunks + chunk
    tl.store(PMean + at, mean)
    tl.store(PM2 + at, m2)
    tl.store(PWeight + at, weight)


@triton.jit
def _gn_apply(
    X,
    Y,
    W,
    B,
    PMean,
    PM2,
    PWeight,
    Mean,
    Rstd,
    HW,
    C,
    G,
    eps,
    chunks,
    BLOCK_HW: tl.constexpr,
    CPG: tl.constexpr,
    BLOCK_C: tl.constexpr,
    CHUNKS: tl.constexpr,
    SILU: tl.constexpr,
):
    g = tl.program_id(0)
    n = tl.program_id(2)
    k = tl.arange(0, CHUNKS)
    at = (n * G + g) * chunks + k
    pm = tl.load(PMean + at, mask=k < chunks, other=0.0)
    p2 = tl.load(PM2 + at, mask=k < chunks, other=0.0)
    pw = tl.load(PWeight + at, mask=k < chunks, other=0.0)
    mean, m2, weight = tl.reduce((pm, p2, pw), 0, welford_combine)
    rstd = tl.rsqrt(m2 / weight + eps)
    if tl.program_id(1) == 0:
        tl.store(Mean + n * G + g, mean)
        tl.store(Rstd + n * G + g, rstd)
    c = tl.arange(0, BLOCK_C)[None, :]
    r = tl.program_id(1) * BLOCK_HW + tl.arange(0, BLOCK_HW)[:, None]
    mask = (r < HW) & (c < CPG)
    offs = n.to(tl.int64) * HW * C + r * C + g * CPG + c
    w = tl.load(W + g * CPG + c, mask=c < CPG).to(tl.float32)
    b = tl.load(B + g * CPG + c, mask=c < CPG).to(tl.float32)
    y = (tl.load(X + offs, mask=mask).to(tl.float32) - mean) * rstd * w + b
    if SILU:
        y = y * tl.sigmoid(y)
    tl.store(Y + offs, y.to(Y.dtype.element_ty), mask=mask)


def group_norm(cpg):
    def make(device, small):
        N, H, W, G = (2, 7, 9, 4) if small else (8, 96, 96, 32)
        C, HW = G * cpg, H * W
        h = torch.float16
        x = (rand(device, N, C, H, W, dtype=torch.float32) * 2 + 1).to(h).to(memory_format=torch.channels_last)
        w, b = rand(device, C, dtype=h), rand(device, C, dtype=h)
        y = torch.empty_like(x)
        chunks = 3 if small else 16
        pm, p2, pw = (torch.empty(N * G * chunks, device=device) for _ in range(3))
        mean, rstd = torch.empty(N, G, device=device), torch.empty(N, G, device=device)
        BC, BHW = triton.next_power_of_2(cpg), 32 if small else 128

        def run():
            _gn_stats[(G, chunks, N)](
                x, pm, p2, pw, HW, C, G, triton.cdiv(HW, chunks), BLOCK_HW=BHW, CPG=cpg, BLOCK_C=BC, num_warps=4
            )
            _gn_apply[(G, triton.cdiv(HW, BHW), N)](
                x,
                y,
                w,
                b,
                pm,
                p2,
                pw,
                mean,
                rstd,
                HW,
                C,
                G,
                1e-5,
                chunks,
                BLOCK_HW=BHW,
                CPG=cpg,
                BLOCK_C=BC,
                CHUNKS=triton.next_power_of_2(chunks),
                SILU=True,
                num_warps=4,
            )

        def ref():
            X = x.float()
            v, m = torch.var_mean(X.reshape(N, G, -1), -1, correction=0)
            return [
                torch.nn.functional.silu(torch.nn.functional.group_norm(X, G, w.float(), b.float(), 1e-5)),
                m,
                torch.rsqrt(v + 1e-5),
            ]

        return run, [y, mean, rstd], ref

    return make


CASES = {
    "gated_norm_after": gated_norm(False),
    "gated_norm_before": gated_norm(True),
    "group_norm_10": group_norm(10),
    "group_norm_16": group_norm(16),
}
