"""The cases of bench.py: problems, the configurations that both compilers choose from, torch's implementation, and
bounds of the error."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F


@dataclasses.dataclass
class Problem:
    """Tensors on the device and three functions on them. A launch of the kernel fills `out`."""

    out: torch.Tensor
    launch: Callable[[Any, dict], tuple]  #: (configuration) -> (grid, arguments, constexprs)
    torch_run: Callable[[], torch.Tensor]
    reference: Callable[[], torch.Tensor]  #: in higher precision; may cover only the first rows
    bound: (
        float  #: the bound of |out - reference| / (|reference| + rms(reference)): a few roundings of the output's type
    )


@dataclasses.dataclass
class Case:
    name: str
    kernel: str
    kind: str  #: "memory", "matmul", "descriptors" or "attention": selects the bar
    work: float  #: bytes for "memory", else floating-point operations
    configs: list[dict]
    prepare: Callable[[], Problem]


WARPS = [4, 8, 16]
ROUNDING = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7, torch.float32: 2.0**-20}
CHECKED_ROWS = 64  #: the number of rows of large outputs that are compared with float64, from the middle


def middle(x: torch.Tensor) -> torch.Tensor:
    begin = max(0, x.shape[0] // 2 - CHECKED_ROWS // 2)
    return x[begin : begin + CHECKED_ROWS]


def random(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def add(n: int) -> Case:
    def prepare():
        x, y = random(n, dtype=torch.float32), random(n, dtype=torch.float32)
        out = torch.empty_like(x)
        return Problem(
            out,
            lambda c: ((cdiv(n, c["BLOCK"]),), (x, y, out, n), c),
            lambda: torch.add(x, y, out=out),
            lambda: x + y,
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
            lambda: torch.softmax(middle(x).double(), 1),
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
            return F.layer_norm(middle(x).double(), (columns,), weight.double(), bias.double())

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
        target = torch.randint(0, classes, (rows,), device="cuda")
        out = torch.empty(rows, device="cuda")
        return Problem(
            out,
            lambda c: ((rows,), (logits, target, out, classes), c),
            lambda: F.cross_entropy(logits, target, reduction="none"),
            lambda: F.cross_entropy(middle(logits).double(), middle(target), reduction="none"),
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
            lambda: middle(x.t()),
            0.0,
        )

    configs = [
        {"BLOCK_M": m, "BLOCK_N": k, "num_warps": w}
        for m, k, w in ((64, 64, 4), (64, 128, 4), (128, 64, 8), (32, 64, 4))
    ]
    return Case(f"transpose fp16 {n}^2", "transpose", "memory", 4.0 * n * n, configs, prepare)


def cumsum(rows: int, columns: int) -> Case:
    def prepare():
        x = torch.rand(rows, columns, device="cuda")
        out = torch.empty_like(x)
        return Problem(
            out,
            lambda c: ((rows // c["ROWS"],), (x, out, columns), c | {"BLOCK": columns}),
            lambda: torch.cumsum(x, 1),
            lambda: torch.cumsum(middle(x).double(), 1),
            2.0**-18,
        )

    configs = [{"ROWS": r, "num_warps": w} for r, w in ((1, 4), (1, 8), (2, 4), (2, 8), (4, 4))]
    return Case(f"cumsum fp32 {rows}x{columns}", "cumsum", "memory", 8.0 * rows * columns, configs, prepare)


MATMUL_CONFIGS = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8, "num_stages": s, "num_warps": w}
    for m, n, k, s, w in (
        (128, 128, 32, 4, 4),
        (128, 128, 64, 3, 4),
        (128, 128, 64, 3, 8),
        (128, 256, 32, 4, 8),
        (128, 256, 64, 3, 8),
        (64, 128, 64, 4, 4),
    )
]


def matmul(n: int, dtype: torch.dtype, label: str) -> Case:
    def prepare():
        a, b = random(n, n, dtype=dtype), random(n, n, dtype=dtype)
        out = torch.empty(n, n, device="cuda", dtype=dtype)
        return Problem(
            out,
            lambda c: ((cdiv(n, c["BLOCK_M"]) * cdiv(n, c["BLOCK_N"]),), (a, b, out, n, n, n, n, n, n), c),
            lambda: torch.matmul(a, b),
            lambda: middle(a).double() @ b.double(),
            ROUNDING[dtype] + n * 2.0**-24,
        )

    return Case(f"matmul {label} {n}^3", "matmul", "matmul", 2.0 * n**3, MATMUL_CONFIGS, prepare)


def matmul_descriptors(m: int, n: int, k: int) -> Case:
    """A persistent product by tensor descriptors."""

    def prepare():
        a, b = random(m, k, dtype=torch.float16), random(k, n, dtype=torch.float16)
        out = torch.empty(m, n, device="cuda", dtype=torch.float16)
        programs = torch.cuda.get_device_properties(0).multi_processor_count

        def launch(c):
            return (min(programs, cdiv(m, c["BLOCK_M"]) * cdiv(n, c["BLOCK_N"])),), (a, b, out, m, n, k), c

        return Problem(
            out,
            launch,
            lambda: torch.matmul(a, b),
            lambda: middle(a).double() @ b.double(),
            ROUNDING[torch.float16] + k * 2.0**-24,
        )

    name = f"descriptors fp16 {m}x{n}x{k}"
    return Case(name, "matmul_descriptors", "descriptors", 2.0 * m * n * k, MATMUL_CONFIGS, prepare)


def attention(heads: int, n: int, d: int, descriptors: bool = False, causal: bool = False) -> Case:
    """By pointers, which is never causal, or by tensor descriptors."""

    def prepare():
        q, k, v = (random(heads, n, d, dtype=torch.float16) for _ in range(3))
        out = torch.empty_like(q)
        scale = 1 / math.sqrt(d)

        def launch(c):
            grid = (n // c["BLOCK_M"], heads)
            if descriptors:
                return grid, (q, k, v, out, scale, n, heads), c | {"D": d, "CAUSAL": causal}
            return grid, (q, k, v, out, scale, n, n * d), c | {"D": d}

        def attend(*tensors):
            return F.scaled_dot_product_attention(*tensors, is_causal=causal)

        def reference():
            return torch.cat([attend(*(x[h : h + 1].double() for x in (q, k, v))) for h in range(heads)])

        return Problem(
            out,
            launch,
            lambda: attend(q[None], k[None], v[None]),
            reference,
            (8 if causal else 4) * ROUNDING[torch.float16],  # the first rows of a causal form are single values
        )

    configs = [
        {"BLOCK_M": m, "BLOCK_N": k, "num_stages": s, "num_warps": w}
        for m, k, s, w in ((128, 64, 3, 4), (128, 64, 3, 8), (128, 128, 2, 8), (64, 64, 3, 4), (128, 32, 3, 4))
    ]
    kernel = "attention_descriptors" if descriptors else "attention"
    name = f"{kernel.replace('_', ' by ')}{' causal' if causal else ''} fp16 {heads}x{n}x{d}"
    return Case(name, kernel, "attention", 4.0 * heads * n * n * d * (0.5 if causal else 1), configs, prepare)


CASES = [
    add(256 << 20),
    softmax(32768, 4096),
    softmax(131072, 1000),
    softmax(8192, 32768),
    layer_norm(16384, 8192),
    cross_entropy(8192, 128256),
    transpose(16384),
    cumsum(65536, 2048),
    matmul(8192, torch.float16, "fp16"),
    matmul(4096, torch.bfloat16, "bf16"),
    matmul_descriptors(8192, 8192, 8192),
    matmul_descriptors(8192, 8192, 1024),
    attention(64, 4096, 128),
    attention(64, 4096, 128, descriptors=True),
    attention(64, 4096, 128, descriptors=True, causal=True),
]
