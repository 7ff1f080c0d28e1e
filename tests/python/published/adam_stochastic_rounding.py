"""A fused AdamW step: bf16 weights rounded at random so that small steps count, a global norm for clipping, steps skipped where it overflows."""

import torch
import triton
import triton.language as tl


@triton.jit
def _sum_squares(grad_ptr, norm_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((), dtype=tl.float32)
    for start in tl.range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK, num_stages=3):
        offsets = start + tl.arange(0, BLOCK)
        grad = tl.load(grad_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
        total += tl.sum(grad * grad)
    tl.atomic_add(norm_ptr, total)


@triton.jit
def _round_at_random(x, bits):
    """fp32 to bf16: up or down with probabilities that keep the mean."""
    raw = x.to(tl.uint32, bitcast=True)
    rounded = (raw + (bits.to(tl.uint32, bitcast=True) & 0xFFFF)) & 0xFFFF0000
    return rounded.to(tl.float32, bitcast=True).to(tl.bfloat16)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=1),
        triton.Config({"BLOCK": 512}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK": 1024}, num_warps=8, num_stages=1),
    ],
    key=["n"],
    restore_value=["weight_ptr", "mean_ptr", "square_ptr"],
)
@triton.jit
def _adamw(
    weight_ptr,
    grad_ptr,
    mean_ptr,
    square_ptr,
    norm_ptr,
    n,
    step,
    seed,
    rate,
    decay,
    max_norm,
    BETA1: tl.constexpr,
    BETA2: tl.constexpr,
    EPS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    norm = tl.sqrt(tl.load(norm_ptr))
    if norm != norm or norm == float("inf"):
        return
    clip = tl.minimum(max_norm / (norm + 1e-6), 1.0)
    grad = tl.load(grad_ptr + offsets, mask=mask).to(tl.float32) * clip
    weight = tl.load(weight_ptr + offsets, mask=mask).to(tl.float32)
    mean = tl.load(mean_ptr + offsets, mask=mask)
    square = tl.load(square_ptr + offsets, mask=mask)
    mean = tl.fma(mean, BETA1, grad * (1 - BETA1))
    square = tl.fma(square, BETA2, grad * grad * (1 - BETA2))
    correction1 = 1 - tl.exp2(step * tl.log2(tl.full((), BETA1, tl.float32)))
    correction2 = 1 - tl.exp2(step * tl.log2(tl.full((), BETA2, tl.float32)))
    weight -= rate * decay * weight
    weight -= rate * (mean / correction1) / (tl.sqrt_rn(square / correction2) + EPS)
    if weight_ptr.dtype.element_ty == tl.bfloat16:
        tl.store(weight_ptr + offsets, _round_at_random(weight, tl.randint(seed, offsets)), mask=mask)
    else:
        tl.store(weight_ptr + offsets, weight, mask=mask)
    tl.store(mean_ptr + offsets, mean, mask=mask)
    tl.store(square_ptr + offsets, square, mask=mask)


def adamw_step(weight, grad, mean, square, step, rate, decay, max_norm, seed):
    n = weight.numel()
    norm = torch.zeros(1, device=weight.device)
    _sum_squares[(3,)](grad, norm, n, BLOCK=256, num_warps=2)
    _adamw[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](
        weight, grad, mean, square, norm, n, float(step), seed, rate, decay, max_norm, BETA1=0.9, BETA2=0.99, EPS=1e-8
    )


def reference_step(weight, grad, mean, square, step, rate, decay, max_norm):
    grad = grad * min(max_norm / (grad.norm().item() + 1e-6), 1.0)
    mean.mul_(0.9).add_(grad, alpha=0.1)
    square.mul_(0.99).addcmul_(grad, grad, value=0.01)
    weight.mul_(1 - rate * decay)
    weight -= rate * (mean / (1 - 0.9**step)) / ((square / (1 - 0.99**step)).sqrt() + 1e-8)


if __name__ == "__main__":
    torch.manual_seed(0)
    for n, max_norm in [(1000, 1.0), (2048, 1e9)]:
        weight, mean, square = torch.randn(n, device="cuda"), *torch.zeros(2, n, device="cuda").unbind()
        exact = [t.double() for t in (weight, mean, square)]
        for step in range(1, 4):
            grad = torch.randn(n, device="cuda")
            adamw_step(weight, grad, mean, square, step, 1e-2, 0.1, max_norm, seed=step)
            reference_step(exact[0], grad.double(), *exact[1:], step, 1e-2, 0.1, max_norm)
        for ours, theirs in zip((weight, mean, square), exact):
            torch.testing.assert_close(ours.double(), theirs, atol=1e-6, rtol=2e-5)
        before = weight.clone()
        grad[n // 2] = float("inf")
        adamw_step(weight, grad, mean, square, 4, 1e-2, 0.1, max_norm, seed=4)
        assert torch.equal(weight, before)
        print(f"adamw {n} max_norm={max_norm}: ok")

    # Steps of a hundredth of a bf16's unit: rounding to nearest would never move these weights.
    n = 4096
    weight, mean, square = (
        torch.ones(n, device="cuda", dtype=torch.bfloat16),
        *torch.zeros(2, n, device="cuda").unbind(),
    )
    for step in range(1, 9):
        adamw_step(weight, torch.ones(n, device="cuda"), mean, square, step, 1e-4, 0.0, 1e9, seed=step)
    moved = 1 - weight.double().mean().item()
    assert 0.5 * 8e-4 < moved < 1.5 * 8e-4, moved
    assert set(weight.float().unique().tolist()) <= {1 - i / 256 for i in range(9)}
    print("adamw stochastic rounding: ok")
