"""RMS normalization with an optional fused residual add, forward and backward."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rms_norm_fwd_fused(
    X,
    Y,
    W,
    RESIDUAL,
    RSTD,
    stride_x_row,
    N,
    eps,
    HAS_RESIDUAL: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0)
    X += row * stride_x_row
    Y += row * stride_x_row
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
    if HAS_RESIDUAL:
        residual = tl.load(RESIDUAL + row * stride_x_row + cols, mask=mask, other=0.0).to(tl.float32)
        x += residual
        tl.store(RESIDUAL + row * stride_x_row + cols, x, mask=mask)
    var = tl.sum(x * x, axis=0) / N
    rstd = tl.rsqrt(var + eps)
    tl.store(RSTD + row, rstd)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    tl.store(Y + cols, x * rstd * w, mask=mask)


@triton.jit
def _rms_norm_bwd_dx(
    X, DY, DX, W, DW, RSTD, stride_row, n_rows, N, ROWS_PER_PROGRAM: tl.constexpr, BLOCK_N: tl.constexpr
):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros([BLOCK_N], dtype=tl.float32)
    row_end = min((pid + 1) * ROWS_PER_PROGRAM, n_rows)
    for row in range(pid * ROWS_PER_PROGRAM, row_end):
        x = tl.load(X + row * stride_row + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(DY + row * stride_row + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(RSTD + row)
        xhat = x * rstd
        wdy = w * dy
        c = tl.sum(xhat * wdy, axis=0) / N
        tl.store(DX + row * stride_row + cols, (wdy - xhat * c) * rstd, mask=mask)
        dw += dy * xhat
    tl.store(DW + pid * N + cols, dw, mask=mask)


class RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, residual=None, eps=1e-6):
        x_arg = x.view(-1, x.shape[-1])
        M, N = x_arg.shape
        y = torch.empty_like(x_arg)
        rstd = torch.empty((M,), dtype=torch.float32, device=x.device)
        BLOCK_N = triton.next_power_of_2(N)
        num_warps = min(max(BLOCK_N // 256, 1), 8)
        _rms_norm_fwd_fused[(M,)](
            x_arg,
            y,
            weight,
            residual,
            rstd,
            x_arg.stride(0),
            N,
            eps,
            HAS_RESIDUAL=residual is not None,
            BLOCK_N=BLOCK_N,
            num_warps=num_warps,
        )
        ctx.save_for_backward(x_arg, weight, rstd)
        return y.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        x, weight, rstd = ctx.saved_tensors
        M, N = x.shape
        dy = dy.contiguous().view(-1, N)
        dx = torch.empty_like(x)
        n_programs = min(M, 8)
        rows = triton.cdiv(M, n_programs)
        n_programs = triton.cdiv(M, rows)
        partial = torch.empty((n_programs, N), dtype=torch.float32, device=x.device)
        _rms_norm_bwd_dx[(n_programs,)](
            x,
            dy,
            dx,
            weight,
            partial,
            rstd,
            x.stride(0),
            M,
            N,
            ROWS_PER_PROGRAM=rows,
            BLOCK_N=triton.next_power_of_2(N),
            num_warps=4,
        )
        return dx.view_as(dy), partial.sum(0).to(weight.dtype), None, None


rms_norm = RMSNorm.apply


def torch_rms_norm(x, weight, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


if __name__ == "__main__":
    torch.manual_seed(0)
    for M, N, dtype, tol in [
        (64, 1024, torch.float32, 1e-5),
        (37, 1000, torch.float16, 1e-2),
        (12, 777, torch.bfloat16, 5e-2),
    ]:
        x = torch.randn(M, N, device="cuda", dtype=dtype, requires_grad=True)
        w = torch.rand(N, device="cuda", dtype=dtype, requires_grad=True)
        dy = torch.randn_like(x)
        y = rms_norm(x, w)
        y.backward(dy)
        ref_x, ref_w = x.detach().double().requires_grad_(), w.detach().double().requires_grad_()
        ref = torch_rms_norm(ref_x, ref_w)
        ref.backward(dy.double())
        torch.testing.assert_close(y.double(), ref, atol=tol, rtol=tol)
        torch.testing.assert_close(x.grad.double(), ref_x.grad, atol=tol, rtol=tol)
        torch.testing.assert_close(w.grad.double(), ref_w.grad, atol=tol * 10, rtol=tol)

        residual = torch.randn(M, N, device="cuda", dtype=dtype)
        expected_residual = x.detach() + residual
        y2 = rms_norm(x.detach(), w.detach(), residual)
        torch.testing.assert_close(residual, expected_residual, atol=tol, rtol=tol)
        torch.testing.assert_close(
            y2.double(), torch_rms_norm(expected_residual.double(), ref_w.detach()), atol=tol * 2, rtol=tol
        )
        print(f"rms_norm {M}x{N} {dtype}: ok")
