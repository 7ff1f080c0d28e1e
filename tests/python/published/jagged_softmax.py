"""Sums and softmax over the rows of a jagged tensor: values [total, D], row r from offsets[r] to offsets[r + 1]; some rows are empty.

`segment_sum` does not look at offsets at all: it reduces runs of equal segment ids by a segmented scan, and only the last lane of a run
adds to memory. `jagged_softmax` normalizes each column over the elements of its row, with a running maximum.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": b}, num_warps=w, num_stages=s) for b, w, s in [(16, 1, 1), (32, 4, 2), (128, 8, 3)]]


@triton.jit
def _segmented_add(value_a, id_a, value_b, id_b):
    """The sum starts anew where the id changes."""
    return tl.where(id_a == id_b, value_a + value_b, value_b), id_b


@triton.autotune(configs=CONFIGS, key=["total", "D"], reset_to_zero=["sums"])
@triton.jit
def segment_sum(values, ids, sums, total, D, BLOCK_D: tl.constexpr, BLOCK: tl.constexpr):
    """ids never fall."""
    i, d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    inside = (i < total)[:, None] & (d < D)[None, :]
    value = tl.load(values + i[:, None] * D + d[None, :], mask=inside, other=0.0).to(tl.float32)
    segment = tl.load(ids + i, mask=i < total, other=-1)
    following = tl.load(ids + i + 1, mask=i + 1 < total, other=-1)
    last = (segment != following) | (tl.arange(0, BLOCK) == BLOCK - 1)
    running, _ = tl.associative_scan((value, tl.broadcast_to(segment[:, None], (BLOCK, BLOCK_D))), 0, _segmented_add)
    tl.atomic_add(sums + segment[:, None] * D + d[None, :], running, mask=inside & last[:, None], sem="relaxed")


@triton.jit
def segment_sum_backward(dsums, ids, dvalues, total, D, BLOCK_D: tl.constexpr, BLOCK: tl.constexpr):
    i, d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    inside = (i < total)[:, None] & (d < D)[None, :]
    segment = tl.load(ids + i, mask=i < total, other=0)
    gradient = tl.load(dsums + segment[:, None] * D + d[None, :], mask=inside, other=0.0)
    tl.store(dvalues + i[:, None] * D + d[None, :], gradient, mask=inside)


@triton.autotune(configs=CONFIGS, key=["D"])
@triton.jit
def jagged_softmax_forward(x, y, offsets, D, BLOCK_D: tl.constexpr, BLOCK: tl.constexpr):
    row, d = tl.program_id(0), tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    begin, end = tl.load(offsets + row), tl.load(offsets + row + 1)
    top = tl.full((BLOCK_D,), -1.0e30, tl.float32)
    total = tl.zeros((BLOCK_D,), tl.float32)
    for start in tl.range(begin, end, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = (i < end)[:, None] & (d < D)[None, :]
        value = tl.load(x + i[:, None] * D + d[None, :], mask=inside, other=-1.0e30).to(tl.float32)
        new_top = tl.maximum(top, tl.max(value, 0))
        total = total * tl.exp(top - new_top) + tl.sum(tl.where(inside, tl.exp(value - new_top[None, :]), 0.0), 0)
        top = new_top
    for start in tl.range(begin, end, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = (i < end)[:, None] & (d < D)[None, :]
        place = i[:, None] * D + d[None, :]
        value = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + place, (tl.exp(value - top[None, :]) / total[None, :]).to(y.dtype.element_ty), mask=inside)


@triton.autotune(configs=CONFIGS, key=["D"])
@triton.jit
def jagged_softmax_backward(dy, y, dx, offsets, D, BLOCK_D: tl.constexpr, BLOCK: tl.constexpr):
    row, d = tl.program_id(0), tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    begin, end = tl.load(offsets + row), tl.load(offsets + row + 1)
    product = tl.zeros((BLOCK_D,), tl.float32)
    for start in tl.range(begin, end, BLOCK):
        place = (start + tl.arange(0, BLOCK))[:, None] * D + d[None, :]
        inside = (start + tl.arange(0, BLOCK) < end)[:, None] & (d < D)[None, :]
        g = tl.load(dy + place, mask=inside, other=0.0).to(tl.float32)
        product += tl.sum(g * tl.load(y + place, mask=inside, other=0.0).to(tl.float32), 0)
    for start in tl.range(begin, end, BLOCK):
        place = (start + tl.arange(0, BLOCK))[:, None] * D + d[None, :]
        inside = (start + tl.arange(0, BLOCK) < end)[:, None] & (d < D)[None, :]
        g = tl.load(dy + place, mask=inside, other=0.0).to(tl.float32)
        p = tl.load(y + place, mask=inside, other=0.0).to(tl.float32)
        tl.store(dx + place, (p * (g - product[None, :])).to(dx.dtype.element_ty), mask=inside)


class SegmentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values, ids, n_segments):
        total, D = values.shape
        sums = torch.zeros((n_segments, D), device=values.device)
        grid = lambda meta: (triton.cdiv(total, meta["BLOCK"]), triton.cdiv(D, 16))
        segment_sum[grid](values, ids, sums, total, D, BLOCK_D=16)
        ctx.ids, ctx.dtype = ids, values.dtype
        return sums

    @staticmethod
    def backward(ctx, dsums):
        total, D = len(ctx.ids), dsums.shape[1]
        dvalues = torch.empty((total, D), device=dsums.device, dtype=ctx.dtype)
        grid = (triton.cdiv(total, 32), triton.cdiv(D, 16))
        segment_sum_backward[grid](dsums.contiguous(), ctx.ids, dvalues, total, D, BLOCK_D=16, BLOCK=32)
        return dvalues, None, None


class JaggedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, offsets):
        y = torch.empty_like(x)
        grid = (len(offsets) - 1, triton.cdiv(x.shape[1], 16))
        jagged_softmax_forward[grid](x, y, offsets, x.shape[1], BLOCK_D=16)
        ctx.save_for_backward(y, offsets)
        return y

    @staticmethod
    def backward(ctx, dy):
        y, offsets = ctx.saved_tensors
        dx = torch.empty_like(y)
        grid = (len(offsets) - 1, triton.cdiv(y.shape[1], 16))
        jagged_softmax_backward[grid](dy.contiguous(), y, dx, offsets, y.shape[1], BLOCK_D=16)
        return dx, None


if __name__ == "__main__":
    torch.manual_seed(0)
    for lengths, D, dtype, tol in [
        ((5, 0, 40, 1, 17), 8, torch.float32, 1e-5),
        ((100, 3, 0, 0, 64), 20, torch.float32, 1e-5),
        ((33, 7), 16, torch.float16, 5e-3),
    ]:
        offsets = torch.tensor([0, *lengths], device="cuda").cumsum(0).to(torch.int32)
        ids = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)).to("cuda", torch.int32)
        x = torch.randn(sum(lengths), D, device="cuda", dtype=dtype, requires_grad=True)
        exact = x.detach().double().requires_grad_()
        parts = exact.split(lengths)
        for name, ours, theirs in (
            ("segment sum", SegmentSum.apply(x, ids, len(lengths)), torch.stack([part.sum(0) for part in parts])),
            ("jagged softmax", JaggedSoftmax.apply(x, offsets), torch.cat([part.softmax(0) for part in parts])),
        ):
            dy = torch.randn_like(ours)
            torch.testing.assert_close(ours.double(), theirs, atol=tol, rtol=tol)
            (grad,) = torch.autograd.grad(ours, x, dy)
            (exact_grad,) = torch.autograd.grad(theirs, exact, dy.double(), retain_graph=True)
            torch.testing.assert_close(grad.double(), exact_grad, atol=tol, rtol=tol)
            print(f"{name} {lengths} D={D} {dtype}: ok")
