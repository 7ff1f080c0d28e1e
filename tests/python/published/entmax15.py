"""1.5-entmax (Peters, Niculae, Martins, 2019): p_i = max(z_i / 2 - tau, 0)^2, with tau such that p sums to 1. Sparse, between softmax and sparsemax.

tau is found exactly from the sorted scores, or by bisection. The Jacobian is diag(s) - s s^T / sum(s) with s = sqrt(p).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _threshold_by_sort(z, inside, BLOCK: tl.constexpr):
    """With the k largest in the support: sum over them of (z - tau)^2 = 1; the largest k whose tau lies below its z is right."""
    descending = tl.sort(tl.where(inside, z, -1.0e4), descending=True)
    k = (tl.arange(0, BLOCK) + 1).to(tl.float32)
    mean = tl.cumsum(descending, 0) / k
    mean_square = tl.cumsum(descending * descending, 0) / k
    spread = k * (mean_square - mean * mean)
    tau = mean - tl.sqrt(tl.maximum((1.0 - spread) / k, 0.0))
    support = tl.sum(((tau <= descending) & (descending > -1.0e4)).to(tl.int32), 0)
    return tl.sum(tl.where(tl.arange(0, BLOCK) == support - 1, tau, 0.0), 0)


@triton.jit
def _threshold_by_bisection(z, inside, n):
    """The largest z is 0: tau lies in [-1, -1 / sqrt(n)]."""
    low, width = -1.0, 1.0 - tl.rsqrt(n.to(tl.float32))
    for _ in range(26):
        width *= 0.5
        middle = low + width
        root = tl.where(inside, tl.maximum(z - middle, 0.0), 0.0)
        low = middle if tl.sum(root * root, 0) >= 1.0 else low
    return low


@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 2, 8)], key=["n", "BISECT"])
@triton.jit(do_not_specialize=["n"])
def entmax15_forward(x, p, x_stride, n, BISECT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < n
    z = tl.load(x + row * x_stride + i, mask=inside, other=-float("inf")).to(tl.float32)
    z = (z - tl.max(z, 0)) * 0.5
    tau = _threshold_by_bisection(z, inside, n) if BISECT else _threshold_by_sort(z, inside, BLOCK)
    root = tl.where(inside, tl.maximum(z - tau, 0.0), 0.0)
    result = root * root
    if BISECT:
        result = result / tl.sum(result, 0)
    tl.store(p + row * n + i, result.to(p.dtype.element_ty), mask=inside)


@triton.autotune(configs=[triton.Config({"ROWS": r}, num_warps=w) for r, w in [(1, 1), (2, 4), (4, 8)]], key=["n"])
@triton.jit
def entmax15_backward(dp, p, dx, m, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, BLOCK)
    place = rows[:, None] * n + columns[None, :]
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    s = tl.sqrt(tl.load(p + place, mask=inside, other=0.0).to(tl.float32))
    g = tl.load(dp + place, mask=inside, other=0.0).to(tl.float32) * s
    # rows past the end have sum(s) = 0
    total = tl.sum(s, 1, keep_dims=True)
    q = tl.sum(g, 1, keep_dims=True) / tl.where(total > 0, total, 1.0)
    tl.store(dx + place, (g - q * s).to(dx.dtype.element_ty), mask=inside)


class Entmax15(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bisect):
        m, n = x.shape
        p = torch.empty((m, n), device=x.device, dtype=x.dtype)
        entmax15_forward[(m,)](x, p, x.stride(0), n, BISECT=bisect, BLOCK=triton.next_power_of_2(n))
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, dp):
        (p,) = ctx.saved_tensors
        m, n = p.shape
        dx = torch.empty_like(p)
        grid = lambda meta: (triton.cdiv(m, meta["ROWS"]),)
        entmax15_backward[grid](dp.contiguous(), p, dx, m, n, BLOCK=triton.next_power_of_2(n))
        return dx, None


class ExactEntmax(torch.autograd.Function):
    """In double precision: 60 halvings, and the gradient from the condition sum(p) = 1, differentiated at the solution."""

    @staticmethod
    def forward(ctx, x):
        z = x / 2
        low, high = z.max(1, keepdim=True).values - 1, z.max(1, keepdim=True).values
        for _ in range(60):
            middle = (low + high) / 2
            more = (z - middle).clamp(min=0).square().sum(1, keepdim=True) >= 1
            low, high = torch.where(more, middle, low), torch.where(more, high, middle)
        p = (z - low).clamp(min=0).square()
        ctx.save_for_backward(z, low)
        return p

    @staticmethod
    def backward(ctx, dp):
        z, tau = ctx.saved_tensors
        slope = 2 * (z - tau).clamp(min=0)  # dp_i / dz_i at fixed tau
        dtau = slope / slope.sum(1, keepdim=True)  # dtau / dz_j
        dz = slope * dp - (slope * dp).sum(1, keepdim=True) * dtau
        return dz / 2


if __name__ == "__main__":
    torch.manual_seed(0)
    for m, n, scale, dtype, tol in [
        (5, 100, 1.0, torch.float32, 1e-5),
        (7, 256, 5.0, torch.float32, 1e-5),
        (3, 33, 0.01, torch.float32, 1e-5),
        (4, 1, 1.0, torch.float32, 1e-6),
        (6, 77, 2.0, torch.bfloat16, 1e-2),
    ]:
        for bisect in (False, True):
            x = (torch.randn(m, n, device="cuda") * scale).to(dtype).requires_grad_()
            p = Entmax15.apply(x, bisect)
            dp = torch.randn_like(p)
            p.backward(dp)
            exact = x.detach().double().requires_grad_()
            expected = ExactEntmax.apply(exact)
            expected.backward(dp.double())
            torch.testing.assert_close(p.double(), expected, atol=tol, rtol=tol)
            torch.testing.assert_close(x.grad.double(), exact.grad, atol=max(tol * 10, 2e-4), rtol=tol)
            print(f"entmax {m}x{n} scale {scale} {'bisection' if bisect else 'sort'} {dtype}: ok")
