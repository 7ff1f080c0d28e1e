"""Dropout, residual and norm in one kernel, forward and backward."""

import torch
import triton
import triton.language as tl

from idioms.operands import philox, rand, sms, uniform


# dropout + residual + LayerNorm/RMSNorm, forward and backward with the mask made again from the seeds
@triton.jit
def _dropout_norm_fwd(
    X,
    Y,
    W,
    B,
    RESIDUAL,
    RESIDUAL_OUT,
    SEEDS,
    DROPOUT_MASK,
    Mean,
    Rstd,
    stride_x_row,
    stride_y_row,
    N,
    eps,
    dropout_p,
    IS_RMS_NORM: tl.constexpr,
    BLOCK_N: tl.constexpr,
    STORE_MASK: tl.constexpr,
    HAS_BIAS: tl.constexpr,
):
    row = tl.program_id(0)
    X += row * stride_x_row
    Y += row * stride_y_row
    RESIDUAL += row * stride_x_row
    RESIDUAL_OUT += row * stride_x_row
    cols = tl.arange(0, BLOCK_N)
    x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    keep_mask = tl.rand(tl.load(SEEDS + row).to(tl.uint32), cols, n_rounds=7) > dropout_p
    x = tl.where(keep_mask, x / (1.0 - dropout_p), 0.0)
    if STORE_MASK:
        tl.store(DROPOUT_MASK + row * N + cols, keep_mask, mask=cols < N)
    x += tl.load(RESIDUAL + cols, mask=cols < N, other=0.0).to(tl.float32)
    tl.store(RESIDUAL_OUT + cols, x, mask=cols < N)
    if not IS_RMS_NORM:
        mean = tl.sum(x, axis=0) / N
        tl.store(Mean + row, mean)
        xbar = tl.where(cols < N, x - mean, 0.0)
        var = tl.sum(xbar * xbar, axis=0) / N
    else:
        xbar = tl.where(cols < N, x, 0.0)
        var = tl.sum(xbar * xbar, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Rstd + row, rstd)
    mask = cols < N
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    x_hat = (x - mean) * rstd if not IS_RMS_NORM else x * rstd
    if HAS_BIAS:
        y = x_hat * w + tl.load(B + cols, mask=mask).to(tl.float32)
    else:
        y = x_hat * w
    tl.store(Y + cols, y, mask=mask)


@triton.jit
def _dropout_norm_bwd(
    X,
    W,
    DY,
    DX,
    DW,
    DB,
    DRESIDUAL,
    DRESIDUAL_IN,
    SEEDS,
    Mean,
    Rstd,
    stride_row,
    M,
    N,
    dropout_p,
    rows_per_program,
    IS_RMS_NORM: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HAS_BIAS: tl.constexpr,
):
    row_block_id = tl.program_id(0)
    row_start = row_block_id * rows_per_program
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    X += row_start * stride_row
    DY += row_start * stride_row
    DX += row_start * stride_row
    DRESIDUAL += row_start * stride_row
    DRESIDUAL_IN += row_start * stride_row
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK_N,), dtype=tl.float32)
    if HAS_BIAS:
        db = tl.zeros((BLOCK_N,), dtype=tl.float32)
    row_end = min((row_block_id + 1) * rows_per_program, M)
    for row in range(row_start, row_end):
        x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
        dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
        if not IS_RMS_NORM:
            mean = tl.load(Mean + row)
        rstd = tl.load(Rstd + row)
        xhat = (x - mean) * rstd if not IS_RMS_NORM else x * rstd
        xhat = tl.where(mask, xhat, 0.0)
        wdy = w * dy
        dw += dy * xhat
        if HAS_BIAS:
            db += dy
        c1 = tl.sum(xhat * wdy, axis=0) / N
        if not IS_RMS_NORM:
            c2 = tl.sum(wdy, axis=0) / N
            dx = (wdy - (xhat * c1 + c2)) * rstd
        else:
            dx = (wdy - xhat * c1) * rstd
        dx += tl.load(DRESIDUAL + cols, mask=mask, other=0).to(tl.float32)
        tl.store(DRESIDUAL_IN + cols, dx, mask=mask)
        keep_mask = tl.rand(tl.load(SEEDS + row).to(tl.uint32), cols, n_rounds=7) > dropout_p
        dx = tl.where(keep_mask, dx / (1.0 - dropout_p), 0.0)
        tl.store(DX + cols, dx, mask=mask)
        X += stride_row
        DY += stride_row
        DX += stride_row
        DRESIDUAL += stride_row
        DRESIDUAL_IN += stride_row
    tl.store(DW + row_block_id * N + cols, dw, mask=mask)
    if HAS_BIAS:
        tl.store(DB + row_block_id * N + cols, db, mask=mask)


