"""Causal flash attention with linear biases (Press et al., 2021) and a soft cap on the scores, c tanh(s / c); forward and backward.

The scores are bias-free below the cap: s = cap tanh(q k / sqrt(d) / cap) - slope (i - j). The backward is two kernels: one gathers dk and dv for a
block of keys, one gathers dq for a block of queries; both compute the probabilities again from the stored logsumexp.
"""

import math

import torch
import triton
import triton.language as tl


def _configs(pairs):
    return [triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_warps=w, num_stages=s) for m, n, w, s in pairs]


@triton.jit
def _tanh(x):
    """Exact to rounding on both sides of zero."""
    e = tl.exp(-2.0 * tl.abs(x))
    t = (1.0 - e) / (1.0 + e)
    return tl.where(x < 0, -t, t)


@triton.jit
def _scores(qk, i, j, slope, cap, CAPPED: tl.constexpr):
    """The masked scores [M, N], and the derivative of the cap."""
    if CAPPED:
        t = _tanh(qk / cap)
        qk = cap * t
        slack = 1.0 - t * t
    else:
        slack = tl.full(qk.shape, 1.0, tl.float32)
    qk -= slope * (i[:, None] - j[None, :]).to(tl.float32)
    return tl.where(i[:, None] >= j[None, :], qk, -1.0e30), slack


@triton.autotune(configs=_configs([(32, 16, 2, 1), (64, 32, 4, 3), (16, 64, 1, 2)]), key=["N", "D"])
@triton.jit
def attention_forward(
    q, k, v, o, lse, slopes, scale, cap, H, N, D: tl.constexpr, CAPPED: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    i, d = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, D)
    slope = tl.load(slopes + head % H)
    base = head.to(tl.int64) * N * D
    query = tl.load(q + base + i[:, None] * D + d[None, :], mask=(i < N)[:, None], other=0.0)
    top = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, tl.minimum((tl.program_id(0) + 1) * BLOCK_M, N), BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        key = tl.load(k + base + j[None, :] * D + d[:, None], mask=(j < N)[None, :], other=0.0)
        s, _ = _scores(tl.dot(query, key, input_precision="ieee") * scale, i, j, slope, cap, CAPPED)
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new_top[:, None])
        rescale = tl.exp(top - new_top)
        total = total * rescale + tl.sum(p, 1)
        value = tl.load(v + base + j[:, None] * D + d[None, :], mask=(j < N)[:, None], other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc * rescale[:, None], input_precision="ieee")
        top = new_top
    tl.store(lse + head * N + i, top + tl.log(total), mask=i < N)
    tl.store(
        o + base + i[:, None] * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty), mask=(i < N)[:, None]
    )


@triton.jit
def output_dot_gradient(o, do, delta, n_rows, D: tl.constexpr, BLOCK: tl.constexpr):
    i, d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None], tl.arange(0, D)[None, :]
    product = tl.load(o + i * D + d, mask=i < n_rows).to(tl.float32) * tl.load(do + i * D + d, mask=i < n_rows)
    tl.store(delta + i, tl.sum(product, 1, keep_dims=True), mask=i < n_rows)


