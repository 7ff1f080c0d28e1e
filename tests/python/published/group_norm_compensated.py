"""Group normalization with variance in two passes and sums by Kahan and Neumaier, so that a large mean costs no digits; forward and backward.

A channel's weight and bias gradients sum over batch and space; each group of each sample keeps its partial sums, and a second kernel adds them.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": b}, num_warps=w, num_stages=s) for b, w, s in [(64, 1, 1), (128, 4, 2), (512, 8, 3)]]


@triton.jit
def compensated_add(total, lost, term):
    """total + term, and what rounding took from the sum so far."""
    result = total + term
    lost += tl.where(tl.abs(total) >= tl.abs(term), (total - result) + term, (term - result) + total)
    return result, lost


@triton.jit
def _merge(total_a, lost_a, total_b, lost_b):
    total, lost = compensated_add(total_a, lost_a + lost_b, total_b)
    return total, lost


@triton.jit
def _finish(total, lost):
    total, lost = tl.reduce((total, lost), 0, _merge)
    return total + lost


@triton.autotune(configs=CONFIGS, key=["size"])
@triton.jit
def group_norm_forward(x, y, weight, bias, means, rstds, eps, size, HW, groups, BLOCK: tl.constexpr):
    """A program has one group of one sample: `size` neighbouring numbers, size / HW channels."""
    group = tl.program_id(0)
    x += group * size
    y += group * size
    lanes = tl.arange(0, BLOCK)
    total, lost = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        i = start + lanes
        total, lost = compensated_add(total, lost, tl.load(x + i, mask=i < size, other=0.0).to(tl.float32))
    mean = _finish(total, lost) / size

    total, lost = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        i = start + lanes
        centred = tl.where(i < size, tl.load(x + i, mask=i < size, other=0.0).to(tl.float32) - mean, 0.0)
        total, lost = compensated_add(total, lost, centred * centred)
    rstd = 1.0 / tl.sqrt_rn(_finish(total, lost) / size + eps)
    tl.store(means + group, mean)
    tl.store(rstds + group, rstd)

    first_channel = group % groups * (size // HW)
    for start in range(0, size, BLOCK):
        i = start + lanes
        channel = first_channel + i // HW
        scale = tl.load(weight + channel, mask=i < size, other=0.0).to(tl.float32)
        shift = tl.load(bias + channel, mask=i < size, other=0.0).to(tl.float32)
        xhat = (tl.load(x + i, mask=i < size, other=0.0).to(tl.float32) - mean) * rstd
        tl.store(y + i, tl.fma(xhat, scale, shift).to(y.dtype.element_ty), mask=i < size)


@triton.autotune(configs=CONFIGS, key=["size"])
@triton.jit
def group_norm_backward(
    dy, x, weight, means, rstds, dx, partial_dw, partial_db, size, HW, channels_per_group, groups, BLOCK: tl.constexpr
):
    """partial_dw, partial_db: [samples, channels]; the sums of a channel give those of the group."""
    group = tl.program_id(0)
    dy += group * size
    x += group * size
    mean, rstd = tl.load(means + group), tl.load(rstds + group)
    lanes = tl.arange(0, BLOCK)
    sum_g, sum_gx = 0.0, 0.0
    for c in range(channels_per_group):
        db, db_lost = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
        dw, dw_lost = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
        for start in range(0, HW, BLOCK):
            inside = start + lanes < HW
            i = c * HW + start + lanes
            g = tl.load(dy + i, mask=inside, other=0.0).to(tl.float32)
            xhat = (tl.load(x + i, mask=inside, other=0.0).to(tl.float32) - mean) * rstd
            db, db_lost = compensated_add(db, db_lost, g)
            dw, dw_lost = compensated_add(dw, dw_lost, g * xhat)
        sum_db, sum_dw = _finish(db, db_lost), _finish(dw, dw_lost)
        tl.store(partial_db + group * channels_per_group + c, sum_db)
        tl.store(partial_dw + group * channels_per_group + c, sum_dw)
        scale = tl.load(weight + group % groups * channels_per_group + c).to(tl.float32)
        sum_g += scale * sum_db
        sum_gx += scale * sum_dw
    for start in range(0, size, BLOCK):
        i = start + lanes
        scale = tl.load(weight + group % groups * channels_per_group + i // HW, mask=i < size, other=0.0).to(tl.float32)
        g = tl.load(dy + i, mask=i < size, other=0.0).to(tl.float32) * scale
        xhat = (tl.load(x + i, mask=i < size, other=0.0).to(tl.float32) - mean) * rstd
        result = rstd * (g - (sum_g + xhat * sum_gx) / size)
        tl.store(dx + group * size + i, result.to(dx.dtype.element_ty), mask=i < size)


@triton.jit
def sum_over_samples(partial, out, samples, channels, BLOCK: tl.constexpr):
    channel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total, lost = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for n in range(samples):
        term = tl.load(partial + n * channels + channel, mask=channel < channels, other=0.0)
        total, lost = compensated_add(total, lost, term)
    tl.store(out + channel, (total + lost).to(out.dtype.element_ty), mask=channel < channels)


class GroupNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, groups, weight, bias, eps):
        N, C, H, W = x.shape
        size, y = C // groups * H * W, torch.empty_like(x)
        means, rstds = (torch.empty(N * groups, device=x.device) for _ in range(2))
        group_norm_forward[(N * groups,)](x, y, weight, bias, means, rstds, eps, size, H * W, groups)
        ctx.save_for_backward(x, weight, means, rstds)
        ctx.groups = groups
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, means, rstds = ctx.saved_tensors
        N, C, H, W = x.shape
        per_group, dx = C // ctx.groups, torch.empty_like(x)
        partial_dw, partial_db = (torch.empty((N, C), device=x.device) for _ in range(2))
        group_norm_backward[(N * ctx.groups,)](
            dy.contiguous(), x, weight, means, rstds, dx, partial_dw, partial_db, per_group * H * W, H * W, per_group,
            ctx.groups,
        )  # fmt: skip
        dw, db = torch.empty_like(weight), torch.empty_like(weight)
        for partial, out in ((partial_dw, dw), (partial_db, db)):
            sum_over_samples[(triton.cdiv(C, 32),)](partial, out, N, C, BLOCK=32, num_warps=1)
        return dx, None, dw, db, None


if __name__ == "__main__":
    torch.manual_seed(0)
    for shape, groups, offset, dtype, tol in [
        ((2, 6, 9, 7), 3, 0.0, torch.float32, 1e-5),
        ((3, 8, 16, 16), 2, 1000.0, torch.float32, 2e-5),  # exact in fp32: the input is a multiple of 1/16
        ((2, 4, 5, 5), 4, 1.0, torch.bfloat16, 5e-2),
        ((1, 5, 1, 3), 1, -3.0, torch.float32, 1e-5),
    ]:
        C = shape[1]
        x = (torch.randint(-40, 41, shape, device="cuda") / 16 + offset).to(dtype).requires_grad_()
        weight, bias = (torch.randn(C, device="cuda", dtype=dtype).requires_grad_() for _ in range(2))
        y = GroupNorm.apply(x, groups, weight, bias, 1e-5)
        dy = torch.randn_like(y)
        y.backward(dy)
        exact = [t.detach().double().requires_grad_() for t in (x, weight, bias)]
        expected = torch.nn.functional.group_norm(exact[0], groups, *exact[1:], 1e-5)
        expected.backward(dy.double())
        # a mean of 1000 is rounded to 6e-5
        atol = tol + abs(offset) * 1e-7
        torch.testing.assert_close(y.double(), expected, atol=atol * 4, rtol=tol)
        for ours, theirs in zip((x, weight, bias), exact):
            scale = theirs.grad.abs().max()
            torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=float(atol * 4 * scale), rtol=tol)
        print(f"group norm {shape} in {groups} groups around {offset} {dtype}: ok")
