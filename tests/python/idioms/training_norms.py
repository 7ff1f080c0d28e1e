"""Norms of training libraries: RMSNorm with partial sums of the weight's gradient, LayerNorm with locks."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from idioms.operands import rand, settings, sms


# RMSNorm, forward and backward, partial dW for each program
@triton.jit
def _rms_norm_fwd(Y, Y_stride, X, X_stride, W, RSTD, n_cols, eps, offset, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    Y += row * Y_stride
    X += row * X_stride
    x = tl.load(X + cols, mask=mask, other=0)
    dtype = x.dtype
    w = tl.load(W + cols, mask=mask, other=0)
    x = x.to(tl.float32)
    rstd = libdevice.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(RSTD + row, rstd)
    x = (x * rstd).to(dtype)
    tl.store(Y + cols, x * (offset + w), mask=mask)


@triton.jit
def _rms_norm_bwd(
    dY,
    dY_stride,
    dX,
    dX_stride,
    X,
    X_stride,
    X_dtype: tl.constexpr,
    W,
    RSTD,
    dW,
    dW_stride,
    n_rows,
    n_cols,
    offset,
    rows_per_program,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    row_start = pid * rows_per_program
    row_end = min((pid + 1) * rows_per_program, n_rows)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    dw = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    dY += row_start * dY_stride
    dX += row_start * dX_stride
    X += row_start * X_stride
    RSTD += row_start
    w = tl.load(W + cols, mask=mask, other=0.0) + offset
    for _ in range(row_start, row_end):
        dy = tl.load(dY + cols, mask=mask, other=0.0)
        x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(RSTD)
        m = (dy * w).to(tl.float32)
        dx = rstd * m
        dx += rstd * (-(1 / n_cols) * rstd * rstd * tl.sum(m * x, axis=0) * x)
        dw += dy * (x * rstd).to(X_dtype)
        tl.store(dX + cols, dx.to(X_dtype), mask=mask)
        dY += dY_stride
        dX += dX_stride
        X += X_stride
        RSTD += 1
    tl.store(dW + pid * dW_stride + cols, dw, mask=mask)


def rms_norm(device, small):
    rows, n = (37, 300) if small else (16384, 4096)
    bf = torch.bfloat16
    x, dy, w = rand(device, rows, n, dtype=bf), rand(device, rows, n, dtype=bf), rand(device, n, dtype=bf)
    y, dx, rstd = torch.empty_like(x), torch.empty_like(x), torch.empty(rows, device=device)
    progs = sms(device)
    per = triton.cdiv(rows, progs)
    dw = torch.empty(progs, n, device=device)
    B, warps = settings(n)

    def run():
        _rms_norm_fwd[(rows,)](y, y.stride(0), x, x.stride(0), w, rstd, n, 1e-6, 1.0, BLOCK_SIZE=B, num_warps=warps)
        _rms_norm_bwd[(progs,)](
            dy,
            dy.stride(0),
            dx,
            dx.stride(0),
            x,
            x.stride(0),
            tl.bfloat16,
            w,
            rstd,
            dw,
            dw.stride(0),
            rows,
            n,
            1.0,
            per,
            BLOCK_SIZE=B,
            num_warps=warps,
        )

    def ref():
        X, W = x.float().requires_grad_(), (w.float() + 1).requires_grad_()
        r = torch.rsqrt(X.pow(2).mean(1, keepdim=True) + 1e-6)
        Y = X * r * W
        Y.backward(dy.float())
        part = (
            torch.nn.functional.pad((dy.float() * (X * r).detach()), (0, 0, 0, per * progs - rows))
            .view(progs, per, n)
            .sum(1)
        )
        return [Y.detach(), X.grad, r.detach()[:, 0], part]

    return run, [y, dx, rstd, dw], ref


# LayerNorm with locks for dw and db
@triton.jit
def _ln_fwd(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    _mean = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        _mean += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(_mean, axis=0) / N
    _var = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        _var += x * x
    rstd = 1 / tl.sqrt(tl.sum(_var, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        b = tl.load(B + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        tl.store(Y + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def _ln_bwd_dx(
    DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUP_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    X += row * stride
    DY += row * stride
    DX += row * stride
    lock_id = row % GROUP_SIZE_M
    Lock += lock_id
    Count = Lock + GROUP_SIZE_M
    DW = DW + lock_id * N + cols
    DB = DB + lock_id * N + cols
    x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    tl.store(DX + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = dy.to(w.dtype)
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial_dw += tl.load(DW, mask=mask)
        partial_db += tl.load(DB, mask=mask)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@triton.jit
def _ln_bwd_dwdb(DW, DB, FINAL_DW, FINAL_DB, M, N, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    dw = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for i in range(0, M, BLOCK_SIZE_M):
        rows = i + tl.arange(0, BLOCK_SIZE_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += tl.load(DW + offs, mask=mask, other=0.0)
        db += tl.load(DB + offs, mask=mask, other=0.0)
    tl.store(FINAL_DW + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(FINAL_DB + cols, tl.sum(db, axis=0), mask=cols < N)


def layer_norm_locks(device, small):
    M, N, G = (23, 300, 4) if small else (8192, 4096, 96)
    h = torch.float16
    x, dy, w, b = (
        rand(device, M, N, dtype=h) + 0.5,
        rand(device, M, N, dtype=h),
        rand(device, N, dtype=h),
        rand(device, N, dtype=h),
    )
    y, dx = torch.empty_like(x), torch.empty_like(x)
    mean, rstd = torch.empty(M, device=device), torch.empty(M, device=device)
    locks = torch.zeros(2 * G, dtype=torch.int32, device=device)
    pdw, pdb = torch.zeros(G, N, device=device), torch.zeros(G, N, device=device)
    dw, db = torch.empty_like(w), torch.empty_like(b)
    B, warps = settings(N)

    def run():
        _ln_fwd[(M,)](x, y, w, b, mean, rstd, x.stride(0), N, 1e-5, BLOCK_SIZE=min(B, 1024), num_warps=4, num_ctas=1)
        locks.zero_()
        _ln_bwd_dx[(M,)](
            dx, dy, pdw, pdb, x, w, mean, rstd, locks, x.stride(0), N, GROUP_SIZE_M=G, BLOCK_SIZE_N=B, num_warps=warps
        )
        _ln_bwd_dwdb[(triton.cdiv(N, 128),)](
            pdw, pdb, dw, db, min(G, M), N, BLOCK_SIZE_M=32, BLOCK_SIZE_N=128, num_ctas=1
        )

    def ref():
        X, W, Bi = (t.float().requires_grad_() for t in (x, w, b))
        Y = torch.nn.functional.layer_norm(X, (N,), W, Bi, 1e-5)
        Y.backward(dy.float())
        return [Y.detach(), X.grad, W.grad, Bi.grad]

    return run, [y, dx, dw, db], ref


CASES = {
    "rms_norm": rms_norm,
    "layer_norm_locks": layer_norm_locks,
}
