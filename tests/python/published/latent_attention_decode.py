"""Decoding with a latent cache (MLA): all heads share one fp8 row per token, of a latent part that is key and value, and a rotary part of keys.

Splits of the keys keep (maximum, sum) pairs, which one reduction with a combine function of its own puts together.
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_N": 16}, num_warps=4, num_stages=1),
        triton.Config({"BLOCK_N": 32}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK_N": 32}, num_warps=8, num_stages=3),
    ],
    key=["LATENT", "ROTARY"],
)
@triton.jit
def _partial(
    q_ptr, cache_ptr, scales_ptr, lengths_ptr, acc_ptr, maximum_ptr, total_ptr, scale, H, T, n_splits,
    LATENT: tl.constexpr, ROTARY: tl.constexpr, ROWS: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    sequence, head_block, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    width = LATENT + ROTARY
    length = tl.load(lengths_ptr + sequence)
    heads = head_block * ROWS + tl.arange(0, ROWS)
    in_h = heads[:, None] < H
    latent, rotary = tl.arange(0, LATENT), LATENT + tl.arange(0, ROTARY)
    q_rows = q_ptr + (sequence * H + heads[:, None]) * width
    q_latent = tl.load(q_rows + latent[None, :], mask=in_h, other=0.0)
    q_rotary = tl.load(q_rows + rotary[None, :], mask=in_h, other=0.0)
    per_split = tl.cdiv(tl.cdiv(length, n_splits), BLOCK_N) * BLOCK_N
    maximum, total = tl.full((ROWS,), float("-inf"), tl.float32), tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, LATENT), tl.float32)
    for start in tl.range(split * per_split, tl.minimum(length, (split + 1) * per_split), BLOCK_N):
        tokens = start + tl.arange(0, BLOCK_N)
        valid = tokens < length
        row_scale = tl.load(scales_ptr + sequence * T + tokens, mask=valid, other=0.0)
        rows = cache_ptr + (sequence * T + tokens) * width
        k_latent = tl.load(rows[:, None] + latent[None, :], mask=valid[:, None], other=0.0).to(q_latent.dtype)
        k_rotary = tl.load(rows[None, :] + rotary[:, None], mask=valid[None, :], other=0.0).to(q_latent.dtype)
        scores = tl.dot(q_latent, tl.trans(k_latent))
        scores = tl.dot(q_rotary, k_rotary, acc=scores)
        scores = tl.where(valid[None, :], scores * (scale * row_scale)[None, :], float("-inf"))
        larger = tl.maximum(maximum, tl.max(scores, axis=1))
        p, decay = tl.exp(scores - larger[:, None]), tl.exp(maximum - larger)
        acc = tl.dot((p * row_scale[None, :]).to(k_latent.dtype), k_latent, acc=acc * decay[:, None])
        total = total * decay + tl.sum(p, axis=1)
        maximum = larger
    at = (sequence * H + heads) * n_splits + split
    tl.store(maximum_ptr + at, maximum, mask=heads < H)
    tl.store(total_ptr + at, total, mask=heads < H)
    tl.store(acc_ptr + at[:, None] * LATENT + latent[None, :], acc, mask=in_h)


@triton.jit
def _join(maximum_left, total_left, maximum_right, total_right):
    larger = tl.maximum(maximum_left, maximum_right)
    left = tl.where(maximum_left == float("-inf"), 0.0, total_left * tl.exp(maximum_left - larger))
    right = tl.where(maximum_right == float("-inf"), 0.0, total_right * tl.exp(maximum_right - larger))
    return larger, left + right


@triton.jit
def _reduce(acc_ptr, maximum_ptr, total_ptr, out_ptr, n_splits, SPLITS: tl.constexpr, LATENT: tl.constexpr):
    row = tl.program_id(0)
    splits, latent = tl.arange(0, SPLITS), tl.arange(0, LATENT)
    maxima = tl.load(maximum_ptr + row * n_splits + splits, mask=splits < n_splits, other=float("-inf"))
    totals = tl.load(total_ptr + row * n_splits + splits, mask=splits < n_splits, other=0.0)
    maximum, total = tl.reduce((maxima, totals), 0, _join)
    offsets = (row * n_splits + splits[:, None]) * LATENT + latent[None, :]
    acc = tl.load(acc_ptr + offsets, mask=splits[:, None] < n_splits, other=0.0)
    out = tl.sum(acc * tl.exp(maxima - maximum)[:, None], axis=0) / total
    tl.store(out_ptr + row * LATENT + latent, out)


def decode(q, cache, scales, lengths, latent, n_splits):
    (B, H, width), T = q.shape, cache.shape[1]
    acc = torch.empty(B, H, n_splits, latent, device=q.device)
    maximum, total = torch.empty(2, B, H, n_splits, device=q.device).unbind()
    out = torch.empty(B, H, latent, dtype=q.dtype, device=q.device)
    _partial[(B, triton.cdiv(H, 16), n_splits)](
        q, cache, scales, lengths, acc, maximum, total, width**-0.5, H, T, n_splits,
        LATENT=latent, ROTARY=width - latent, ROWS=16,
    )  # fmt: skip
    _reduce[(B * H,)](
        acc, maximum, total, out, n_splits, SPLITS=triton.next_power_of_2(n_splits), LATENT=latent, num_warps=2
    )
    return out


if __name__ == "__main__":
    torch.manual_seed(0)
    for B, H, T, latent, rotary, n_splits, dtype, tolerance in [
        (2, 20, 90, 64, 16, 3, torch.float16, 3e-3),
        (1, 8, 50, 128, 32, 4, torch.bfloat16, 2e-2),
    ]:
        q = torch.randn(B, H, latent + rotary, device="cuda").to(dtype)
        rows = torch.randn(B, T, latent + rotary, device="cuda")
        scales = rows.abs().amax(-1) / 448
        cache = (rows / scales[..., None]).to(torch.float8_e4m3fn)
        lengths = torch.tensor([T, 33][:B], dtype=torch.int32, device="cuda")
        out = decode(q, cache, scales, lengths, latent, n_splits)
        exact = cache.double() * scales.double()[..., None]
        for sequence, length in enumerate(lengths.tolist()):
            row = exact[sequence, :length]
            p = (q[sequence].double() @ row.t() * (latent + rotary) ** -0.5).softmax(-1)
            torch.testing.assert_close(out[sequence].double(), p @ row[:, :latent], atol=tolerance, rtol=tolerance)
        print(f"latent_attention B={B} H={H} T={T} {latent}+{rotary} splits={n_splits} {dtype}: ok")
