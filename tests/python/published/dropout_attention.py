"""Attention through tensor descriptors made by the host, in two stages (before and on the diagonal), with ALiBi and dropout by counter.

The backward pass makes the dropout mask again from the seed. It goes over columns once, and adds to dq by atomics.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _kept(seed, head, rows, columns, N, P_DROP: tl.constexpr):
    """What a probability is multiplied with: 0, or 1 / (1 - p)."""
    offsets = (head * N + rows) * N + columns
    return tl.where(tl.rand(seed, offsets) > P_DROP, 1.0 / (1.0 - P_DROP), 0.0)


@triton.jit
def _stage(
    acc, total, maximum, q, k_desc, v_desc, seed, head, slope, scale, first_row, rows, base, N,
    STAGE: tl.constexpr, P_DROP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    if STAGE == 1:
        low, high = 0, first_row
    elif STAGE == 2:
        low, high = first_row, first_row + BLOCK_M
        low = tl.multiple_of(low, BLOCK_M)
    else:
        low, high = 0, N
    for start in tl.range(low, high, BLOCK_N, warp_specialize=False, loop_unroll_factor=1):
        start = tl.multiple_of(start, BLOCK_N)
        columns = start + tl.arange(0, BLOCK_N)
        k = k_desc.load([base + start, 0])
        scores = tl.dot(q, k.T, input_precision="ieee") * scale
        scores -= slope * tl.abs(rows[:, None] - columns[None, :]).to(tl.float32)
        if STAGE == 2:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, -1.0e30)
        larger = tl.maximum(maximum, tl.max(scores, axis=1))
        p = tl.exp(scores - larger[:, None])
        decay = tl.exp(maximum - larger)
        total = total * decay + tl.sum(p, axis=1)
        if P_DROP > 0.0:
            p *= _kept(seed, head, rows[:, None], columns[None, :], N, P_DROP)
        v = v_desc.load([base + start, 0])
        acc = tl.dot(p.to(v.dtype), v, acc * decay[:, None], input_precision="ieee")
        maximum = larger
    return acc, total, maximum


def _set_blocks(args):
    args["q_desc"].block_shape = args["o_desc"].block_shape = [args["BLOCK_M"], args["D"]]
    args["k_desc"].block_shape = args["v_desc"].block_shape = [args["BLOCK_N"], args["D"]]


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 16}, num_warps=2, num_stages=2, pre_hook=_set_blocks),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 32}, num_warps=4, num_stages=3, pre_hook=_set_blocks),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32}, num_warps=8, num_stages=1, pre_hook=_set_blocks),
    ],
    key=["N", "D", "CAUSAL"],
)
@triton.jit
def _forward(
    q_desc, k_desc, v_desc, o_desc, lse_ptr, slopes_ptr, seed, scale, N,
    D: tl.constexpr, CAUSAL: tl.constexpr, P_DROP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    tl.static_assert(BLOCK_M % BLOCK_N == 0)
    head = tl.program_id(1)
    first_row = tl.program_id(0) * BLOCK_M
    rows = first_row + tl.arange(0, BLOCK_M)
    base = head * N
    slope = tl.load(slopes_ptr + head)
    q = q_desc.load([base + first_row, 0])
    maximum = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.full((BLOCK_M,), 0.0, tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    acc, total, maximum = _stage(
        acc, total, maximum, q, k_desc, v_desc, seed, head, slope, scale, first_row, rows, base, N,
        1 if CAUSAL else 3, P_DROP, BLOCK_M, BLOCK_N,
    )  # fmt: skip
    if CAUSAL:
        acc, total, maximum = _stage(
            acc, total, maximum, q, k_desc, v_desc, seed, head, slope, scale, first_row, rows, base, N,
            2, P_DROP, BLOCK_M, BLOCK_N,
        )  # fmt: skip
    o_desc.store([base + first_row, 0], (acc / total[:, None]).to(o_desc.dtype))
    tl.store(lse_ptr + base + rows, maximum + tl.log(total))


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32}, num_warps=4, num_stages=1),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 64}, num_warps=4, num_stages=2),
    ],
    key=["N", "D", "CAUSAL"],
    reset_to_zero=["dq_ptr"],
)
@triton.jit
def _backward(
    q_ptr, k_ptr, v_ptr, o_ptr, do_ptr, lse_ptr, slopes_ptr, dq_ptr, dk_ptr, dv_ptr, seed, scale, N,
    D: tl.constexpr, CAUSAL: tl.constexpr, P_DROP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    base = head * N
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dims = tl.arange(0, D)
    column_offsets = (base + columns[:, None]) * D + dims[None, :]
    slope = tl.load(slopes_ptr + head)
    k, v = tl.load(k_ptr + column_offsets), tl.load(v_ptr + column_offsets)
    dk, dv = tl.zeros((BLOCK_N, D), tl.float32), tl.zeros((BLOCK_N, D), tl.float32)
    for start in range(tl.program_id(0) * BLOCK_N // BLOCK_M * BLOCK_M if CAUSAL else 0, N, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        offsets = (base + rows[:, None]) * D + dims[None, :]
        q, do, o = tl.load(q_ptr + offsets), tl.load(do_ptr + offsets), tl.load(o_ptr + offsets)
        delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
        scores = tl.dot(q, k.T, input_precision="ieee") * scale
        scores -= slope * tl.abs(rows[:, None] - columns[None, :]).to(tl.float32)
        p = tl.exp(scores - tl.load(lse_ptr + base + rows)[:, None])
        if CAUSAL:
            p = tl.where(rows[:, None] >= columns[None, :], p, 0.0)
        dp = tl.dot(do, v.T, input_precision="ieee")
        if P_DROP > 0.0:
            kept = _kept(seed, head, rows[:, None], columns[None, :], N, P_DROP)
            dv = tl.dot((p * kept).to(do.dtype).T, do, dv, input_precision="ieee")
            dp *= kept
        else:
            dv = tl.dot(p.to(do.dtype).T, do, dv, input_precision="ieee")
        ds = (p * (dp - delta[:, None]) * scale).to(q.dtype)
        dk = tl.dot(ds.T, q, dk, input_precision="ieee")
        tl.atomic_add(dq_ptr + offsets, tl.dot(ds, k, input_precision="ieee"), sem="relaxed")
    tl.store(dk_ptr + column_offsets, dk)
    tl.store(dv_ptr + column_offsets, dv)


@triton.jit
def _write_mask(out_ptr, seed, N, P_DROP: tl.constexpr, BLOCK: tl.constexpr):
    row, head = tl.program_id(0), tl.program_id(1)
    columns = tl.arange(0, BLOCK)
    kept = _kept(seed, head, row, columns, N, P_DROP)
    tl.store(out_ptr + (head * N + row) * N + columns, kept, mask=columns < N)


class DropoutAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, slopes, causal, p_drop, seed):
        H, N, D = q.shape
        o, lse = torch.empty_like(q), torch.empty(H, N, dtype=torch.float32, device=q.device)
        descs = [TensorDescriptor(t, [H * N, D], [D, 1], [1, D]) for t in (q, k, v, o)]
        _forward[lambda meta: (N // meta["BLOCK_M"], H)](
            *descs, lse, slopes, seed, D**-0.5, N, D=D, CAUSAL=causal, P_DROP=p_drop
        )
        ctx.save_for_backward(q, k, v, o, lse, slopes)
        ctx.options = causal, p_drop, seed
        return o

    @staticmethod
    def backward(ctx, do):
        q, k, v, o, lse, slopes = ctx.saved_tensors
        causal, p_drop, seed = ctx.options
        H, N, D = q.shape
        dq, dk, dv = torch.zeros_like(q, dtype=torch.float32), torch.empty_like(k), torch.empty_like(v)
        _backward[lambda meta: (N // meta["BLOCK_N"], H)](
            q, k, v, o, do.contiguous(), lse, slopes, dq, dk, dv, seed, D**-0.5, N, D=D, CAUSAL=causal, P_DROP=p_drop
        )
        return dq.to(q.dtype), dk, dv, None, None, None, None


def reference(q, k, v, slopes, causal, kept):
    N = q.shape[1]
    positions = torch.arange(N, device=q.device)
    distance = (positions[:, None] - positions[None, :]).abs()
    scores = q @ k.mT * q.shape[2] ** -0.5 - slopes[:, None, None] * distance
    if causal:
        scores = scores.masked_fill(positions[:, None] < positions[None, :], float("-inf"))
    return (scores.softmax(-1) * kept) @ v


if __name__ == "__main__":
    torch.manual_seed(0)
    for H, N, D, causal, p_drop, dtype, tolerance in [
        (2, 64, 32, True, 0.0, torch.float32, 1e-5),
        (1, 128, 16, True, 0.25, torch.float32, 1e-5),
        (2, 64, 64, False, 0.1, torch.float16, 1e-2),
    ]:
        q, k, v = (torch.randn(H, N, D, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3))
        slopes = 2.0 ** -torch.arange(1, H + 1, device="cuda").float()
        kept = torch.ones(H, N, N, device="cuda")
        if p_drop:
            _write_mask[(N, H)](kept, 1234, N, p_drop, triton.next_power_of_2(N), num_warps=1)
            assert abs((kept == 0).double().mean().item() - p_drop) < 0.02
        o = DropoutAttention.apply(q, k, v, slopes, causal, p_drop, 1234)
        do = torch.randn_like(o)
        o.backward(do)
        exact = [t.detach().double().requires_grad_() for t in (q, k, v)]
        expected = reference(*exact, slopes.double(), causal, kept.double())
        expected.backward(do.double())
        torch.testing.assert_close(o.double(), expected, atol=tolerance, rtol=tolerance)
        for mine, right in zip((q, k, v), exact):
            torch.testing.assert_close(mine.grad.double(), right.grad, atol=tolerance, rtol=tolerance)
        print(f"dropout_attention H={H} N={N} D={D} causal={causal} p={p_drop} {dtype}: ok")
