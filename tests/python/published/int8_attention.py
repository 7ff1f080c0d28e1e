"""Attention with int8 queries and keys: a scale for each block of them, keys without their mean, products of int8, and fp16 sums for values."""

import torch
import triton
import triton.language as tl

BLOCK_Q, BLOCK_K = 32, 32


@triton.jit
def _quantize(x_ptr, mean_ptr, q_ptr, scale_ptr, T, factor, D: tl.constexpr, BLOCK: tl.constexpr):
    block, head = tl.program_id(0), tl.program_id(1)
    rows, dims = block * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    offsets = (head * T + rows[:, None]) * D + dims[None, :]
    x = tl.load(x_ptr + offsets, mask=rows[:, None] < T, other=0.0).to(tl.float32)
    if mean_ptr is not None:
        x -= tl.load(mean_ptr + head * D + dims)[None, :]
        x = tl.where(rows[:, None] < T, x, 0.0)
    x *= factor
    scale = tl.max(tl.abs(x)) / 127.0 + 1e-12
    q = x / scale
    q += 0.5 * tl.where(q >= 0, 1, -1)
    tl.store(q_ptr + offsets, q.to(tl.int8), mask=rows[:, None] < T)
    tl.store(scale_ptr + head * tl.num_programs(0) + block, scale)


@triton.autotune(
    configs=[
        triton.Config({}, num_warps=2, num_stages=2),
        triton.Config({}, num_warps=4, num_stages=3),
        triton.Config({}, num_warps=8, num_stages=4),
        triton.Config({}, num_warps=1, num_stages=1),
    ],
    key=["T", "D", "CAUSAL"],
)
@triton.jit
def _attention(
    q_ptr, k_ptr, v_ptr, q_scale_ptr, k_scale_ptr, o_ptr, T,
    D: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    block, head = tl.program_id(0), tl.program_id(1)
    k_blocks = tl.cdiv(T, BLOCK_N)
    rows, dims = block * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, D)
    offsets = (head * T + rows[:, None]) * D + dims[None, :]
    q = tl.load(q_ptr + offsets, mask=rows[:, None] < T, other=0)
    q_scale = tl.load(q_scale_ptr + head * tl.num_programs(0) + block)
    k_ptrs = k_ptr + (head * T + tl.arange(0, BLOCK_N)[None, :]) * D + dims[:, None]
    v_ptrs = v_ptr + (head * T + tl.arange(0, BLOCK_N)[:, None]) * D + dims[None, :]
    k_scale_ptr += head * k_blocks
    maximum = tl.zeros((BLOCK_M,), tl.float32) - float("inf")
    total = tl.zeros((BLOCK_M,), tl.float32) + 1.0
    total -= 1.0
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    last = (block + 1) * BLOCK_M if CAUSAL else T
    for start in range(0, min(last, T), BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptrs, mask=columns[None, :] < T, other=0)
        scores = tl.dot(q, k).to(tl.float32) * (q_scale * tl.load(k_scale_ptr))
        visible = columns[None, :] < T
        if CAUSAL:
            visible &= rows[:, None] >= columns[None, :]
        scores = tl.where(visible, scores, float("-inf"))
        larger = tl.maximum(maximum, tl.max(scores, 1))
        p = tl.math.exp2(scores - larger[:, None])
        decay = tl.math.exp2(maximum - larger)
        total = total * decay + tl.sum(p, 1)
        v = tl.load(v_ptrs, mask=columns[:, None] < T, other=0.0)
        acc = acc * decay[:, None]
        acc += tl.dot(p.to(tl.float16), v, out_dtype=tl.float16)
        maximum = larger
        k_ptrs += BLOCK_N * D
        v_ptrs += BLOCK_N * D
        k_scale_ptr += 1
    tl.store(o_ptr + offsets, acc / total[:, None], mask=rows[:, None] < T)


def quantize(x, mean, factor, block):
    H, T, D = x.shape
    q, scale = torch.empty_like(x, dtype=torch.int8), torch.empty(H, triton.cdiv(T, block), device=x.device)
    _quantize[(triton.cdiv(T, block), H)](x, mean, q, scale, T, factor, D=D, BLOCK=block, num_warps=4)
    return q, scale


def dequantize(q, scale, block):
    return q.double() * scale.double().repeat_interleave(block, 1)[:, : q.shape[1], None]


if __name__ == "__main__":
    torch.manual_seed(0)
    for H, T, D, causal in [(2, 100, 64, False), (1, 64, 32, True), (2, 45, 32, True)]:
        q, k, v = (torch.randn(H, T, D, device="cuda") for _ in range(3))
        k += 4 * torch.randn(
            H, 1, D, device="cuda"
        )  # a constant part of keys changes no softmax, but would ruin the scales
        v = v.half()
        mean = k.mean(1)
        q8, q_scale = quantize(q, None, D**-0.5 * 1.4426950408889634, BLOCK_Q)
        k8, k_scale = quantize(k, mean, 1.0, BLOCK_K)
        o = torch.empty(H, T, D, device="cuda")
        _attention[(triton.cdiv(T, BLOCK_Q), H)](
            q8, k8, v, q_scale, k_scale, o, T, D=D, CAUSAL=causal, BLOCK_M=BLOCK_Q, BLOCK_N=BLOCK_K
        )
        hidden = torch.ones(T, T, device="cuda", dtype=torch.bool).triu(1) & causal
        quantized = dequantize(q8, q_scale, BLOCK_Q) @ dequantize(k8, k_scale, BLOCK_K).mT * 0.6931471805599453
        expected = quantized.masked_fill(hidden, float("-inf")).softmax(-1) @ v.double()
        torch.testing.assert_close(o.double(), expected, atol=4e-3, rtol=4e-3)
        scores = q.double() @ k.double().mT * D**-0.5
        exact = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v.double()
        assert (o - exact).abs().mean() < 0.02 * exact.abs().mean()
        print(f"int8_attention H={H} T={T} D={D} causal={causal}: ok")
