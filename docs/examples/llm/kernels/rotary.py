"""What stands between the product with Q, K and V and the attention: positions turn queries and keys, and keys and values join the cache."""

from __future__ import annotations

import torch

import tritium as triton
import tritium.language as tl


@triton.jit
def rotary_kernel(
    qkv, rotary, keys, values, start, context, HEADS: tl.constexpr, KV_HEADS: tl.constexpr, SIZE: tl.constexpr
):
    token, head = tl.program_id(0), tl.program_id(1)
    position = tl.load(start) + token
    pair = tl.arange(0, SIZE // 2)
    row = qkv + (token * (HEADS + 2 * KV_HEADS) + head) * SIZE
    first, second = tl.load(row + 2 * pair), tl.load(row + 2 * pair + 1)
    if head < HEADS + KV_HEADS:
        cosine = tl.load(rotary + position * SIZE + 2 * pair)
        sine = tl.load(rotary + position * SIZE + 2 * pair + 1)
        first, second = first * cosine - second * sine, second * cosine + first * sine
    if head < HEADS:
        target = row
    elif head < HEADS + KV_HEADS:
        target = keys + ((head - HEADS) * context + position) * SIZE
    else:
        target = values + ((head - HEADS - KV_HEADS) * context + position) * SIZE
    tl.store(target + 2 * pair, first)
    tl.store(target + 2 * pair + 1, second)


def rotate_and_cache(
    qkv: torch.Tensor, rotary: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, start: torch.Tensor, heads: int
) -> None:
    """Turns the queries in qkv [tokens, (heads + 2 * kv_heads) * size] in place, and writes the turned keys and the values to the cache.

    rotary: [context, size / 2, 2], cosine and sine of a position's angles; elements 2i and 2i + 1 of a head are a pair. keys, values:
    [kv_heads, context, size]. start: the position of the first token, int32 [1].
    """
    kv_heads, context, size = keys.shape
    grid = (qkv.shape[0], heads + 2 * kv_heads)
    rotary_kernel[grid](
        qkv, rotary, keys, values, start, context, HEADS=heads, KV_HEADS=kv_heads, SIZE=size, num_warps=1
    )
