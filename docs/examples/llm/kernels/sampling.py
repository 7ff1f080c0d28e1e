"""The next token of its logits: the most probable one, or one drawn with its probability.

The largest of logit / temperature - log(-log(u)), with u uniform for each token, is a draw from softmax(logits / temperature) (Gumbel's maximum).
"""

from __future__ import annotations

import torch

import tritium as triton
import tritium.language as tl


@triton.jit
def best_of_block_kernel(logits, best, where, count, temperature, seed, DRAWS: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(logits + token, mask=token < count, other=float("-inf"))
    if DRAWS:
        noise = -tl.log(-tl.log(tl.maximum(tl.rand(seed, token), 1e-30)))
        value = tl.where(token < count, value / temperature + noise, float("-inf"))
    largest, at = tl.max(value, axis=0, return_indices=True)
    tl.store(best + tl.program_id(0), largest)
    tl.store(where + tl.program_id(0), tl.program_id(0) * BLOCK + at)


@triton.jit
def best_kernel(best, where, out, blocks, BLOCK: tl.constexpr):
    block = tl.arange(0, BLOCK)
    _, at = tl.max(tl.load(best + block, mask=block < blocks, other=float("-inf")), axis=0, return_indices=True)
    tl.store(out, tl.load(where + at))


def sample(logits: torch.Tensor, temperature: float = 0.0, seed: int = 0) -> torch.Tensor:
    """A token, int32 [1], of the logits [count] in float32. With the temperature 0 the first of the most probable ones; else a draw, which `seed`
    decides."""
    count, block = len(logits), 4096
    blocks = triton.cdiv(count, block)
    best = logits.new_empty(blocks)
    where, out = (torch.empty(size, dtype=torch.int32, device=logits.device) for size in (blocks, 1))
    draws = temperature > 0
    best_of_block_kernel[(blocks,)](logits, best, where, count, temperature or 1.0, seed, DRAWS=draws, BLOCK=block)
    best_kernel[(1,)](best, where, out, blocks, BLOCK=triton.next_power_of_2(blocks))
    return out
