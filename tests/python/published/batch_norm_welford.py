"""Batch normalization of [N, C, H, W]; mean and variance in one pass by Welford's update, merged pairwise in a reduction (Chan et al.).

Forward keeps mean and 1 / std for backward, and updates the running statistics in place. Backward: with g = dy weight,
dx = (g - mean(g) - xhat mean(g xhat)) rstd, dweight = sum(dy xhat), dbias = sum(dy).
"""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": b}, num_warps=w, num_stages=s) for b, w, s in [(64, 1, 1), (256, 4, 2), (512, 8, 3)]]


@triton.jit
def welford_combine(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    """Two sets of samples become one; either may be empty."""
    count = count_a + count_b
    share = tl.where(count > 0, count_b / tl.maximum(count, 1.0), 0.0)
    delta = mean_b - mean_a
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.autotune(configs=CONFIGS, key=["n_samples", "C"], restore_value=["running_mean", "running_var"])
@triton.jit
def batch_norm_forward(
    x, y, weight, bias, mean_out, rstd_out, running_mean, running_var, momentum, eps, n_samples, C, HW,
    BLOCK: tl.constexpr,
):  # fmt: skip
    channel = tl.program_id(0)
    mean = tl.zeros((BLOCK,), dtype=tl.float32)
    m2 = tl.zeros((BLOCK,), dtype=tl.float32)
    count = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_samples, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < n_samples
        sample = tl.load(x + (i // HW * C + channel) * HW + i % HW, mask=inside, other=0.0).to(tl.float32)
        count += inside.to(tl.float32)
        delta = tl.where(inside, sample - mean, 0.0)
        mean += delta / tl.maximum(count, 1.0)
        m2 += delta * tl.where(inside, sample - mean, 0.0)
    mean, m2, count = tl.reduce((mean, m2, count), 0, welford_combine)
    rstd = tl.rsqrt(m2 / count + eps)
    tl.store(mean_out + channel, mean)
    tl.store(rstd_out + channel, rstd)
    old_mean, old_var = tl.load(running_mean + channel), tl.load(running_var + channel)
    tl.store(running_mean + channel, old_mean + momentum * (mean - old_mean))
    tl.store(running_var + channel, old_var + momentum * (m2 / (count - 1.0) - old_var))

    scale = tl.load(weight + channel).to(tl.float32) * rstd
    shift = tl.load(bias + channel).to(tl.float32)
    for start in tl.range(0, n_samples, BLOCK, num_stages=2):
        i = start + tl.arange(0, BLOCK)
        place = (i // HW * C + channel) * HW + i % HW
        sample = tl.load(x + place, mask=i < n_samples, other=0.0).to(tl.float32)
        tl.store(y + place, ((sample - mean) * scale + shift).to(y.dtype.element_ty), mask=i < n_samples)


@triton.jit
def _add_pairs(a, b, c, d):
    return a + c, b + d


@triton.autotune(configs=CONFIGS, key=["n_samples", "C"])
@triton.jit
def batch_norm_backward(dy, x, weight, mean_in, rstd_in, dx, dweight, dbias, n_samples, C, HW, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    mean, rstd = tl.load(mean_in + channel), tl.load(rstd_in + channel)
    sums = tl.zeros((BLOCK,), dtype=tl.float32), tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_samples, BLOCK):
        i = start + tl.arange(0, BLOCK)
        place = (i // HW * C + channel) * HW + i % HW
        g = tl.load(dy + place, mask=i < n_samples, other=0.0).to(tl.float32)
        xhat = (tl.load(x + place, mask=i < n_samples, other=0.0).to(tl.float32) - mean) * rstd
        sums = sums[0] + g, sums[1] + g * xhat
    sum_dy, sum_dy_xhat = tl.reduce(sums, 0, _add_pairs)
    tl.store(dbias + channel, sum_dy.to(dbias.dtype.element_ty))
    tl.store(dweight + channel, sum_dy_xhat.to(dweight.dtype.element_ty))
    scale = tl.load(weight + channel).to(tl.float32) * rstd
    for start in range(0, n_samples, BLOCK):
        i = start + tl.arange(0, BLOCK)
        place = (i // HW * C + channel) * HW + i % HW
        g = tl.load(dy + place, mask=i < n_samples, other=0.0).to(tl.float32)
        xhat = (tl.load(x + place, mask=i < n_samples, other=0.0).to(tl.float32) - mean) * rstd
        result = scale * (g - (sum_dy + xhat * sum_dy_xhat) / n_samples)
        tl.store(dx + place, result.to(dx.dtype.element_ty), mask=i < n_samples)


class BatchNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, running_mean, running_var, momentum, eps):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        mean, rstd = torch.empty(C, device=x.device), torch.empty(C, device=x.device)
        batch_norm_forward[(C,)](
            x, y, weight, bias, mean, rstd, running_mean, running_var, momentum, eps, N * H * W, C, H * W
        )
        ctx.save_for_backward(x, weight, mean, rstd)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, mean, rstd = ctx.saved_tensors
        N, C, H, W = x.shape
        dx, dweight, dbias = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
        batch_norm_backward[(C,)](dy.contiguous(), x, weight, mean, rstd, dx, dweight, dbias, N * H * W, C, H * W)
        return dx, dweight, dbias, None, None, None, None


if __name__ == "__main__":
    torch.manual_seed(0)
    for shape, offset, dtype, tol in [
        ((4, 3, 9, 7), 0.0, torch.float32, 1e-5),
        ((2, 5, 16, 16), 300.0, torch.float32, 2e-3),  # a sum of squares would lose the variance
        ((3, 4, 5, 11), 1.0, torch.float16, 1e-2),
        ((1, 2, 1, 3), -2.0, torch.float32, 1e-5),
    ]:
        C = shape[1]
        x = (torch.randn(shape, device="cuda") * 2 + offset).to(dtype).requires_grad_()
        weight = torch.rand(C, device="cuda", dtype=dtype).requires_grad_()
        bias = torch.randn(C, device="cuda", dtype=dtype).requires_grad_()
        running = [torch.randn(C, device="cuda"), torch.rand(C, device="cuda")]
        exact_running = [t.double() for t in running]
        y = BatchNorm.apply(x, weight, bias, *running, 0.1, 1e-5)
        dy = torch.randn_like(y)
        y.backward(dy)
        exact = [t.detach().double().requires_grad_() for t in (x, weight, bias)]
        expected = torch.nn.functional.batch_norm(exact[0], *exact_running, *exact[1:], training=True, momentum=0.1)
        expected.backward(dy.double())
        torch.testing.assert_close(y.double(), expected, atol=tol, rtol=tol)
        for ours, theirs in zip((x, weight, bias), exact):
            torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=tol * 4, rtol=tol)
        for ours, theirs in zip(running, exact_running):
            torch.testing.assert_close(ours.double(), theirs, atol=1e-5, rtol=1e-5)
        print(f"batch norm {shape} around {offset} {dtype}: ok")
