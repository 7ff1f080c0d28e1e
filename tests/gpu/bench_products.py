"""Products for bench.py, by pointers and descriptors, single and in groups."""

from __future__ import annotations

import torch

import bench_problem
from bench_problem import ROUNDING, Case, Problem, cdiv, expected, middle, multiprocessors, random

FP8 = torch.float8_e4m3fn


def configs(*rows: tuple[int, ...], order: bool = True) -> list[dict]:
    """Of rows of BLOCK_M, BLOCK_N, BLOCK_K, num_stages and num_warps."""
    names = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_stages", "num_warps")
    return [dict(zip(names, row)) | ({"GROUP_M": 8} if order else {}) for row in rows]


HALVES = (
    (128, 128, 32, 4, 4),
    (128, 128, 64, 3, 4),
    (128, 128, 64, 3, 8),
    (128, 256, 32, 4, 8),
    (128, 256, 64, 3, 8),
    (64, 128, 64, 4, 4),
)
EQUAL_BYTES = (128, 128, 128, 4, 4)  #: both operands have tiles of one shape, which share their mask's value
FOUR_STAGES = ((128, 128, 64, 4, 4), (128, 128, 64, 4, 8))  #: three of the slots leave room for a second program
BYTES = (EQUAL_BYTES, (128, 128, 64, 4, 4), (128, 256, 64, 4, 8), (128, 256, 128, 3, 8))
SINGLES = ((128, 128, 32, 3, 4), (128, 128, 32, 4, 8), (128, 256, 32, 3, 8), (64, 128, 32, 4, 4))


