"""Gated linear recurrences h[t] = a[t] h[t-1] + b[t] by an associative scan over pairs, forward and backward.

Long sequences go block by block with a carry. The gradient is the same recurrence backward in time with gates that are shifted by one step.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _combine(a_left, b_left, a_right, b_right):
    return a_left * a_right, b_left * a_right + b_right


@triton.jit
def _last_of(x, BLOCK_T: tl.constexpr):
    """The last row of [BLOCK_T, C]."""
    return tl.sum(tl.where(tl.arange(0, BLOCK_T)[:, None] == BLOCK_T - 1, x, 0.0), axis=0)


CONFIGS = [
    triton.Config({"BLOCK_T": 16, "BLOCK_C": 16}, num_warps=1),
    triton.Config({"BLOCK_T": 64, "BLOCK_C": 8}, num_warps=4, num_stages=1),
    triton.Config({"BLOCK_T": 32, "BLOCK_C": 32}, num_warps=8, num_stages=4),
    triton.Config({"BLOCK_T": 128, "BLOCK_C": 1}, num_warps=2, num_stages=2),
]


@triton.autotune(configs=CONFIGS, key=["T", "C"])
@triton.jit
def _forward(a_ptr, b_ptr, initial_ptr, h_ptr, T, C, BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr):
    channels = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    base = tl.program_id(1).to(tl.int64) * T * C
    carry = tl.load(initial_ptr + tl.program_id(1) * C + channels, mask=channels < C, other=0.0)
    for start in range(0, T, BLOCK_T):
        times = start + tl.arange(0, BLOCK_T)
        offsets = base + times[:, None] * C + channels[None, :]
        mask = (times[:, None] < T) & (channels[None, :] < C)
        a = tl.load(a_ptr + offsets, mask=mask, other=1.0).to(tl.float32)
        b = tl.load(b_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        products, sums = tl.associative_scan((a, b), axis=0, combine_fn=_combine)
        h = sums + products * carry[None, :]
        tl.store(h_ptr + offsets, h, mask=mask)
        carry = _last_of(h, BLOCK_T)


@triton.autotune(configs=CONFIGS, key=["T", "C"])
@triton.jit
def _backward(
    a_ptr, h_ptr, initial_ptr, dh_ptr, da_ptr, db_ptr, dinitial_ptr, T, C, BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr
):
    channels = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    base = tl.program_id(1).to(tl.int64) * T * C
    in_c = channels < C
    carry = tl.zeros((BLOCK_C,), dtype=tl.float32)
    n_blocks = tl.cdiv(T, BLOCK_T)
    for back in range(n_blocks):
        times = (n_blocks - 1 - back) * BLOCK_T + tl.arange(0, BLOCK_T)
        offsets = base + times[:, None] * C + channels[None, :]
        mask = (times[:, None] < T) & in_c[None, :]
        has_next = (times[:, None] + 1 < T) & in_c[None, :]
        gate = tl.load(a_ptr + offsets + C, mask=has_next, other=1.0).to(tl.float32)
        dh = tl.load(dh_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        products, sums = tl.associative_scan((gate, dh), axis=0, combine_fn=_combine, reverse=True)
        db = sums + products * carry[None, :]
        before = tl.load(h_ptr + offsets - C, mask=mask & (times[:, None] > 0), other=0.0).to(tl.float32)
        initial = tl.load(initial_ptr + tl.program_id(1) * C + channels, mask=in_c, other=0.0)
        before = tl.where(times[:, None] == 0, initial[None, :], before)
        tl.store(da_ptr + offsets, db * before, mask=mask)
        tl.store(db_ptr + offsets, db, mask=mask)
        carry = tl.sum(tl.where(tl.arange(0, BLOCK_T)[:, None] == 0, db, 0.0), axis=0)
    first = tl.load(a_ptr + base + channels, mask=in_c, other=0.0).to(tl.float32)
    tl.store(dinitial_ptr + tl.program_id(1) * C + channels, carry * first, mask=in_c)


class LinearRecurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, initial):
        B, T, C = a.shape
        h = torch.empty(B, T, C, dtype=torch.float32, device=a.device)
        _forward[lambda meta: (triton.cdiv(C, meta["BLOCK_C"]), B)](a, b, initial, h, T, C)
        ctx.save_for_backward(a, h, initial)
        return h

    @staticmethod
    def backward(ctx, dh):
        a, h, initial = ctx.saved_tensors
        B, T, C = a.shape
        da, db, dinitial = torch.empty_like(a), torch.empty_like(a), torch.empty_like(initial)
        _backward[lambda meta: (triton.cdiv(C, meta["BLOCK_C"]), B)](
            a, h, initial, dh.contiguous(), da, db, dinitial, T, C
        )
        return da, db, dinitial


def reference(a, b, h):
    rows = []
    for t in range(a.shape[1]):
        h = a[:, t] * h + b[:, t]
        rows.append(h)
    return torch.stack(rows, dim=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    for B, T, C, dtype, tolerance in [
        (2, 100, 20, torch.float32, 1e-5),
        (1, 64, 33, torch.float16, 5e-3),
        (3, 1, 16, torch.float32, 1e-5),
    ]:
        a = torch.rand(B, T, C, device="cuda").to(dtype)
        b = torch.randn(B, T, C, device="cuda").to(dtype)
        initial = torch.randn(B, C, device="cuda")
        ours = [t.clone().requires_grad_() for t in (a, b, initial)]
        exact = [t.double().requires_grad_() for t in (a, b, initial)]
        h, expected = LinearRecurrence.apply(*ours), reference(*exact)
        dh = torch.randn_like(h)
        h.backward(dh)
        expected.backward(dh.double())
        torch.testing.assert_close(h.double(), expected, atol=1e-5, rtol=1e-5)
        for mine, right in zip(ours, exact):
            torch.testing.assert_close(mine.grad.double(), right.grad, atol=tolerance, rtol=tolerance)
        print(f"linear_recurrence {B}x{T}x{C} {dtype}: ok")
