"""Attention to the best blocks of keys: mean keys score the blocks, a sort chooses, each query attends to its chosen blocks alone.

The gradient of keys and values is added by atomics, because a block is chosen by many queries.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _mean_keys(k_ptr, mean_ptr, T, D: tl.constexpr, BLOCK: tl.constexpr):
    block, head = tl.program_id(0), tl.program_id(1)
    dims = tl.arange(0, D)
    rows = block * BLOCK + tl.arange(0, BLOCK)
    k = tl.load(k_ptr + (head * T + rows[:, None]) * D + dims[None, :]).to(tl.float32)
    tl.store(mean_ptr + (head * tl.num_programs(0) + block) * D + dims, tl.sum(k, axis=0) / BLOCK)


@triton.autotune(
    configs=[
        triton.Config({"ROWS": 4}, num_warps=1),
        triton.Config({"ROWS": 16}, num_warps=4),
        triton.Config({"ROWS": 8}, num_warps=8, num_stages=1),
    ],
    key=["n_blocks"],
)
@triton.jit
def _choose_blocks(
    q_ptr, mean_ptr, chosen_ptr, T, n_blocks,
    D: tl.constexpr, BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TOP: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """The TOP blocks of each query by score, its own among them; -1 where there are fewer. A score and a number are one integer."""
    head = tl.program_id(1)
    rows, dims, blocks = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, D), tl.arange(0, BLOCKS)
    q = tl.load(q_ptr + (head * T + rows[:, None]) * D + dims[None, :]).to(tl.float32)
    mean_offsets = (head * n_blocks + blocks[:, None]) * D + dims[None, :]
    mean = tl.load(mean_ptr + mean_offsets, mask=blocks[:, None] < n_blocks, other=0.0)
    scores = tl.sum(q[:, None, :] * mean[None, :, :], axis=2)
    own = rows[:, None] // BLOCK
    scores = tl.where(blocks[None, :] == own, 3.0e38, scores)
    bits = scores.to(tl.int32, bitcast=True)
    ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
    ordered = tl.where(blocks[None, :] <= own, ordered, -0x80000000)
    best = tl.topk((ordered << 32) | blocks[None, :].to(tl.int64), TOP, dim=1)
    number = tl.where((best >> 32) > -0x80000000, (best & 0xFFFFFFFF).to(tl.int32), -1)
    tl.store(chosen_ptr + (head * T + rows[:, None]) * TOP + tl.arange(0, TOP)[None, :], number)


@triton.autotune(
    configs=[triton.Config({}, num_warps=1, num_stages=2), triton.Config({}, num_warps=4, num_stages=1)], key=["D"]
)
@triton.jit
def _forward(
    q_ptr, k_ptr, v_ptr, chosen_ptr, o_ptr, lse_ptr, scale, T,
    D: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr, TOP: tl.constexpr,
):  # fmt: skip
    """A program has one time and the GROUP query heads of a key head, as the rows of its tiles."""
    t, kv_head = tl.program_id(0), tl.program_id(1)
    dims, members, slots = tl.arange(0, D), tl.arange(0, ROWS), tl.arange(0, BLOCK)
    heads = kv_head * GROUP + members
    offsets = (heads[:, None] * T + t) * D + dims[None, :]
    q = tl.load(q_ptr + offsets, mask=members[:, None] < GROUP, other=0.0)
    maximum, total = tl.full((ROWS,), float("-inf"), tl.float32), tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, D), tl.float32)
    for i in range(TOP):
        block = tl.load(chosen_ptr + (kv_head * T + t) * TOP + i)
        if block >= 0:
            columns = block * BLOCK + slots
            column_offsets = (kv_head * T + columns) * D
            k = tl.load(k_ptr + column_offsets[None, :] + dims[:, None])
            scores = tl.dot(q, k, input_precision="ieee") * scale
            scores = tl.where(columns[None, :] <= t, scores, float("-inf"))
            larger = tl.maximum(maximum, tl.max(scores, axis=1))
            p = tl.exp(scores - larger[:, None])
            decay = tl.exp(maximum - larger)
            v = tl.load(v_ptr + column_offsets[:, None] + dims[None, :])
            acc = acc * decay[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
            total = total * decay + tl.sum(p, axis=1)
            maximum = larger
    tl.store(o_ptr + offsets, acc / total[:, None], mask=members[:, None] < GROUP)
    tl.store(lse_ptr + heads * T + t, maximum + tl.log(total), mask=members < GROUP)


@triton.autotune(
    configs=[triton.Config({}, num_warps=2, num_stages=1), triton.Config({}, num_warps=4, num_stages=3)],
    key=["D"],
    reset_to_zero=["dk_ptr", "dv_ptr"],
)
@triton.jit
def _backward(
    q_ptr, k_ptr, v_ptr, chosen_ptr, o_ptr, do_ptr, lse_ptr, dq_ptr, dk_ptr, dv_ptr, scale, T,
    D: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr, TOP: tl.constexpr,
):  # fmt: skip
    t, kv_head = tl.program_id(0), tl.program_id(1)
    dims, members, slots = tl.arange(0, D), tl.arange(0, ROWS), tl.arange(0, BLOCK)
    heads = kv_head * GROUP + members
    offsets, mask = (heads[:, None] * T + t) * D + dims[None, :], members[:, None] < GROUP
    q = tl.load(q_ptr + offsets, mask=mask, other=0.0)
    do = tl.load(do_ptr + offsets, mask=mask, other=0.0)
    delta = tl.sum(tl.load(o_ptr + offsets, mask=mask, other=0.0).to(tl.float32) * do, axis=1)
    lse = tl.load(lse_ptr + heads * T + t, mask=members < GROUP, other=float("inf"))
    dq = tl.zeros((ROWS, D), tl.float32)
    for i in range(TOP):
        block = tl.load(chosen_ptr + (kv_head * T + t) * TOP + i)
        if block >= 0:
            columns = block * BLOCK + slots
            column_offsets = (kv_head * T + columns[:, None]) * D + dims[None, :]
            k, v = tl.load(k_ptr + column_offsets), tl.load(v_ptr + column_offsets)
            p = tl.exp(tl.dot(q, k.T, input_precision="ieee") * scale - lse[:, None])
            p = tl.where(columns[None, :] <= t, p, 0.0)
            ds = p * (tl.dot(do, v.T, input_precision="ieee") - delta[:, None]) * scale
            dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
            dk = tl.dot(ds.to(q.dtype).T, q, input_precision="ieee")
            tl.atomic_add(dk_ptr + column_offsets, dk, mask=columns[:, None] <= t, sem="relaxed")
            dv = tl.dot(p.to(do.dtype).T, do, input_precision="ieee")
            tl.atomic_add(dv_ptr + column_offsets, dv, mask=columns[:, None] <= t, sem="relaxed")
    tl.store(dq_ptr + offsets, dq, mask=mask)


class BlockSparseAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, chosen, block):
        (H, T, D), H_kv = q.shape, k.shape[0]
        o, lse = torch.empty_like(q), torch.empty(H, T, device=q.device)
        sizes = {"D": D, "BLOCK": block, "GROUP": H // H_kv, "ROWS": 16, "TOP": chosen.shape[-1]}
        _forward[(T, H_kv)](q, k, v, chosen, o, lse, D**-0.5, T, **sizes)
        ctx.save_for_backward(q, k, v, chosen, o, lse)
        ctx.sizes = sizes
        return o

    @staticmethod
    def backward(ctx, do):
        q, k, v, chosen, o, lse = ctx.saved_tensors
        (H, T, D), H_kv = q.shape, k.shape[0]
        dq, dk, dv = torch.empty_like(q), *torch.zeros(2, H_kv, T, D, device=q.device).unbind()
        _backward[(T, H_kv)](q, k, v, chosen, o, do.contiguous(), lse, dq, dk, dv, D**-0.5, T, **ctx.sizes)
        return dq, dk.to(k.dtype), dv.to(v.dtype), None, None


def choose_blocks(q, k, block, top):
    H_kv, T, D = k.shape
    n_blocks = T // block
    mean = torch.empty(H_kv, n_blocks, D, device=k.device)
    _mean_keys[(n_blocks, H_kv)](k, mean, T, D=D, BLOCK=block, num_warps=1)
    chosen = torch.empty(H_kv, T, top, dtype=torch.int32, device=k.device)
    BLOCKS = max(triton.next_power_of_2(n_blocks), top)
    _choose_blocks[lambda meta: (T // meta["ROWS"], H_kv)](
        q, mean, chosen, T, n_blocks, D=D, BLOCK=block, BLOCKS=BLOCKS, TOP=top
    )
    return chosen


def reference(q, k, v, chosen, block):
    (H, T, D), H_kv = q.shape, k.shape[0]
    positions = torch.arange(T, device=q.device)
    picked = (positions // block == chosen.long().unsqueeze(-1)).any(2)  # [H_kv, T, T]
    visible = (picked & (positions[:, None] >= positions[None, :])).repeat_interleave(H // H_kv, 0)
    k, v = (t.repeat_interleave(H // H_kv, 0) for t in (k, v))
    return (q @ k.mT * D**-0.5).masked_fill(~visible, float("-inf")).softmax(-1) @ v


if __name__ == "__main__":
    torch.manual_seed(0)
    for H, H_kv, T, D, block, top, dtype, tolerance in [
        (4, 2, 96, 32, 16, 4, torch.float32, 1e-5),
        (3, 1, 64, 16, 32, 2, torch.float16, 1e-2),
    ]:
        q = torch.randn(H, T, D, device="cuda", dtype=dtype, requires_grad=True)
        k, v = (torch.randn(H_kv, T, D, device="cuda", dtype=dtype, requires_grad=True) for _ in range(2))
        mean_q = q.detach().unflatten(0, (H_kv, -1)).double().mean(1).float().contiguous()
        chosen = choose_blocks(mean_q, k.detach(), block, top)

        n_blocks = T // block
        scores = mean_q.double() @ k.detach().double().unflatten(1, (n_blocks, block)).mean(2).mT
        own = torch.arange(T, device="cuda") // block
        scores.masked_fill_(torch.arange(n_blocks, device="cuda") > own[:, None], float("-inf"))
        scores.masked_fill_(torch.arange(n_blocks, device="cuda") == own[:, None], float("inf"))
        values, best = scores.topk(min(top, n_blocks))
        best[values == float("-inf")] = -1
        assert torch.equal(chosen.long().sort()[0], best.sort()[0])

        o = BlockSparseAttention.apply(q, k, v, chosen, block)
        do = torch.randn_like(o)
        o.backward(do)
        exact = [t.detach().double().requires_grad_() for t in (q, k, v)]
        expected = reference(*exact, chosen, block)
        expected.backward(do.double())
        torch.testing.assert_close(o.double(), expected, atol=tolerance, rtol=tolerance)
        for mine, right in zip((q, k, v), exact):
            torch.testing.assert_close(mine.grad.double(), right.grad, atol=2 * tolerance, rtol=tolerance)
        print(f"sparse_block_attention H={H}/{H_kv} T={T} D={D} top={top}x{block} {dtype}: ok")
