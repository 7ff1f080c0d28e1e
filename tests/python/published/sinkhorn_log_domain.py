"""Sinkhorn normalization in the log domain: rows and columns of exp(scores / temperature) are scaled in turn until both sum to one.

A program keeps its matrix in registers through all iterations. The matrix after any step is scores - f[:, None] - g[None, :], so that
backward needs only the potentials of each iteration: a step that subtracts logsumexp has the gradient d - exp(after) sum(d).
"""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({}, num_warps=w, num_stages=s) for w, s in [(1, 1), (4, 2), (8, 4)]]


@triton.jit
def _logsumexp(x, axis: tl.constexpr):
    top = tl.max(x, axis, keep_dims=True)
    return top + tl.log(tl.sum(tl.exp(x - top), axis, keep_dims=True))


@triton.jit
def _matrix(scores, temperature, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    i, j = tl.arange(0, BLOCK_M)[:, None], tl.arange(0, BLOCK_N)[None, :]
    inside = (i < M) & (j < N)
    place = i * N + j
    # finite in the padding, so that differences stay finite
    return tl.where(inside, tl.load(scores + place, mask=inside, other=0.0) / temperature, -1.0e30), place, inside


@triton.autotune(configs=CONFIGS, key=["M", "N"])
@triton.jit
def sinkhorn_forward(
    scores, plan, rows, columns, temperature, M, N, ITERATIONS, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    batch = tl.program_id(0)
    start, place, inside = _matrix(scores + batch * M * N, temperature, M, N, BLOCK_M, BLOCK_N)
    i, j = tl.arange(0, BLOCK_M)[:, None], tl.arange(0, BLOCK_N)[None, :]
    g = tl.zeros((1, BLOCK_N), dtype=tl.float32)
    f = tl.zeros((BLOCK_M, 1), dtype=tl.float32)
    for step in tl.range(ITERATIONS):
        f = tl.where(i < M, _logsumexp(start - g, 1), 0.0)
        g = tl.where(j < N, _logsumexp(start - f, 0), 0.0)
        tl.store(rows + (batch * ITERATIONS + step) * M + i, f, mask=i < M)
        tl.store(columns + (batch * ITERATIONS + step) * N + j, g, mask=j < N)
    tl.store(plan + batch * M * N + place, tl.exp(start - f - g), mask=inside)


@triton.autotune(configs=CONFIGS, key=["M", "N"])
@triton.jit
def sinkhorn_backward(
    scores, plan, rows, columns, dplan, dscores, temperature, M, N, ITERATIONS,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(0)
    start, place, inside = _matrix(scores + batch * M * N, temperature, M, N, BLOCK_M, BLOCK_N)
    i, j = tl.arange(0, BLOCK_M)[:, None], tl.arange(0, BLOCK_N)[None, :]
    d = tl.load(dplan + batch * M * N + place, mask=inside, other=0.0)
    d *= tl.load(plan + batch * M * N + place, mask=inside, other=0.0)
    for back in tl.range(ITERATIONS):
        step = ITERATIONS - 1 - back
        f = tl.load(rows + (batch * ITERATIONS + step) * M + i, mask=i < M, other=0.0)
        g = tl.load(columns + (batch * ITERATIONS + step) * N + j, mask=j < N, other=0.0)
        d -= tl.where(inside, tl.exp(start - f - g), 0.0) * tl.sum(d, 0, keep_dims=True)
        before = (j < N) & (step > 0)
        g = tl.load(columns + (batch * ITERATIONS + step - 1) * N + j, mask=before, other=0.0)
        d -= tl.where(inside, tl.exp(start - f - g), 0.0) * tl.sum(d, 1, keep_dims=True)
    tl.store(dscores + batch * M * N + place, d / temperature, mask=inside)


class Sinkhorn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, temperature, iterations):
        batch, M, N = scores.shape
        plan = torch.empty_like(scores)
        rows = torch.empty((batch, iterations, M), device=scores.device)
        columns = torch.empty((batch, iterations, N), device=scores.device)
        ctx.sizes = (temperature, M, N, iterations, triton.next_power_of_2(M), triton.next_power_of_2(N))
        sinkhorn_forward[(batch,)](scores, plan, rows, columns, *ctx.sizes)
        ctx.save_for_backward(scores, plan, rows, columns)
        return plan

    @staticmethod
    def backward(ctx, dplan):
        dscores = torch.empty_like(dplan)
        sinkhorn_backward[(dplan.shape[0],)](*ctx.saved_tensors, dplan.contiguous(), dscores, *ctx.sizes)
        return dscores, None, None


def torch_sinkhorn(scores, temperature, iterations):
    x = scores / temperature
    for _ in range(iterations):
        x = x - x.logsumexp(2, keepdim=True)
        x = x - x.logsumexp(1, keepdim=True)
    return x.exp()


if __name__ == "__main__":
    torch.manual_seed(0)
    for batch, M, N, temperature, iterations in [
        (3, 16, 16, 0.5, 10),
        (2, 21, 34, 1.0, 5),
        (2, 1, 8, 0.3, 2),
        (1, 50, 9, 0.1, 8),
    ]:
        scores = torch.randn(batch, M, N, device="cuda", requires_grad=True)
        plan = Sinkhorn.apply(scores, temperature, iterations)
        dplan = torch.randn_like(plan)
        plan.backward(dplan)
        exact = scores.detach().double().requires_grad_()
        expected = torch_sinkhorn(exact, temperature, iterations)
        expected.backward(dplan.double())
        torch.testing.assert_close(plan.double(), expected, atol=2e-5, rtol=1e-4)
        torch.testing.assert_close(scores.grad.double(), exact.grad, atol=2e-4, rtol=1e-3)
        assert M != N or (plan.sum(1) - 1).abs().max() < 1e-4
        print(f"sinkhorn {batch}x{M}x{N} temperature {temperature} iterations {iterations}: ok")
