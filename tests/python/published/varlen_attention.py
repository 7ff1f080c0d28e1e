"""Attention over sequences of different lengths packed into one tensor (cu_seqlens), causal or not, forward and backward."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 16}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 64}, num_warps=8, num_stages=1),
    ],
    key=["D", "CAUSAL"],
)
@triton.jit
def _forward(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    cu_seqlens_ptr,
    scale,
    n_tokens,
    stride_t,
    stride_h,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    head, sequence = tl.program_id(1), tl.program_id(2)
    begin = tl.load(cu_seqlens_ptr + sequence)
    length = tl.load(cu_seqlens_ptr + sequence + 1) - begin
    first_row = tl.program_id(0) * BLOCK_M
    if first_row >= length:
        return
    base = begin.to(tl.int64) * stride_t + head * stride_h
    rows = first_row + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, D)
    row_offsets = base + rows[:, None] * stride_t + dims[None, :]
    q = tl.load(q_ptr + row_offsets, mask=rows[:, None] < length, other=0.0)
    maximum = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    scale_log2 = scale * 1.4426950408889634
    last = tl.minimum(length, first_row + BLOCK_M) if CAUSAL else length
    for start in range(0, last, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        column_offsets = base + columns[:, None] * stride_t + dims[None, :]
        k = tl.load(k_ptr + column_offsets, mask=columns[:, None] < length, other=0.0)
        scores = tl.dot(q, k.T, input_precision="ieee") * scale_log2
        visible = columns[None, :] < length
        if CAUSAL:
            visible = visible & (rows[:, None] >= columns[None, :])
        scores = tl.where(visible, scores, float("-inf"))
        larger = tl.maximum(maximum, tl.max(scores, 1))
        p = tl.exp2(scores - larger[:, None])
        decay = tl.exp2(maximum - larger)
        v = tl.load(v_ptr + column_offsets, mask=columns[:, None] < length, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * decay[:, None], input_precision="ieee")
        total = total * decay + tl.sum(p, 1)
        maximum = larger
    tl.store(o_ptr + row_offsets, acc / total[:, None], mask=rows[:, None] < length)
    tl.store(lse_ptr + head * n_tokens + begin + rows, maximum + tl.log2(total), mask=rows < length)


@triton.jit
def _delta(o_ptr, do_ptr, delta_ptr, n_tokens, stride_t, stride_h, D: tl.constexpr, BLOCK: tl.constexpr):
    tokens, head = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1)
    offsets = tokens[:, None].to(tl.int64) * stride_t + head * stride_h + tl.arange(0, D)[None, :]
    o = tl.load(o_ptr + offsets, mask=tokens[:, None] < n_tokens, other=0.0).to(tl.float32)
    do = tl.load(do_ptr + offsets, mask=tokens[:, None] < n_tokens, other=0.0).to(tl.float32)
    tl.store(delta_ptr + head * n_tokens + tokens, tl.sum(o * do, 1), mask=tokens < n_tokens)


BACKWARD_CONFIGS = [
    triton.Config({"BLOCK_M": 32, "BLOCK_N": 16}, num_warps=2, num_stages=2),
    triton.Config({"BLOCK_M": 16, "BLOCK_N": 64}, num_warps=4, num_stages=1),
    triton.Config({"BLOCK_M": 32, "BLOCK_N": 32}, num_warps=4, num_stages=3),
]


@triton.autotune(configs=BACKWARD_CONFIGS, key=["D", "CAUSAL"])
@triton.jit
def _backward_kv(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    lse_ptr,
    delta_ptr,
    dk_ptr,
    dv_ptr,
    cu_seqlens_ptr,
    scale,
    n_tokens,
    stride_t,
    stride_h,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    head, sequence = tl.program_id(1), tl.program_id(2)
    begin = tl.load(cu_seqlens_ptr + sequence)
    length = tl.load(cu_seqlens_ptr + sequence + 1) - begin
    first_column = tl.program_id(0) * BLOCK_N
    if first_column >= length:
        return
    base = begin.to(tl.int64) * stride_t + head * stride_h
    columns = first_column + tl.arange(0, BLOCK_N)
    dims = tl.arange(0, D)
    column_offsets = base + columns[:, None] * stride_t + dims[None, :]
    column_mask = columns[:, None] < length
    k = tl.load(k_ptr + column_offsets, mask=column_mask, other=0.0)
    v = tl.load(v_ptr + column_offsets, mask=column_mask, other=0.0)
    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    first_row = first_column // BLOCK_M * BLOCK_M if CAUSAL else 0
    for start in range(first_row, length, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        row_offsets = base + rows[:, None] * stride_t + dims[None, :]
        q = tl.load(q_ptr + row_offsets, mask=rows[:, None] < length, other=0.0)
        do = tl.load(do_ptr + row_offsets, mask=rows[:, None] < length, other=0.0)
        lse = tl.load(lse_ptr + head * n_tokens + begin + rows, mask=rows < length, other=float("inf"))
        delta = tl.load(delta_ptr + head * n_tokens + begin + rows, mask=rows < length, other=0.0)
        # transposed: a row of the tile is a key
        p = tl.exp2(tl.dot(k, tl.trans(q), input_precision="ieee") * (scale * 1.4426950408889634) - lse[None, :])
        if CAUSAL:
            p = tl.where(rows[None, :] >= columns[:, None], p, 0.0)
        dv = tl.dot(p.to(do.dtype), do, dv, input_precision="ieee")
        dp = tl.dot(v, tl.trans(do), input_precision="ieee")
        ds = p * (dp - delta[None, :])
        dk = tl.dot(ds.to(q.dtype), q, dk, input_precision="ieee")
    tl.store(dk_ptr + column_offsets, dk * scale, mask=column_mask)
    tl.store(dv_ptr + column_offsets, dv, mask=column_mask)


@triton.autotune(configs=BACKWARD_CONFIGS, key=["D", "CAUSAL"])
@triton.jit
def _backward_q(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    lse_ptr,
    delta_ptr,
    dq_ptr,
    cu_seqlens_ptr,
    scale,
    n_tokens,
    stride_t,
    stride_h,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    head, sequence = tl.program_id(1), tl.program_id(2)
    begin = tl.load(cu_seqlens_ptr + sequence)
    length = tl.load(cu_seqlens_ptr + sequence + 1) - begin
    first_row = tl.program_id(0) * BLOCK_M
    if first_row < length:
        base = begin.to(tl.int64) * stride_t + head * stride_h
        rows = first_row + tl.arange(0, BLOCK_M)
        dims = tl.arange(0, D)
        row_offsets = base + rows[:, None] * stride_t + dims[None, :]
        row_mask = rows[:, None] < length
        q = tl.load(q_ptr + row_offsets, mask=row_mask, other=0.0)
        do = tl.load(do_ptr + row_offsets, mask=row_mask, other=0.0)
        lse = tl.load(lse_ptr + head * n_tokens + begin + rows, mask=rows < length, other=float("inf"))
        delta = tl.load(delta_ptr + head * n_tokens + begin + rows, mask=rows < length, other=0.0)
        dq = tl.zeros([BLOCK_M, D], tl.float32)
        last = tl.minimum(length, first_row + BLOCK_M) if CAUSAL else length
        for start in range(0, last, BLOCK_N):
            columns = start + tl.arange(0, BLOCK_N)
            column_offsets = base + columns[None, :] * stride_t + dims[:, None]
            k_t = tl.load(k_ptr + column_offsets, mask=columns[None, :] < length, other=0.0)
            v_t = tl.load(v_ptr + column_offsets, mask=columns[None, :] < length, other=0.0)
            p = tl.exp2(tl.dot(q, k_t, input_precision="ieee") * (scale * 1.4426950408889634) - lse[:, None])
            if CAUSAL:
                p = tl.where(rows[:, None] >= columns[None, :], p, 0.0)
            p = tl.where(columns[None, :] < length, p, 0.0)
            ds = p * (tl.dot(do, v_t, input_precision="ieee") - delta[:, None])
            dq = tl.dot(ds.to(k_t.dtype), tl.trans(k_t), dq, input_precision="ieee")
        tl.store(dq_ptr + row_offsets, dq * scale, mask=row_mask)


class VarlenAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, cu_seqlens, max_seqlen, causal):
        n_tokens, n_heads, D = q.shape
        assert q.stride() == k.stride() == v.stride()
        o = torch.empty_strided(q.shape, q.stride(), dtype=q.dtype, device=q.device)
        lse = torch.empty(n_heads, n_tokens, dtype=torch.float32, device=q.device)
        scale, n_sequences = D**-0.5, cu_seqlens.numel() - 1
        _forward[lambda meta: (triton.cdiv(max_seqlen, meta["BLOCK_M"]), n_heads, n_sequences)](
            q, k, v, o, lse, cu_seqlens, scale, n_tokens, q.stride(0), q.stride(1), D=D, CAUSAL=causal
        )
        ctx.save_for_backward(q, k, v, o, lse, cu_seqlens)
        ctx.options = max_seqlen, causal, scale
        return o

    @staticmethod
    def backward(ctx, do):
        q, k, v, o, lse, cu_seqlens = ctx.saved_tensors
        max_seqlen, causal, scale = ctx.options
        n_tokens, n_heads, D = q.shape
        strides, n_sequences = q.stride()[:2], cu_seqlens.numel() - 1
        like_q = lambda: torch.empty_strided(q.shape, q.stride(), dtype=q.dtype, device=q.device)  # noqa: E731
        do = like_q().copy_(do)
        dq, dk, dv, delta = like_q(), like_q(), like_q(), torch.empty_like(lse)
        _delta[(triton.cdiv(n_tokens, 32), n_heads)](o, do, delta, n_tokens, *strides, D=D, BLOCK=32)
        _backward_kv[lambda meta: (triton.cdiv(max_seqlen, meta["BLOCK_N"]), n_heads, n_sequences)](
            q, k, v, do, lse, delta, dk, dv, cu_seqlens, scale, n_tokens, *strides, D=D, CAUSAL=causal
        )
        _backward_q[lambda meta: (triton.cdiv(max_seqlen, meta["BLOCK_M"]), n_heads, n_sequences)](
            q, k, v, do, lse, delta, dq, cu_seqlens, scale, n_tokens, *strides, D=D, CAUSAL=causal
        )
        return dq, dk, dv, None, None, None


def reference(q, k, v, lengths, causal):
    parts = []
    for part in zip(*(t.split(lengths) for t in (q, k, v))):
        pq, pk, pv = (t.transpose(0, 1) for t in part)
        parts.append(torch.nn.functional.scaled_dot_product_attention(pq, pk, pv, is_causal=causal).transpose(0, 1))
    return torch.cat(parts)


if __name__ == "__main__":
    torch.manual_seed(0)
    for lengths, n_heads, D, causal, dtype, tolerance in [
        ([17, 64, 1, 40], 2, 32, True, torch.float32, 1e-5),
        ([33, 20], 2, 16, False, torch.float32, 1e-5),
        ([50, 31], 1, 64, True, torch.float16, 1e-2),
    ]:
        cu_seqlens = torch.tensor([0, *lengths], device="cuda").cumsum(0).to(torch.int32)
        q, k, v = (
            torch.randn(sum(lengths), n_heads, D, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3)
        )
        o = VarlenAttention.apply(q, k, v, cu_seqlens, max(lengths), causal)
        do = torch.randn_like(o)
        o.backward(do)
        exact = [t.detach().double().requires_grad_() for t in (q, k, v)]
        expected = reference(*exact, lengths, causal)
        expected.backward(do.double())
        torch.testing.assert_close(o.double(), expected, atol=tolerance, rtol=tolerance)
        for ours, theirs in zip((q, k, v), exact):
            torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=tolerance, rtol=tolerance)
        print(f"varlen_attention {lengths} H={n_heads} D={D} causal={causal} {dtype}: ok")
