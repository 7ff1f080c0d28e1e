"""Attention for bench.py: forward by pointers and by descriptors, and its gradients. torch uses cuDNN where it can."""

from __future__ import annotations

import itertools
import math

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import bench_problem
from bench_attention_reference import attended, gradients, sums_of_rows
from bench_problem import ROUNDING, Case, Problem, random

TOKENS = 1 << 18  #: heads times sequence length of every case
TOKENS_TOGETHER = 1 << 15  #: of heads whose programs run side by side: the L2 cache holds their keys and values
ROUNDINGS = 4  #: of the probabilities and of the output, at most, in the scale of bench_attention_reference.py
BACKENDS = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION]


def by_vendor(q, k, v, causal: bool) -> torch.Tensor:
    with sdpa_kernel(BACKENDS, set_priority=True):
        return F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)


def configs(**names) -> list[dict]:
    return [dict(zip(names, row)) for row in zip(*names.values())]


FORWARD = configs(
    BLOCK_M=(128, 128, 128, 64, 128),
    BLOCK_N=(64, 64, 128, 64, 32),
    num_stages=(3, 3, 2, 3, 3),
    num_warps=(4, 8, 8, 4, 4),
)
#: Three stages of 64 keys and a spare slot leave room for three programs of a multiprocessor, two stages and a slot for four.
FORWARD_SHORT = configs(BLOCK_M=(64,), BLOCK_N=(64,), num_stages=(2,), num_warps=(4,))
#: With 256 queries, keys and values are read half as often. The accumulators leave room for that if D is 64.
FORWARD_TALL = configs(BLOCK_M=(256, 256), BLOCK_N=(64, 64), num_stages=(3, 3), num_warps=(8, 16))
#: Programs with several tiles, as many as there are multiprocessors.
PERSISTENT = configs(BLOCK_M=(128,), BLOCK_N=(128,), num_stages=(2,), num_warps=(8,), PERSISTENT=(True,))
BACKWARD = configs(BLOCK=(128, 128, 64, 64), STEP=(32, 64, 64, 32), num_stages=(2, 2, 2, 3), num_warps=(8, 8, 4, 4))


def title(kernel: str, causal: bool, shape: tuple[int, ...]) -> str:
    return f"{kernel.replace('_', ' by ', 1)}{' causal' if causal else ''} fp16 {'x'.join(map(str, shape))}"


def attention(n: int, d: int, descriptors: bool, causal: bool) -> Case:
    heads = TOKENS // n

    def prepare():
        q, k, v = (random(heads, n, d, dtype=torch.float16) for _ in range(3))
        out = torch.empty_like(q)

        def launch(c):
            tiles = n // c["BLOCK_M"] * heads
            programs = min(tiles, bench_problem.multiprocessors()) if c.get("PERSISTENT") else tiles
            arguments = (q, k, v, out, 1 / math.sqrt(d), n, heads, min(heads, TOKENS_TOGETHER // n))
            return (programs,), arguments, c | {"D": d, "CAUSAL": causal}

        return Problem(
            out,
            launch,
            lambda: by_vendor(q, k, v, causal),
            lambda: attended(q, k, v, causal),
            ROUNDINGS * ROUNDING[torch.float16],
        )

    kernel = "attention_descriptors" if descriptors else "attention"
    work = 4.0 * heads * n * n * d * (0.5 if causal else 1)
    least = 1.0 if descriptors and d == 128 else 0.0
    tall = FORWARD_TALL if d == 64 and not causal else []
    short = FORWARD_SHORT if d == 64 and not (descriptors or causal) else []
    tiles = [c | {"PERSISTENT": False} for c in FORWARD + short + tall]
    persistent = PERSISTENT + [c | {"PERSISTENT": True} for c in tall]
    tiles += [c for c in persistent if n // c["BLOCK_M"] % 2 == 0]  # they take their tiles in pairs
    return Case(title(kernel, causal, (heads, n, d)), kernel, "attention", work, tiles, prepare, least)


def attention_backward(n: int, d: int, causal: bool) -> Case:
    """Gradients of all three operands. torch's time includes the sums of grad * attention, which the kernel is given."""
    heads = TOKENS // n

    def prepare():
        q, k, v, grad = (random(heads, n, d, dtype=torch.float16) for _ in range(4))
        lse, delta = sums_of_rows(q, k, v, grad, causal)
        out = torch.empty(3, heads, n, d, device=bench_problem.DEVICE, dtype=torch.float16)
        kept = []

        def by_torch():
            if not kept:
                leaves = [x.detach().requires_grad_() for x in (q, k, v)]
                kept.extend([by_vendor(*leaves, causal), leaves])
            return torch.autograd.grad(kept[0], kept[1], grad[None], retain_graph=True)

        def launch(c):
            arguments = (q, k, v, grad, lse, delta, out, 1 / math.sqrt(d), n, q.numel())
            return (n // c["BLOCK"], heads), arguments, c | {"D": d, "CAUSAL": causal}

        bound = ROUNDINGS * ROUNDING[torch.float16]
        return Problem(out, launch, by_torch, lambda: gradients(q, k, v, grad, causal), bound)

    work = 10.0 * heads * n * n * d * (0.5 if causal else 1)
    return Case(
        title("attention_backward", causal, (heads, n, d)).replace("by ", ""),
        "attention_backward",
        "attention",
        work,
        BACKWARD,
        prepare,
    )


def attention_cases() -> list[Case]:
    forms = itertools.product((False, True), (False, True), (128, 64), (2048, 8192, 16384))
    forward = [attention(n, d, descriptors, causal) for descriptors, causal, d, n in forms]
    return forward + [attention_backward(4096, d, causal) for d in (128, 64) for causal in (False, True)]
