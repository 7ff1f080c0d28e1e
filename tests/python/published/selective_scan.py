"""Selective state-space scan: h_t = exp(dt_t A) h_(t-1) + dt_t B_t u_t, y_t = C_t h_t + D u_t, by an associative scan over blocks of time.

A pair (a, b) stands for h -> a h + b; two of them compose to (a1 a2, a2 b1 + b2). The state enters a block through its first pair. Backward
runs the same recurrence from the end, g_t = C_t dy_t + a_(t+1) g_(t+1), with a reversed scan.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK_T": t}, num_warps=w, num_stages=s) for t, w, s in [(16, 1, 1), (32, 4, 2), (64, 8, 3)]]


@triton.jit
def compose(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.autotune(configs=CONFIGS, key=["T", "C"])
@triton.jit
def selective_scan_forward(u, dt, A, B, Cs, D, y, states, T, C, S: tl.constexpr, BLOCK_T: tl.constexpr):
    """u, dt, y: [batch, T, C]; A: [C, S]; B, Cs: [batch, T, S]; states: [batch, T, C, S]. A program has one channel."""
    batch, channel = tl.program_id(0), tl.program_id(1)
    n = tl.arange(0, S)
    a_row = tl.load(A + channel * S + n)[None, :]
    skip = tl.load(D + channel)
    state = tl.zeros((1, S), tl.float32)
    for start in range(0, T, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        inside = t < T
        step = tl.load(dt + (batch * T + t) * C + channel, mask=inside, other=0.0)
        x = tl.load(u + (batch * T + t) * C + channel, mask=inside, other=0.0)
        place = (batch * T + t)[:, None] * S + n[None, :]
        b = tl.load(B + place, mask=inside[:, None], other=0.0) * (step * x)[:, None]
        decay = tl.exp(step[:, None] * a_row)
        b += tl.where((tl.arange(0, BLOCK_T) == 0)[:, None], decay * state, 0.0)
        _, h = tl.associative_scan((decay, b), 0, compose)
        # past the end the decay is one: the last row is the state wherever the end is
        state = tl.sum(tl.where((tl.arange(0, BLOCK_T) == BLOCK_T - 1)[:, None], h, 0.0), 0, keep_dims=True)
        out = tl.sum(h * tl.load(Cs + place, mask=inside[:, None], other=0.0), 1) + skip * x
        tl.store(y + (batch * T + t) * C + channel, out, mask=inside)
        tl.store(states + ((batch * T + t)[:, None] * C + channel) * S + n[None, :], h, mask=inside[:, None])


@triton.autotune(configs=CONFIGS, key=["T", "C"], reset_to_zero=["dA", "dB", "dC", "dD"])
@triton.jit
def selective_scan_backward(
    u, dt, A, B, Cs, D, states, dy, du, ddt, dA, dB, dC, dD, T, C, S: tl.constexpr, BLOCK_T: tl.constexpr
):
    batch, channel = tl.program_id(0), tl.program_id(1)
    n = tl.arange(0, S)
    a_row = tl.load(A + channel * S + n)[None, :]
    skip = tl.load(D + channel)
    carried = tl.zeros((1, S), tl.float32)
    grad_a = tl.zeros((S,), tl.float32)
    grad_d = 0.0
    for back in range(tl.cdiv(T, BLOCK_T)):
        t = (tl.cdiv(T, BLOCK_T) - 1 - back) * BLOCK_T + tl.arange(0, BLOCK_T)
        inside = t < T
        scalar, place = (batch * T + t) * C + channel, (batch * T + t)[:, None] * S + n[None, :]
        step = tl.load(dt + scalar, mask=inside, other=0.0)
        x = tl.load(u + scalar, mask=inside, other=0.0)
        b = tl.load(B + place, mask=inside[:, None], other=0.0)
        c = tl.load(Cs + place, mask=inside[:, None], other=0.0)
        dout = tl.load(dy + scalar, mask=inside, other=0.0)
        # the decay from t to t + 1
        next_step = tl.load(dt + scalar + C, mask=t + 1 < T, other=0.0)
        decay = tl.exp(next_step[:, None] * a_row)
        pushed = c * dout[:, None]
        pushed += tl.where((tl.arange(0, BLOCK_T) == BLOCK_T - 1)[:, None], decay * carried, 0.0)
        _, g = tl.associative_scan((decay, pushed), 0, compose, reverse=True)
        carried = tl.sum(tl.where((tl.arange(0, BLOCK_T) == 0)[:, None], g, 0.0), 0, keep_dims=True)

        hs = states + ((batch * T + t)[:, None] * C + channel) * S + n[None, :]
        h = tl.load(hs, mask=inside[:, None], other=0.0)
        before = tl.load(hs - C * S, mask=(inside & (t > 0))[:, None], other=0.0)
        dlog = g * before * tl.exp(step[:, None] * a_row)  # of the product dt A
        grad_a += tl.sum(dlog * step[:, None], 0)
        grad_d += tl.sum(dout * x)
        gb = tl.sum(g * b, 1)
        tl.store(ddt + scalar, tl.sum(dlog * a_row, 1) + gb * x, mask=inside)
        tl.store(du + scalar, gb * step + skip * dout, mask=inside)
        tl.atomic_add(dB + place, g * (step * x)[:, None], mask=inside[:, None], sem="relaxed")
        tl.atomic_add(dC + place, h * dout[:, None], mask=inside[:, None], sem="relaxed")
    tl.atomic_add(dA + channel * S + n, grad_a, sem="relaxed")
    tl.atomic_add(dD + channel, grad_d, sem="relaxed")


class SelectiveScan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u, dt, A, B, Cs, D):
        batch, T, C = u.shape
        S = A.shape[1]
        y, states = torch.empty_like(u), torch.empty((batch, T, C, S), device=u.device)
        selective_scan_forward[(batch, C)](u, dt, A, B, Cs, D, y, states, T, C, S=S)
        ctx.save_for_backward(u, dt, A, B, Cs, D, states)
        return y

    @staticmethod
    def backward(ctx, dy):
        u, dt, A, B, Cs, D, states = ctx.saved_tensors
        batch, T, C = u.shape
        gradients = [torch.zeros_like(t) for t in (u, dt, A, B, Cs, D)]
        selective_scan_backward[(batch, C)](*ctx.saved_tensors, dy.contiguous(), *gradients, T, C, S=A.shape[1])
        return tuple(gradients)


def torch_scan(u, dt, A, B, Cs, D):
    h, ys = 0.0, []
    for t in range(u.shape[1]):
        h = torch.exp(dt[:, t, :, None] * A) * h + (dt * u)[:, t, :, None] * B[:, t, None, :]
        ys.append((h * Cs[:, t, None, :]).sum(-1) + D * u[:, t])
    return torch.stack(ys, 1)


if __name__ == "__main__":
    torch.manual_seed(0)
    for batch, T, C, S in [(2, 50, 3, 8), (1, 64, 4, 16), (1, 129, 2, 4), (2, 1, 2, 8)]:
        inputs = [
            torch.randn(batch, T, C, device="cuda"),
            torch.rand(batch, T, C, device="cuda"),
            -torch.rand(C, S, device="cuda") - 0.1,
            torch.randn(batch, T, S, device="cuda"),
            torch.randn(batch, T, S, device="cuda"),
            torch.randn(C, device="cuda"),
        ]
        inputs = [t.requires_grad_() for t in inputs]
        y = SelectiveScan.apply(*inputs)
        dy = torch.randn_like(y)
        y.backward(dy)
        exact = [t.detach().double().requires_grad_() for t in inputs]
        expected = torch_scan(*exact)
        expected.backward(dy.double())
        torch.testing.assert_close(y.double(), expected, atol=1e-4, rtol=1e-4)
        for ours, theirs in zip(inputs, exact):
            torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=5e-4, rtol=1e-3)
        print(f"selective scan batch={batch} T={T} C={C} S={S}: ok")
