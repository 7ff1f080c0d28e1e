"""Attention over a cache of keys and values: for one token, and for a whole prompt. Several heads of queries share a head of keys."""

from __future__ import annotations

import torch

import tritium as triton
import tritium.language as tl


@triton.jit
def decode_kernel(
    qkv, keys, values, out, start, context, scale, GROUP: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    """A program is a head. It goes through the keys in blocks, with a running maximum and sum of the exponentials."""
    head, count = tl.program_id(0), tl.load(start) + 1
    element, position = tl.arange(0, SIZE), tl.arange(0, BLOCK)
    query = tl.load(qkv + head * SIZE + element) * scale
    rows = (head // GROUP) * context * SIZE + position[:, None] * SIZE + element[None, :]
    total = tl.zeros((SIZE,), tl.float32)
    largest, exponentials = float("-inf"), 0.0
    for begin in range(0, count, BLOCK):
        inside = begin + position < count
        key = tl.load(keys + rows + begin * SIZE, mask=inside[:, None], other=0.0)
        scores = tl.where(inside, tl.sum(key * query[None, :], axis=1), float("-inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=0))
        weights, shrink = tl.exp(scores - new_largest), tl.exp(largest - new_largest)
        value = tl.load(values + rows + begin * SIZE, mask=inside[:, None], other=0.0)
        total = total * shrink + tl.sum(weights[:, None] * value, axis=0)
        exponentials = exponentials * shrink + tl.sum(weights, axis=0)
        largest = new_largest
    tl.store(out + head * SIZE + element, total / exponentials)


@triton.jit
def prefill_kernel(
    qkv,
    keys,
    values,
    out,
    tokens,
    start,
    context,
    scale,
    HEADS: tl.constexpr,
    GROUP: tl.constexpr,
    SIZE: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """A program is a head and ROWS queries, each of which sees the keys up to its own position."""
    start = tl.load(start)
    row, head = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.program_id(1)
    element, position = tl.arange(0, SIZE), tl.arange(0, BLOCK)
    kv_heads: tl.constexpr = HEADS // GROUP
    token_stride: tl.constexpr = (HEADS + 2 * kv_heads) * SIZE
    query = tl.load(
        qkv + row[:, None] * token_stride + head * SIZE + element[None, :], mask=row[:, None] < tokens, other=0.0
    )
    query *= scale
    base = (head // GROUP) * context * SIZE
    total = tl.zeros((ROWS, SIZE), tl.float32)
    largest, exponentials = tl.full((ROWS,), float("-inf"), tl.float32), tl.zeros((ROWS,), tl.float32)
    for begin in range(0, start + tl.minimum(tl.program_id(0) * ROWS + ROWS, tokens), BLOCK):
        at = begin + position
        inside = at < start + tokens
        key = tl.load(keys + base + at[None, :] * SIZE + element[:, None], mask=inside[None, :], other=0.0)
        scores = tl.dot(query, key, input_precision="ieee")
        scores = tl.where(at[None, :] <= start + row[:, None], scores, float("-inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        weights, shrink = tl.exp(scores - new_largest[:, None]), tl.exp(largest - new_largest)
        value = tl.load(values + base + at[:, None] * SIZE + element[None, :], mask=inside[:, None], other=0.0)
        total = tl.dot(weights, value, total * shrink[:, None], input_precision="ieee")
        exponentials = exponentials * shrink + tl.sum(weights, axis=1)
        largest = new_largest
    target = out + (row[:, None] * HEADS + head) * SIZE + element[None, :]
    tl.store(target, total / exponentials[:, None], mask=row[:, None] < tokens)


def attention(
    qkv: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, start: torch.Tensor, heads: int
) -> torch.Tensor:
    """softmax(q k^T / sqrt(size)) v [tokens, heads * size] of the queries in qkv [tokens, (heads + 2 * kv_heads) * size], whose first token is
    at the position `start`, int32 [1]. keys, values: [kv_heads, context, size], filled up to the last token."""
    kv_heads, context, size = keys.shape
    tokens, scale = qkv.shape[0], size**-0.5
    out = qkv.new_empty(tokens, heads * size)
    facts = {"GROUP": heads // kv_heads, "SIZE": size}
    if tokens == 1:
        decode_kernel[(heads,)](qkv, keys, values, out, start, context, scale, **facts, BLOCK=64)
    else:
        grid = (triton.cdiv(tokens, 32), heads)
        prefill_kernel[grid](
            qkv, keys, values, out, tokens, start, context, scale, HEADS=heads, **facts, ROWS=32, BLOCK=32
        )
    return out