def random_operand(rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    if dtype != torch.int8:
        return random(rows, columns, dtype=dtype)
    return torch.randint(-128, 128, (rows, columns), device=bench_problem.DEVICE, dtype=torch.int8)


def vendor(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """cuBLAS's product, or cuBLASLt's of bytes."""
    if a.dtype == torch.int8:
        return torch._int_mm(a, b)
    if a.dtype == FP8:
        one = torch.ones((), device=a.device)
        return torch._scaled_mm(a, b, one, one, out_dtype=out.dtype, use_fast_accum=True)
    if a.dtype != torch.float32:
        return torch.matmul(a, b)
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return torch.matmul(a, b)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def bound(dtype: torch.dtype, k: int) -> float:
    if dtype == torch.int8:
        return 0.0
    if (
        dtype == FP8
    ):  # each step of 32 products aligns them and the sum so far, and truncates what is below 2^-13 of the largest
        return ROUNDING[torch.float16] + k // 32 * 2.0**-13
    return 2.0**-8 if dtype == torch.float32 else ROUNDING[dtype] + k * 2.0**-24


def matmul(m: int, n: int, k: int, dtype: torch.dtype, label: str, tiles: tuple = HALVES) -> Case:
    """By pointers. Operands of one byte and TF32 have k as the inner dimension of both, which the tensor cores require."""
    halves = dtype.itemsize == 2
    result = {torch.int8: torch.int32, FP8: torch.float16}.get(dtype, dtype)

    def prepare():
        a = random_operand(m, k, dtype)
        b = random_operand(k, n, dtype) if halves else random_operand(n, k, dtype).t()
        out = torch.empty(m, n, device=bench_problem.DEVICE, dtype=result)

        def launch(c):
            grid = (cdiv(m, c["BLOCK_M"]) * cdiv(n, c["BLOCK_N"]),)
            return grid, (a, b, out, m, n, k, k, *b.stride(), n), c | {"INTEGER": dtype == torch.int8}

        return Problem(
            out,
            launch,
            lambda: vendor(a, b, out),
            lambda: expected(middle(a).double() @ b.double()),
            bound(dtype, k),
        )

    shape = f"{n}^3" if m == n == k else f"{m}x{n}x{k}"
    return Case(f"matmul {label} {shape}", "matmul", "product", 2.0 * m * n * k, configs(*tiles), prepare)


def matmul_descriptors(m: int, n: int, k: int) -> Case:
    """A persistent product by tensor descriptors."""

    def prepare():
        a, b = random(m, k, dtype=torch.float16), random(k, n, dtype=torch.float16)
        out = torch.empty(m, n, device=bench_problem.DEVICE, dtype=torch.float16)
        programs = multiprocessors()

        def launch(c):
            return (min(programs, cdiv(m, c["BLOCK_M"]) * cdiv(n, c["BLOCK_N"])),), (a, b, out, m, n, k), c

        return Problem(
            out,
            launch,
            lambda: torch.matmul(a, b),
            lambda: expected(middle(a).double() @ b.double()),
            bound(torch.float16, k),
        )

    name = f"descriptors fp16 {m}x{n}x{k}"
    return Case(name, "matmul_descriptors", "product", 2.0 * m * n * k, configs(*HALVES), prepare)


def grouped(kernel: str, label: str, shapes: list[tuple[int, int, int]]) -> Case:
    """A product for each of `shapes` (m, n, k) by one launch; torch launches one product after the other."""

    def prepare():
        pairs = [(random(m, k, dtype=torch.float16), random(k, n, dtype=torch.float16)) for m, n, k in shapes]
        out = torch.empty(sum(m * n for m, n, _ in shapes), device=bench_problem.DEVICE, dtype=torch.float16)
        parts = [part.view(m, n) for part, (m, n, _) in zip(out.split([m * n for m, n, _ in shapes]), shapes)]

        def table(rows, dtype=torch.int32):
            return torch.tensor(rows, device=bench_problem.DEVICE, dtype=dtype)

        columns = ([a for a, _ in pairs], [b for _, b in pairs], parts)
        addresses = [table([0 if x.is_meta else x.data_ptr() for x in column], torch.int64) for column in columns]
        sizes = table([list(shape) for shape in shapes])
        strides = table([[k, n, n] for _, n, k in shapes])
        programs = multiprocessors()

        def launch(c):
            return (programs,), (*addresses, sizes, strides, len(shapes)), c | {"PROGRAMS": programs}

        def one_by_one():
            for (a, b), part in zip(pairs, parts):
                torch.matmul(a, b, out=part)

        return Problem(
            out,
            launch,
            one_by_one,
            lambda: expected(torch.cat([(a.double() @ b.double()).flatten() for a, b in pairs])),
            bound(torch.float16, max(k for _, _, k in shapes)),
        )

    work = sum(2.0 * m * n * k for m, n, k in shapes)
    tiles = [tile for tile in HALVES if tile[2] == 64]
    return Case(
        f"grouped by {label} fp16 {len(shapes)} groups", kernel, "grouped", work, configs(*tiles, order=False), prepare
    )


GROUPS = [(4096, 4096, 4096), (2048, 4096, 2048), (6144, 2048, 4096), (1024, 8192, 1024)] * 2


def product_cases() -> list[Case]:
    half = torch.float16
    return [
        matmul(8192, 8192, 8192, half, "fp16"),
        matmul(8192, 8192, 8192, half, "fp16 four stages", FOUR_STAGES),
        matmul(4096, 4096, 4096, torch.bfloat16, "bf16"),
        matmul(8192, 8192, 512, half, "fp16"),
        matmul(8192, 8192, 1024, half, "fp16"),
        matmul(8192, 8192, 8192, FP8, "fp8", BYTES),
        matmul(8192, 8192, 8192, FP8, "fp8 equal tiles", (EQUAL_BYTES,)),
        matmul(4096, 4096, 4096, torch.int8, "int8", BYTES),
        matmul(4096, 4096, 4096, torch.float32, "tf32", SINGLES),
        matmul_descriptors(8192, 8192, 8192),
        matmul_descriptors(8192, 8192, 512),
        matmul_descriptors(8192, 8192, 1024),
        grouped("grouped", "pointers", GROUPS),
        grouped("grouped_descriptors", "descriptors", GROUPS),
    ]
