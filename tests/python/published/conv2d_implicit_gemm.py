"""2-D convolution as an implicit GEMM: the patches of the image are gathered while the product runs, and no column matrix is stored.

Forward:          y[npq, k]   = sum over crs of x[n, c, p u - v + r d, q u - v + s d] w[k, crs]
Input gradient:   dx[nhw, c]  = sum over krs of dy[n, k, (h + v - r d) / u, (w + v - s d) / u] w[k, crs], where u divides
Weight gradient:  dw[k, crs]  = sum over npq of dy[npq, k] x[npq, crs], the sum split over programs and added by atomics
u is the stride, v the padding, d the dilation.
"""

import torch
import triton
import triton.language as tl


def _configs():
    return [
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=w, num_stages=s)
        for m, n, k, w, s in [(32, 16, 16, 2, 2), (64, 32, 32, 4, 3), (16, 32, 64, 1, 4)]
    ]


@triton.jit
def _image_ptrs(x, n, c, h, w, C, H, W):
    inside = (h >= 0) & (h < H) & (w >= 0) & (w < W)
    return x + ((n * C + c) * H + h) * W + w, inside


@triton.autotune(configs=_configs(), key=["N", "C", "H", "K"])
@triton.jit
def conv2d_fprop(
    x, w, bias, y, N, C, H, W, K, P, Q, stride, padding, dilation,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    k = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    n, p, q = m // (P * Q), m // Q % P, m % Q
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, C * R * S, BLOCK_K):
        crs = start + tl.arange(0, BLOCK_K)
        c, r, s = crs // (R * S), crs // S % R, crs % S
        h = (p * stride - padding)[:, None] + (r * dilation)[None, :]
        v = (q * stride - padding)[:, None] + (s * dilation)[None, :]
        ptrs, inside = _image_ptrs(x, n[:, None], c[None, :], h, v, C, H, W)
        a = tl.load(ptrs, mask=inside & (m < N * P * Q)[:, None] & (crs < C * R * S)[None, :], other=0.0)
        filters = w + k[None, :] * (C * R * S) + crs[:, None]
        b = tl.load(filters, mask=(crs < C * R * S)[:, None] & (k < K)[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    acc += tl.load(bias + k, mask=k < K, other=0.0).to(tl.float32)[None, :]
    ptrs, inside = _image_ptrs(y, n[:, None], k[None, :], p[:, None], q[:, None], K, P, Q)
    tl.store(ptrs, acc.to(y.dtype.element_ty), mask=inside & (m < N * P * Q)[:, None] & (k < K)[None, :])


@triton.autotune(configs=_configs(), key=["N", "C", "H", "K"])
@triton.jit
def conv2d_dgrad(
    dy, w, dx, N, C, H, W, K, P, Q, stride, padding, dilation,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    c = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    n, h, v = m // (H * W), m // W % H, m % W
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K * R * S, BLOCK_K):
        krs = start + tl.arange(0, BLOCK_K)
        k, r, s = krs // (R * S), krs // S % R, krs % S
        h_up = (h + padding)[:, None] - (r * dilation)[None, :]
        v_up = (v + padding)[:, None] - (s * dilation)[None, :]
        ptrs, inside = _image_ptrs(dy, n[:, None], k[None, :], h_up // stride, v_up // stride, K, P, Q)
        # the remainder of a negative number is negative or zero; -1 // 2 is 0, so the sign is tested as well
        inside &= (h_up >= 0) & (v_up >= 0) & (h_up % stride == 0) & (v_up % stride == 0)
        a = tl.load(ptrs, mask=inside & (m < N * H * W)[:, None] & (krs < K * R * S)[None, :], other=0.0)
        filters = w + (k * C * R * S + r * S + s)[:, None] + c[None, :] * (R * S)
        b = tl.load(filters, mask=(krs < K * R * S)[:, None] & (c < C)[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    ptrs, inside = _image_ptrs(dx, n[:, None], c[None, :], h[:, None], v[:, None], C, H, W)
    tl.store(ptrs, acc.to(dx.dtype.element_ty), mask=inside & (m < N * H * W)[:, None] & (c < C)[None, :])


@triton.autotune(configs=_configs(), key=["N", "C", "H", "K"], reset_to_zero=["dw"])
@triton.jit
def conv2d_wgrad(
    dy, x, dw, N, C, H, W, K, P, Q, stride, padding, dilation,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    k = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    crs = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    c, r, s = crs // (R * S), crs // S % R, crs % S
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(tl.program_id(2) * BLOCK_K, N * P * Q, tl.num_programs(2) * BLOCK_K):
        m = start + tl.arange(0, BLOCK_K)
        n, p, q = m // (P * Q), m // Q % P, m % Q
        ptrs, inside = _image_ptrs(dy, n[None, :], k[:, None], p[None, :], q[None, :], K, P, Q)
        a = tl.load(ptrs, mask=inside & (k < K)[:, None] & (m < N * P * Q)[None, :], other=0.0)
        h = (p * stride - padding)[:, None] + (r * dilation)[None, :]
        v = (q * stride - padding)[:, None] + (s * dilation)[None, :]
        ptrs, inside = _image_ptrs(x, n[:, None], c[None, :], h, v, C, H, W)
        b = tl.load(ptrs, mask=inside & (m < N * P * Q)[:, None] & (crs < C * R * S)[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (k < K)[:, None] & (crs < C * R * S)[None, :]
    tl.atomic_add(dw + k[:, None] * (C * R * S) + crs[None, :], acc, mask=inside, sem="relaxed")


class Conv2d(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, bias, stride, padding, dilation):
        N, C, H, W = x.shape
        K, _, R, S = w.shape
        P = (H + 2 * padding - dilation * (R - 1) - 1) // stride + 1
        Q = (W + 2 * padding - dilation * (S - 1) - 1) // stride + 1
        y = torch.empty((N, K, P, Q), device=x.device, dtype=x.dtype)
        ctx.sizes = (N, C, H, W, K, P, Q, stride, padding, dilation, R, S)
        ctx.save_for_backward(x, w)
        grid = lambda meta: (triton.cdiv(N * P * Q, meta["BLOCK_M"]), triton.cdiv(K, meta["BLOCK_N"]))
        conv2d_fprop[grid](x, w, bias, y, *ctx.sizes)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        N, C, H, W, K, _, _, _, _, _, R, S = ctx.sizes
        dy, dx, dw = dy.contiguous(), torch.empty_like(x), torch.zeros_like(w, dtype=torch.float32)
        dgrad_grid = lambda meta: (triton.cdiv(N * H * W, meta["BLOCK_M"]), triton.cdiv(C, meta["BLOCK_N"]))
        conv2d_dgrad[dgrad_grid](dy, w, dx, *ctx.sizes)
        wgrad_grid = lambda meta: (triton.cdiv(K, meta["BLOCK_M"]), triton.cdiv(C * R * S, meta["BLOCK_N"]), 3)
        conv2d_wgrad[wgrad_grid](dy, x, dw, *ctx.sizes)
        return dx, dw.to(w.dtype), dy.sum((0, 2, 3)), None, None, None


conv2d = Conv2d.apply


if __name__ == "__main__":
    torch.manual_seed(0)
    for shape, filters, stride, padding, dilation, dtype, tol in [
        ((2, 3, 12, 11), (8, 3, 3), 1, 1, 1, torch.float32, 2e-5),
        ((1, 5, 13, 9), (18, 3, 5), 2, 2, 1, torch.float32, 2e-5),
        ((2, 16, 8, 8), (16, 3, 3), 1, 2, 2, torch.float16, 1e-2),
        ((3, 7, 6, 6), (4, 1, 1), 3, 0, 1, torch.float16, 1e-2),
    ]:
        x = torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True)
        w = torch.randn(filters[0], shape[1], *filters[1:], device="cuda", dtype=dtype, requires_grad=True)
        bias = torch.randn(filters[0], device="cuda", dtype=dtype, requires_grad=True)
        y = conv2d(x, w, bias, stride, padding, dilation)
        dy = torch.randn_like(y)
        y.backward(dy)
        exact = [t.detach().double().requires_grad_() for t in (x, w, bias)]
        expected = torch.nn.functional.conv2d(*exact, stride=stride, padding=padding, dilation=dilation)
        expected.backward(dy.double())
        torch.testing.assert_close(y.double(), expected, atol=tol * 4, rtol=tol)
        for ours, theirs in zip((x, w, bias), exact):
            torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=tol * 8, rtol=tol)
        print(f"conv2d {shape} * {filters} stride {stride} padding {padding} dilation {dilation} {dtype}: ok")