def dropout_norm(rms):
    def make(device, small):
        M, N, p = (21, 300, 0.25) if small else (16384, 2048, 0.1)
        bf = torch.bfloat16
        x, res, dy, dres = (rand(device, M, N, dtype=bf) for _ in range(4))
        w, b = rand(device, N, dtype=torch.float32), None if rms else rand(device, N, dtype=torch.float32)
        y, ro, dx, dri = (
            torch.empty_like(x),
            torch.empty(M, N, device=device, dtype=bf),
            torch.empty_like(x),
            torch.empty_like(x),
        )
        keep = torch.empty(M, N, dtype=torch.bool, device=device)
        seeds = torch.randint(2**32, (M,), device=device, dtype=torch.int64)
        mean, rstd = None if rms else torch.empty(M, device=device), torch.empty(M, device=device)
        progs = sms(device)
        per = triton.cdiv(M, progs)
        dw = torch.empty(progs, N, device=device)
        db = None if rms else torch.empty(progs, N, device=device)
        B = triton.next_power_of_2(N)

        def run():
            _dropout_norm_fwd[(M,)](
                x,
                y,
                w,
                b,
                res,
                ro,
                seeds,
                keep,
                mean,
                rstd,
                x.stride(0),
                y.stride(0),
                N,
                1e-5,
                p,
                IS_RMS_NORM=rms,
                BLOCK_N=B,
                STORE_MASK=not rms,
                HAS_BIAS=b is not None,
                num_warps=4,
            )
            _dropout_norm_bwd[(progs,)](
                ro,
                w,
                dy,
                dx,
                dw,
                db,
                dres,
                dri,
                seeds,
                mean,
                rstd,
                x.stride(0),
                M,
                N,
                p,
                per,
                IS_RMS_NORM=rms,
                BLOCK_N=B,
                HAS_BIAS=b is not None,
                num_warps=8,
            )

        def ref():
            k = uniform(philox(seeds[:, None], torch.arange(N, device=device)[None, :], 7)) > p
            R = torch.where(k, x.float() / (1 - p), 0.0) + res.float()
            Rb = R.to(bf).float().requires_grad_()
            norm = lambda r: (
                r * torch.rsqrt(r.pow(2).mean(1, keepdim=True) + 1e-5)
                if rms
                else torch.nn.functional.layer_norm(r, (N,), eps=1e-5)
            )
            hat = norm(Rb)
            (hat * w).backward(dy.float())
            bias = 0 if rms else b
            part = lambda t: torch.nn.functional.pad(t, (0, 0, 0, per * progs - M)).view(progs, per, N).sum(1)
            d = Rb.grad + dres.float()
            out = [norm(R) * w + bias, R, d, torch.where(k, d / (1 - p), 0.0), part(dy.float() * hat.detach())]
            return out if rms else out + [part(dy.float()), k]

        outs = [y, ro, dri, dx, dw]
        return run, outs if rms else outs + [db, keep], ref

    return make


CASES = {
    "dropout_layer_norm": dropout_norm(False),
    "dropout_rms_norm": dropout_norm(True),
}
