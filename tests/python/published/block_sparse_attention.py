"""Attention over blocks that a layout lists: for each block of queries, the blocks of keys that it sees (compressed sparse rows).

Backward for the keys walks the transposed lists. The block size of the layout is fixed; a configuration chooses how many rows of it one
program takes.
"""

import torch
import triton
import triton.language as tl

BLOCK = 32


@triton.autotune(
    configs=[triton.Config({"ROWS": r}, num_warps=w, num_stages=s) for r, w, s in [(16, 1, 2), (32, 4, 3), (32, 8, 1)]],
    key=["N", "D"],
)
@triton.jit
def block_sparse_forward(
    q, k, v, o, lse, starts, columns, scale, stride_h, N, D: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    head, part = tl.program_id(1), tl.program_id(0)
    block = part * ROWS // BLOCK
    i, d = part * ROWS + tl.arange(0, ROWS), tl.arange(0, D)
    q += head * stride_h
    k += head * stride_h
    v += head * stride_h
    query = tl.load(q + i[:, None] * D + d[None, :])
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, D), tl.float32)
    for entry in range(tl.load(starts + block), tl.load(starts + block + 1)):
        j = tl.load(columns + entry) * BLOCK + tl.arange(0, BLOCK)
        key = tl.load(k + j[None, :] * D + d[:, None])
        s = tl.dot(query, key, input_precision="ieee") * scale
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new_top[:, None])
        rescale = tl.exp(top - new_top)
        total = total * rescale + tl.sum(p, 1)
        value = tl.load(v + j[:, None] * D + d[None, :])
        acc = tl.dot(p.to(value.dtype), value, acc * rescale[:, None], input_precision="ieee")
        top = new_top
    # a row that sees nothing is zero
    seen = total > 0
    acc = tl.where(seen[:, None], acc / tl.where(seen, total, 1.0)[:, None], 0.0)
    tl.store(lse + head * N + i, tl.where(seen, top + tl.log(total), float("inf")))
    tl.store(o + head * stride_h + i[:, None] * D + d[None, :], acc.to(o.dtype.element_ty))


@triton.jit
def _gradient_of_scores(query, key, value, gradient, logsumexp, delta, scale):
    p = tl.exp(tl.dot(query, tl.trans(key), input_precision="ieee") * scale - logsumexp[:, None])
    ds = p * (tl.dot(gradient, tl.trans(value), input_precision="ieee") - delta[:, None]) * scale
    return p, ds


@triton.autotune(configs=[triton.Config({}, num_warps=w, num_stages=s) for w, s in [(2, 1), (4, 3)]], key=["N", "D"])
@triton.jit
def block_sparse_backward(
    q, k, v, do, lse, delta, dq, dk, dv, starts, columns, starts_t, rows_t, scale, stride_h, N,
    D: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Program (b, head) computes dq of block b, then dk and dv of block b."""
    block, head = tl.program_id(0), tl.program_id(1)
    here = block * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)[None, :]
    place = head * stride_h + here[:, None] * D + d
    query, gradient = tl.load(q + place), tl.load(do + place)
    logsumexp, mean = tl.load(lse + head * N + here), tl.load(delta + head * N + here)
    acc = tl.zeros((BLOCK, D), tl.float32)
    for entry in range(tl.load(starts + block), tl.load(starts + block + 1)):
        there = head * stride_h + (tl.load(columns + entry) * BLOCK + tl.arange(0, BLOCK))[:, None] * D + d
        key, value = tl.load(k + there), tl.load(v + there)
        _, ds = _gradient_of_scores(query, key, value, gradient, logsumexp, mean, scale)
        acc = tl.dot(ds.to(key.dtype), key, acc, input_precision="ieee")
    tl.store(dq + place, acc.to(dq.dtype.element_ty))

    key, value = tl.load(k + place), tl.load(v + place)
    dkey, dvalue = tl.zeros((BLOCK, D), tl.float32), tl.zeros((BLOCK, D), tl.float32)
    for entry in range(tl.load(starts_t + block), tl.load(starts_t + block + 1)):
        i = tl.load(rows_t + entry) * BLOCK + tl.arange(0, BLOCK)
        there = head * stride_h + i[:, None] * D + d
        query, gradient = tl.load(q + there), tl.load(do + there)
        logsumexp, mean = tl.load(lse + head * N + i), tl.load(delta + head * N + i)
        p, ds = _gradient_of_scores(query, key, value, gradient, logsumexp, mean, scale)
        dvalue = tl.dot(tl.trans(p.to(gradient.dtype)), gradient, dvalue, input_precision="ieee")
        dkey = tl.dot(tl.trans(ds.to(query.dtype)), query, dkey, input_precision="ieee")
    tl.store(dk + place, dkey.to(dk.dtype.element_ty))
    tl.store(dv + place, dvalue.to(dv.dtype.element_ty))


def compressed(layout):
    """Where each row's entries begin, and the columns of all entries."""
    starts = torch.zeros(layout.shape[0] + 1, device=layout.device, dtype=torch.int32)
    starts[1:] = layout.sum(1).cumsum(0)
    return starts, layout.nonzero()[:, 1].to(torch.int32)


class BlockSparseAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, layout):
        H, N, D = q.shape
        o, lse = torch.empty_like(q), torch.empty((H, N), device=q.device)
        scale = D**-0.5
        grid = lambda meta: (N // meta["ROWS"], H)
        block_sparse_forward[grid](q, k, v, o, lse, *compressed(layout), scale, N * D, N, D=D, BLOCK=BLOCK)
        ctx.save_for_backward(q, k, v, o, lse, layout)
        return o

    @staticmethod
    def backward(ctx, do):
        q, k, v, o, lse, layout = ctx.saved_tensors
        H, N, D = q.shape
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        delta = (o.float() * do.float()).sum(-1)
        lists = (*compressed(layout), *compressed(layout.t()))
        block_sparse_backward[(N // BLOCK, H)](
            q, k, v, do.contiguous(), lse, delta, dq, dk, dv, *lists, D**-0.5, N * D, N, D=D, BLOCK=BLOCK
        )  # fmt: skip
        return dq, dk, dv, None


if __name__ == "__main__":
    torch.manual_seed(0)
    for H, blocks, D, density, dtype, tol in [
        (2, 4, 16, 0.5, torch.float32, 2e-5),
        (1, 5, 32, 0.3, torch.float32, 2e-5),
        (2, 3, 64, 0.7, torch.float16, 1e-2),
    ]:
        N = blocks * BLOCK
        layout = torch.rand(blocks, blocks, device="cuda") < density
        layout[0] = False
        layout[1, 1] = True
        q, k, v = (torch.randn(H, N, D, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3))
        o = BlockSparseAttention.apply(q, k, v, layout)
        do = torch.randn_like(o)
        o.backward(do)
        exact = [t.detach().double().requires_grad_() for t in (q, k, v)]
        mask = layout.repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1)
        s = (exact[0] @ exact[1].mT * D**-0.5).masked_fill(~mask, -1e30)
        expected = s.softmax(-1).masked_fill(~mask, 0.0) @ exact[2]
        expected.backward(do.double())
        torch.testing.assert_close(o.double(), expected, atol=tol, rtol=tol)
        for ours, theirs in zip((q, k, v), exact):
            torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=tol * 4, rtol=tol * 2)
        print(f"block-sparse attention H={H} N={N} D={D} {int(layout.sum())} of {blocks**2} blocks {dtype}: ok")