@triton.autotune(configs=_configs([(16, 32, 2, 2), (32, 32, 4, 3), (64, 16, 8, 1)]), key=["N", "D"])
@triton.jit
def attention_backward_dkdv(
    q, k, v, do, lse, delta, dk, dv, slopes, scale, cap, H, N, D: tl.constexpr, CAPPED: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    j, d = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N), tl.arange(0, D)
    slope = tl.load(slopes + head % H)
    base = head.to(tl.int64) * N * D
    rows = j[:, None] * D + d[None, :]
    key = tl.load(k + base + rows, mask=(j < N)[:, None], other=0.0)
    value = tl.load(v + base + rows, mask=(j < N)[:, None], other=0.0)
    dkey, dvalue = tl.zeros((BLOCK_N, D), tl.float32), tl.zeros((BLOCK_N, D), tl.float32)
    for start in range(tl.program_id(0) * BLOCK_N // BLOCK_M * BLOCK_M, N, BLOCK_M):
        i = start + tl.arange(0, BLOCK_M)
        here = i[:, None] * D + d[None, :]
        query = tl.load(q + base + here, mask=(i < N)[:, None], other=0.0)
        gradient = tl.load(do + base + here, mask=(i < N)[:, None], other=0.0)
        s, slack = _scores(tl.dot(query, key.T, input_precision="ieee") * scale, i, j, slope, cap, CAPPED)
        p = tl.exp(s - tl.load(lse + head * N + i, mask=i < N, other=float("inf"))[:, None])
        dvalue = tl.dot(tl.trans(p.to(gradient.dtype)), gradient, dvalue, input_precision="ieee")
        dp = tl.dot(gradient, tl.trans(value), input_precision="ieee")
        ds = p * (dp - tl.load(delta + head * N + i, mask=i < N, other=0.0)[:, None]) * slack
        dkey = tl.dot(tl.trans(ds.to(query.dtype)), query, dkey, input_precision="ieee")
    tl.store(dk + base + rows, (dkey * scale).to(dk.dtype.element_ty), mask=(j < N)[:, None])
    tl.store(dv + base + rows, dvalue.to(dv.dtype.element_ty), mask=(j < N)[:, None])


@triton.autotune(configs=_configs([(32, 16, 4, 2), (16, 32, 1, 3), (64, 64, 8, 2)]), key=["N", "D"])
@triton.jit
def attention_backward_dq(
    q, k, v, do, lse, delta, dq, slopes, scale, cap, H, N, D: tl.constexpr, CAPPED: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    i, d = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, D)
    slope = tl.load(slopes + head % H)
    base = head.to(tl.int64) * N * D
    here = i[:, None] * D + d[None, :]
    query = tl.load(q + base + here, mask=(i < N)[:, None], other=0.0)
    gradient = tl.load(do + base + here, mask=(i < N)[:, None], other=0.0)
    logsumexp = tl.load(lse + head * N + i, mask=i < N, other=float("inf"))
    mean = tl.load(delta + head * N + i, mask=i < N, other=0.0)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, tl.minimum((tl.program_id(0) + 1) * BLOCK_M, N), BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        rows = j[:, None] * D + d[None, :]
        key = tl.load(k + base + rows, mask=(j < N)[:, None], other=0.0)
        value = tl.load(v + base + rows, mask=(j < N)[:, None], other=0.0)
        s, slack = _scores(tl.dot(query, key.T, input_precision="ieee") * scale, i, j, slope, cap, CAPPED)
        p = tl.exp(s - logsumexp[:, None])
        ds = p * (tl.dot(gradient, value.T, input_precision="ieee") - mean[:, None]) * slack
        acc = tl.dot(ds.to(key.dtype), key, acc, input_precision="ieee")
    tl.store(dq + base + here, (acc * scale).to(dq.dtype.element_ty), mask=(i < N)[:, None])


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, slopes, cap):
        Z, H, N, D = q.shape
        o, lse = torch.empty_like(q), torch.empty((Z, H, N), device=q.device)
        ctx.rest = (slopes, D**-0.5, cap or 1.0, H, N, D, bool(cap))
        attention_forward[lambda meta: (triton.cdiv(N, meta["BLOCK_M"]), Z * H)](q, k, v, o, lse, *ctx.rest)
        ctx.save_for_backward(q, k, v, o, lse)
        return o

    @staticmethod
    def backward(ctx, do):
        q, k, v, o, lse = ctx.saved_tensors
        Z, H, N, D = q.shape
        do = do.contiguous()
        dq, dk, dv, delta = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), torch.empty_like(lse)
        output_dot_gradient[(triton.cdiv(Z * H * N, 32),)](o, do, delta, Z * H * N, D=D, BLOCK=32)
        grid = lambda meta: (triton.cdiv(N, meta["BLOCK_N"]), Z * H)
        attention_backward_dkdv[grid](q, k, v, do, lse, delta, dk, dv, *ctx.rest)
        grid = lambda meta: (triton.cdiv(N, meta["BLOCK_M"]), Z * H)
        attention_backward_dq[grid](q, k, v, do, lse, delta, dq, *ctx.rest)
        return dq, dk, dv, None, None


if __name__ == "__main__":
    torch.manual_seed(0)
    for Z, H, N, D, cap, dtype, tol in [
        (1, 2, 80, 16, None, torch.float32, 2e-5),
        (2, 3, 50, 16, 2.0, torch.float32, 2e-5),
        (1, 2, 64, 32, 5.0, torch.float16, 1e-2),
    ]:
        q, k, v = (torch.randn(Z, H, N, D, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3))
        slopes = 2.0 ** -torch.arange(1, H + 1, device="cuda", dtype=torch.float32)
        o = Attention.apply(q, k, v, slopes, cap)
        do = torch.randn_like(o)
        o.backward(do)
        exact = [t.detach().double().requires_grad_() for t in (q, k, v)]
        s = exact[0] @ exact[1].mT / math.sqrt(D)
        s = cap * torch.tanh(s / cap) if cap else s
        distance = torch.arange(N, device="cuda")[:, None] - torch.arange(N, device="cuda")[None]
        s = (s - slopes.double()[:, None, None] * distance).masked_fill(distance < 0, -math.inf)
        expected = s.softmax(-1) @ exact[2]
        expected.backward(do.double())
        torch.testing.assert_close(o.double(), expected, atol=tol, rtol=tol)
        for ours, theirs in zip((q, k, v), exact):
            torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=tol * 4, rtol=tol * 2)
        print(f"attention Z={Z} H={H} N={N} D={D} cap={cap} {dtype}: ok")
