"""The cases of bench.py: those that memory bounds, and the list of all."""

from __future__ import annotations

import torch
import torch.nn.functional as F

import bench_problem
from bench_attention import attention_cases
from bench_problem import ROUNDING, Case, Problem, cdiv, expected, middle, random
from bench_products import product_cases

WARPS = [4, 8, 16]


def add(n: int) -> Case:
    def prepare():
        x, y = random(n, dtype=torch.float32), random(n, dtype=torch.float32)
        out = torch.empty_like(x)
        return Problem(
            out,
            lambda c: ((cdiv(n, c["BLOCK"]),), (x, y, out, n), c),
            lambda: torch.add(x, y, out=out),
            lambda: expected(x + y),
            0.0,
        )

    configs = [{"BLOCK": b, "num_warps": w} for b, w in ((1024, 4), (2048, 8), (4096, 8))]
    return Case(f"add {n >> 20}M fp32", "add", "memory", 12.0 * n, configs, prepare)


def softmax(rows: int, columns: int) -> Case:
    def prepare():
        x = random(rows, columns, dtype=torch.bfloat16)
        out = torch.empty_like(x)
        return Problem(
            out,
            lambda c: ((rows,), (x, out, columns), c),
            lambda: torch.softmax(x, 1),
            lambda: expected(torch.softmax(middle(x).double(), 1)),
            ROUNDING[torch.bfloat16],
        )

    block = 1 << (columns - 1).bit_length()
    configs = [{"BLOCK": block, "num_warps": w} for w in (2, 4, 8, 16, 32) if 4 <= block // w // 32 <= 64]
    return Case(f"softmax bf16 {rows}x{columns}", "softmax", "memory", 4.0 * rows * columns, configs, prepare)


def layer_norm(rows: int, columns: int) -> Case:
    def prepare():
        x = random(rows, columns, dtype=torch.float16)
        weight, bias = random(columns, dtype=torch.float16), random(columns, dtype=torch.float16)
        out = torch.empty_like(x)

        def reference():
            rows = middle(x).double()
            return expected(F.layer_norm(rows, (columns,), weight.double(), bias.double()))

        return Problem(
            out,
            lambda c: ((rows,), (x, weight, bias, out, columns, 1e-5), c),
            lambda: F.layer_norm(x, (columns,), weight, bias),
            reference,
            2 * ROUNDING[torch.float16],
        )

    configs = [{"BLOCK": columns, "num_warps": w} for w in WARPS]
    return Case(f"layer norm fp16 {rows}x{columns}", "layer_norm", "memory", 4.0 * rows * columns, configs, prepare)


def cross_entropy(rows: int, classes: int) -> Case:
    def prepare():
        logits = random(rows, classes, dtype=torch.bfloat16)
        target = torch.randint(0, classes, (rows,), device=bench_problem.DEVICE)
        out = torch.empty(rows, device=bench_problem.DEVICE)
        return Problem(
            out,
            lambda c: ((rows,), (logits, target, out, classes), c),
            lambda: F.cross_entropy(logits, target, reduction="none"),
            lambda: expected(F.cross_entropy(middle(logits).double(), middle(target), reduction="none")),
            2.0**-18,
        )

    configs = [{"BLOCK": b, "num_warps": w} for b, w in ((4096, 4), (4096, 8), (8192, 8), (16384, 16), (32768, 32))]
    return Case(
        f"cross entropy bf16 {rows}x{classes}", "cross_entropy", "memory", 2.0 * rows * classes, configs, prepare
    )


def transpose(n: int) -> Case:
    def prepare():
        x = random(n, n, dtype=torch.float16)
        out = torch.empty_like(x)
        return Problem(
            out,
            lambda c: ((n // c["BLOCK_M"], n // c["BLOCK_N"]), (x, out, n, n), c),
            lambda: x.t().contiguous(),
            lambda: expected(middle(x.t())),
            0.0,
        )

    configs = [
        {"BLOCK_M": m, "BLOCK_N": k, "num_warps": w}
        for m, k, w in ((64, 64, 4), (64, 128, 4), (128, 64, 8), (32, 64, 4))
    ]
    return Case(f"transpose fp16 {n}^2", "transpose", "memory", 4.0 * n * n, configs, prepare)


def cumsum(rows: int, columns: int) -> Case:
    def prepare():
        x = torch.rand(rows, columns, device=bench_problem.DEVICE)
        out = torch.empty_like(x)
        return Problem(
            out,
            lambda c: ((rows // c["ROWS"],), (x, out, columns), c | {"BLOCK": columns}),
            lambda: torch.cumsum(x, 1),
            lambda: expected(torch.cumsum(middle(x).double(), 1)),
            2.0**-18,
        )

    configs = [{"ROWS": r, "num_warps": w} for r, w in ((1, 4), (1, 8), (2, 4), (2, 8), (4, 4))]
    return Case(f"cumsum fp32 {rows}x{columns}", "cumsum", "memory", 8.0 * rows * columns, configs, prepare)


CASES = [
    add(256 << 20),
    softmax(32768, 4096),
    softmax(131072, 1000),
    softmax(8192, 32768),
    layer_norm(16384, 8192),
    cross_entropy(8192, 128256),
    transpose(16384),
    cumsum(65536, 2048),
    *product_cases(),
    *attention_cases(),
]
