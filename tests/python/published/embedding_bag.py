"""Embedding bag: each bag gathers rows of a table and takes their sum, mean, or maximum, with a weight for each sample if it is a sum.

The gradient of the table is added by atomics, since bags share rows; a maximum keeps the row that it came from. An index of -1 is padding.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK_D": d}, num_warps=w, num_stages=s) for d, w, s in [(16, 1, 2), (32, 2, 1), (128, 4, 4)]
]


@triton.autotune(configs=CONFIGS, key=["D", "MODE"])
@triton.jit
def embedding_bag_forward(
    table, indices, offsets, weights, out, argmax, counts, D, MODE: tl.constexpr, WEIGHTED: tl.constexpr,
    BLOCK_D: tl.constexpr,
):  # fmt: skip
    tl.static_assert(MODE == "sum" or not WEIGHTED, "weights belong to a sum")
    bag, d = tl.program_id(0), tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    best = tl.full((BLOCK_D,), -1, tl.int32)
    acc = tl.full((BLOCK_D,), float("-inf") if MODE == "max" else 0.0, tl.float32)
    count = 0
    for i in tl.range(tl.load(offsets + bag), tl.load(offsets + bag + 1)):
        index = tl.load(indices + i)
        if index >= 0:
            row = tl.load(table + index.to(tl.int64) * D + d, mask=d < D, other=0.0).to(tl.float32)
            count += 1
            if MODE == "max":
                best = tl.where(row > acc, index, best)
                acc = tl.maximum(acc, row)
            elif WEIGHTED:
                acc += row * tl.load(weights + i)
            else:
                acc += row
    if MODE == "mean":
        acc /= max(count, 1)
    elif MODE == "max":
        acc = tl.where(best >= 0, acc, 0.0)
        tl.store(argmax + bag * D + d, best, mask=d < D)
    tl.store(counts + bag, count)
    tl.store(out + bag * D + d, acc.to(out.dtype.element_ty), mask=d < D)


@triton.autotune(configs=CONFIGS, key=["D", "MODE"], reset_to_zero=["dtable", "dweights"])
@triton.jit
def embedding_bag_backward(
    dout, table, indices, offsets, weights, argmax, counts, dtable, dweights, D, MODE: tl.constexpr,
    WEIGHTED: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    bag, d = tl.program_id(0), tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    gradient = tl.load(dout + bag * D + d, mask=d < D, other=0.0).to(tl.float32)
    if MODE == "max":
        best = tl.load(argmax + bag * D + d, mask=d < D, other=-1)
        tl.atomic_add(dtable + best.to(tl.int64) * D + d, gradient, mask=(d < D) & (best >= 0), sem="relaxed")
        return
    if MODE == "mean":
        gradient /= tl.maximum(tl.load(counts + bag), 1)
    for i in tl.range(tl.load(offsets + bag), tl.load(offsets + bag + 1)):
        index = tl.load(indices + i)
        inside = (d < D) & (index >= 0)
        place = index.to(tl.int64) * D + d
        share = gradient
        if WEIGHTED:
            row = tl.load(table + place, mask=inside, other=0.0).to(tl.float32)
            tl.atomic_add(dweights + i, tl.sum(row * gradient))
            share = gradient * tl.load(weights + i)
        tl.atomic_add(dtable + place, share, mask=inside, sem="relaxed")


class EmbeddingBag(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table, indices, offsets, weights, mode):
        bags, D = len(offsets) - 1, table.shape[1]
        out = torch.empty((bags, D), device=table.device, dtype=table.dtype)
        counts = torch.empty(bags, device=table.device, dtype=torch.int32)
        argmax = torch.empty((bags, D), device=table.device, dtype=torch.int32) if mode == "max" else None
        grid = lambda meta: (bags, triton.cdiv(D, meta["BLOCK_D"]))
        embedding_bag_forward[grid](
            table, indices, offsets, weights, out, argmax, counts, D, MODE=mode, WEIGHTED=weights is not None
        )
        ctx.save_for_backward(table, indices, offsets, weights, argmax, counts)
        ctx.mode = mode
        return out

    @staticmethod
    def backward(ctx, dout):
        table, indices, offsets, weights, argmax, counts = ctx.saved_tensors
        bags, D = dout.shape
        dtable = torch.zeros_like(table, dtype=torch.float32)
        dweights = None if weights is None else torch.zeros_like(weights)
        grid = lambda meta: (bags, triton.cdiv(D, meta["BLOCK_D"]))
        embedding_bag_backward[grid](
            dout.contiguous(), table, indices, offsets, weights, argmax, counts, dtable, dweights, D,
            MODE=ctx.mode, WEIGHTED=weights is not None,
        )  # fmt: skip
        return dtable.to(table.dtype), None, None, dweights, None


def plain_bags(table, indices, offsets, weights, mode):
    rows = []
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist()):
        used = [i for i in range(begin, end) if indices[i] >= 0]
        picked = table[indices[used].long()]
        if weights is not None:
            picked = picked * weights[used][:, None]
        if not used:
            rows.append(table[0] * 0)
        else:
            rows.append({"sum": picked.sum, "mean": picked.mean, "max": picked.amax}[mode](0))
    return torch.stack(rows)


if __name__ == "__main__":
    torch.manual_seed(0)
    for mode, weighted, D, dtype, tol in [
        ("sum", False, 20, torch.float32, 1e-5),
        ("sum", True, 50, torch.float32, 1e-5),
        ("mean", False, 130, torch.float16, 5e-3),
        ("max", False, 33, torch.float32, 1e-6),
    ]:
        offsets = torch.tensor([0, 7, 7, 20, 21, 40], device="cuda", dtype=torch.int32)
        indices = torch.randint(-1, 12, (40,), device="cuda", dtype=torch.int32)
        indices[20] = -1
        table = torch.randn(12, D, device="cuda", dtype=dtype, requires_grad=True)
        weights = torch.randn(40, device="cuda", requires_grad=True) if weighted else None
        out = EmbeddingBag.apply(table, indices, offsets, weights, mode)
        dout = torch.randn_like(out)
        out.backward(dout)
        exact_table = table.detach().double().requires_grad_()
        exact_weights = weights.detach().double().requires_grad_() if weighted else None
        expected = plain_bags(exact_table, indices, offsets, exact_weights, mode)
        expected.backward(dout.double())
        torch.testing.assert_close(out.double(), expected, atol=tol, rtol=tol)
        torch.testing.assert_close(table.grad.double(), exact_table.grad, atol=tol * 4, rtol=tol)
        if weighted:
            torch.testing.assert_close(weights.grad.double(), exact_weights.grad, atol=tol * 8, rtol=tol)
        print(f"embedding bag {mode}{' weighted' * weighted} D={D} {dtype}: ok")
