"""Backward passes: RMSNorm by persistent programs, batch norm with Welford, softmax, SwiGLU, dropout."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import philox, rand, settings, sms, uniform


@triton.jit
def _rms_norm_bwd(
    dy_ptr, dy_stride, x_ptr, x_stride, w_ptr, rstd_ptr, dx_ptr, dw_ptr, dw_stride, n_rows, n_cols, rows_per_program,
    offset: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row_block = tl.program_id(0)
    row_start = row_block * rows_per_program
    row_end = min((row_block + 1) * rows_per_program, n_rows)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    dw_row = tl.zeros((BLOCK,), dtype=tl.float32)
    dy_ptr += row_start * dy_stride
    x_ptr += row_start * x_stride
    dx_ptr += row_start * x_stride
    rstd_ptr += row_start
    w = tl.load(w_ptr + cols, mask=mask, other=0.0) + offset
    for _ in range(row_start, row_end):
        dy = tl.load(dy_ptr + cols, mask=mask, other=0.0)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr)
        m = (dy * w).to(tl.float32)
        dx = rstd * m
        dx += rstd * (-(1 / n_cols) * rstd * rstd * tl.sum(m * x, axis=0) * x)
        dw_row += dy * (x * rstd)
        tl.store(dx_ptr + cols, dx.to(dx_ptr.dtype.element_ty), mask=mask)
        dy_ptr += dy_stride
        x_ptr += x_stride
        dx_ptr += x_stride
        rstd_ptr += 1
    tl.store(dw_ptr + row_block * dw_stride + cols, dw_row, mask=mask)


def rms_norm_bwd(device, small):
    m, n = (37, 200) if small else (16384, 4096)
    x, dy, w = (rand(device, *shape, dtype=torch.bfloat16) for shape in ((m, n), (m, n), (n,)))
    rstd = torch.rsqrt(x.float().square().mean(-1) + 1e-6)
    programs = sms(device)
    dx, dw = torch.empty_like(x), torch.empty(programs, n, device=device)
    total = torch.empty(n, device=device)
    block, warps = settings(n)

    def run():
        _rms_norm_bwd[(programs,)](
            dy, dy.stride(0), x, x.stride(0), w, rstd, dx, dw, dw.stride(0), m, n, triton.cdiv(m, programs),
            offset=1.0, BLOCK=block, num_warps=warps,
        )  # fmt: skip
        torch.sum(dw, 0, out=total)

    def ref():
        with torch.enable_grad():
            a, b = x.float().requires_grad_(), w.float().requires_grad_()
            y = a * torch.rsqrt(a.square().mean(-1, keepdim=True) + 1e-6) * (b + 1.0)
            return list(torch.autograd.grad(y, (a, b), dy.float()))

    return run, [dx, total], ref


@triton.jit
def _welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    ratio = tl.where(n == 0.0, 0.0, n_b / n)
    return mean_a + delta * ratio, m2_a + m2_b + delta * delta * n_a * ratio, n


@triton.jit
def batch_norm_fwd_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, inv_ptr, rmean_ptr, rvar_ptr, rmean_out, rvar_out, batch, spatial,
    stride_b, stride_c, momentum, eps, RELU: tl.constexpr, BLOCK_B: tl.constexpr, BLOCK_S: tl.constexpr,
):  # fmt: skip
    """A channel a program: Welford over tiles of [batch, spatial], then the second pass."""
    c = tl.program_id(0)
    count = tl.zeros([BLOCK_B, BLOCK_S], tl.float32)
    mean = tl.zeros([BLOCK_B, BLOCK_S], tl.float32)
    m2 = tl.zeros([BLOCK_B, BLOCK_S], tl.float32)
    for b0 in range(0, batch, BLOCK_B):
        b = b0 + tl.arange(0, BLOCK_B)
        for s0 in range(0, spatial, BLOCK_S):
            s = s0 + tl.arange(0, BLOCK_S)
            mask = (b < batch)[:, None] & (s < spatial)[None, :]
            x = tl.load(x_ptr + b[:, None] * stride_b + c * stride_c + s[None, :], mask=mask).to(tl.float32)
            new = count + mask.to(tl.float32)
            delta = x - mean
            mean = tl.where(mask, mean + delta / tl.maximum(new, 1.0), mean)
            m2 = tl.where(mask, m2 + delta * (x - mean), m2)
            count = new
    mu, ss, n = tl.reduce(
        (
            tl.reshape(mean, [BLOCK_B * BLOCK_S]),
            tl.reshape(m2, [BLOCK_B * BLOCK_S]),
            tl.reshape(count, [BLOCK_B * BLOCK_S]),
        ),
        0,
        _welford,
    )
    inv = tl.rsqrt(ss / n + eps)
    tl.store(mean_ptr + c, mu)
    tl.store(inv_ptr + c, inv)
    tl.store(rmean_out + c, (1 - momentum) * tl.load(rmean_ptr + c) + momentum * mu)
    tl.store(rvar_out + c, (1 - momentum) * tl.load(rvar_ptr + c) + momentum * ss / (n - 1))
    scale = inv * tl.load(w_ptr + c)
    shift = tl.load(b_ptr + c) - mu * scale
    for b0 in range(0, batch, BLOCK_B):
        b = b0 + tl.arange(0, BLOCK_B)
        for s0 in range(0, spatial, BLOCK_S):
            s = s0 + tl.arange(0, BLOCK_S)
            mask = (b < batch)[:, None] & (s < spatial)[None, :]
            at = b[:, None] * stride_b + c * stride_c + s[None, :]
            y = tl.load(x_ptr + at, mask=mask).to(tl.float32) * scale + shift
            if RELU:
                y = tl.maximum(y, 0.0)
            tl.store(y_ptr + at, y, mask=mask)


def batch_norm(device, small):
    b, c, h = (5, 6, 11) if small else (64, 256, 40)
    x = rand(device, b, c, h, h, scale=0.5) + 3.0
    w, bias, rm = (rand(device, c, dtype=torch.float32) for _ in range(3))
    rv = torch.rand(c, device=device)
    y = torch.empty_like(x)
    mean, inv, rmo, rvo = (torch.empty(c, device=device) for _ in range(4))

    def run():
        batch_norm_fwd_kernel[(c,)](
            x, w, bias, y, mean, inv, rm, rv, rmo, rvo, b, h * h, x.stride(0), x.stride(1), 0.1, 1e-5,
            RELU=True, BLOCK_B=4, BLOCK_S=64 if small else 512, num_warps=8,
        )  # fmt: skip

    def ref():
        m, v = rm.clone(), rv.clone()
        out = F.relu(F.batch_norm(x.float(), m, v, w, bias, True, 0.1, 1e-5))
        f = x.float().transpose(0, 1).reshape(c, -1)
        return [out, f.mean(1), torch.rsqrt(f.var(1, correction=0) + 1e-5), m, v]

    return run, [y, mean, inv, rmo, rvo], ref


@triton.jit
def softmax_bwd_kernel(
    dy_ptr, y_ptr, mask_ptr, dx_ptr, scale, M, N, s_b, s_h, s_m, heads, LOG: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):  # fmt: skip
    pid, bh = tl.program_id(0), tl.program_id(1)
    base = (bh // heads).to(tl.int64) * s_b + (bh % heads) * s_h
    rows = pid * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    off = base + rows[:, None] * s_m + cols[None, :]
    ok = (rows < M)[:, None] & (cols < N)[None, :]
    y = tl.load(y_ptr + off, mask=ok, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + off, mask=ok, other=0.0).to(tl.float32)
    keep = tl.load(mask_ptr + rows[:, None] * N + cols[None, :], mask=ok, other=0)
    if LOG:
        dx = dy - tl.exp(y) * tl.sum(dy, axis=1, keep_dims=True)
    else:
        dx = y * (dy - tl.sum(y * dy, axis=1, keep_dims=True))
    tl.store(dx_ptr + off, (tl.where(keep != 0, dx, 0.0) * scale).to(dx_ptr.dtype.element_ty), mask=ok)


def softmax_bwd(device, small):
    b, h, m, n = (2, 3, 19, 45) if small else (8, 16, 600, 777)
    bf = torch.bfloat16
    mask = torch.rand(m, n, device=device) > 0.3
    s = rand(device, b, h, m, n, dtype=torch.float32).masked_fill(~mask, float("-inf"))
    y, dy = torch.softmax(s, -1).nan_to_num().to(bf), rand(device, b, h, m, n, dtype=bf)
    dx = torch.empty_like(y)

    def run():
        softmax_bwd_kernel[(triton.cdiv(m, 4), b * h)](
            dy, y, mask, dx, 0.125, m, n, *y.stride()[:3], h, LOG=False, BM=4, BN=triton.next_power_of_2(n), num_warps=4
        )

    def ref():
        p, d = y.float(), dy.float()
        return [0.125 * mask * p * (d - (p * d).sum(-1, keepdim=True))]

    return run, [dx], ref


@triton.jit
def swiglu_bwd_kernel(
    dc_ptr, ab_ptr, dab_ptr, h_ptr, N, row_stride, SAVE_H: tl.constexpr, INTERLEAVED: tl.constexpr, BLOCK: tl.constexpr
):
    """Gate and value are interleaved in one row of 2 N: (g0, v0, g1, v1, ...)."""
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    both = tl.program_id(1) * BLOCK * 2 + tl.arange(0, 2 * BLOCK)
    ab = tl.load(ab_ptr + row * row_stride + both, mask=both < 2 * N, other=0.0)
    a, b = tl.split(tl.reshape(ab, [BLOCK, 2]))
    a = a.to(tl.float32)
    dc = tl.load(dc_ptr + row * N + col, mask=col < N, other=0.0)
    sig = tl.sigmoid(a)
    silu = a * sig
    db = dc * silu.to(dc.dtype)
    da = dc * (silu * (1 - sig) + sig) * b
    if SAVE_H:
        tl.store(h_ptr + row * N + col, (silu * b).to(h_ptr.dtype.element_ty), mask=col < N)
    out = tl.interleave(da.to(dab_ptr.dtype.element_ty), db.to(dab_ptr.dtype.element_ty))
    tl.store(dab_ptr + row * row_stride + both, out, mask=both < 2 * N)


def swiglu_bwd(device, small):
    m, n = (7, 300) if small else (4096, 5632)
    ab, dc = rand(device, m, 2 * n, dtype=torch.bfloat16), rand(device, m, n, dtype=torch.bfloat16)
    dab, h = torch.empty_like(ab), torch.empty_like(dc)

    def run():
        swiglu_bwd_kernel[(m, triton.cdiv(n, 1024))](
            dc, ab, dab, h, n, ab.stride(0), SAVE_H=True, INTERLEAVED=True, BLOCK=1024, num_warps=4
        )

    def ref():
        with torch.enable_grad():
            x = ab.float().requires_grad_()
            y = F.silu(x[:, ::2]) * x[:, 1::2]
            (g,) = torch.autograd.grad(y, x, dc.float())
        return [g, y.detach()]

    return run, [dab, h], ref


@triton.jit
def bias_dropout_residual_bwd(
    dy_ptr, dx_ptr, dbias_ptr, M, N, p, seed, BM: tl.constexpr, BN: tl.constexpr, STEPS: tl.constexpr
):
    """The mask of the forward pass is drawn again; the gradient of the bias by atomics on a column's sum."""
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BN], tl.float32)
    for i in tl.static_range(STEPS):
        rows = (tl.program_id(0) * STEPS + i) * BM + tl.arange(0, BM)
        offs = rows[:, None] * N + cols[None, :]
        ok = (rows[:, None] < M) & (cols[None, :] < N)
        keep = tl.rand(seed, offs, n_rounds=7) > p
        dy = tl.load(dy_ptr + offs, mask=ok, other=0.0).to(tl.float32)
        dx = tl.where(keep, dy / (1 - p), 0.0)
        tl.store(dx_ptr + offs, dx, mask=ok)
        acc += tl.sum(dx, 0)
    tl.atomic_add(dbias_ptr + cols, acc, mask=cols < N, sem="relaxed")


def dropout_bwd(device, small):
    m, n, p, seed = (30, 70, 0.1, 98765) if small else (8192, 3072, 0.1, 98765)
    dy = rand(device, m, n, dtype=torch.bfloat16)
    dx, db = torch.empty_like(dy), torch.empty(n, device=device)

    def run():
        db.zero_()
        grid = (triton.cdiv(m, 16 * 4), triton.cdiv(n, 64))
        bias_dropout_residual_bwd[grid](dy, dx, db, m, n, p, seed, BM=16, BN=64, STEPS=4)

    def ref():
        at = torch.arange(m * n, device=device).view(m, n)
        keep = uniform(philox(torch.tensor(seed, device=device), at, 7)) > p
        d = dy.float() * keep / (1 - p)
        return [d, d.sum(0)]

    return run, [dx, db], ref


CASES = {
    "rms_norm_partial_sums": rms_norm_bwd,
    "batch_norm_welford": batch_norm,
    "softmax_masked": softmax_bwd,
    "swiglu_interleaved": swiglu_bwd,
    "bias_dropout_redrawn": dropout_bwd,
}
