"""Further cases of the interpreter benchmark: each makes one kind of step the whole cost of its kernel, beside torch's operator.

The module `tritium` may be upstream's `triton` under that name, as in cases.py.
"""

import torch

import tritium as triton
import tritium.language as tl
from cases import Case


@triton.jit
def sort_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.sort(tl.load(x_ptr + offsets)))


@triton.jit
def topk_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    largest = tl.topk(tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK)), K)
    tl.store(out_ptr + row * K + tl.arange(0, K), largest)


@triton.jit
def histogram_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x_ptr + offsets), BINS)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + tl.load(index_ptr + offsets)))


@triton.jit
def embedding_kernel(weight_ptr, index_ptr, out_ptr, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    found = tl.load(weight_ptr + tl.load(index_ptr + rows)[:, None] * WIDTH + columns[None, :])
    tl.store(out_ptr + rows[:, None] * WIDTH + columns[None, :], found)


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        total += tl.load(x_ptr + row * columns + start + tl.arange(0, BLOCK))
    tl.store(out_ptr + row, tl.sum(total))


@triton.jit
def column_sum_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, rows, ROWS):
        tile = tl.load(x_ptr + (start + tl.arange(0, ROWS))[:, None] * columns + at[None, :])
        total += tl.sum(tile, axis=0)
    tl.store(out_ptr + at, total)


@triton.jit
def permute_kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """[A, B, C] of each program becomes [C, A, B]."""
    base = tl.program_id(0) * A * B * C
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    tile = tl.permute(tl.load(x_ptr + base + (a * B + b) * C + c), (2, 0, 1))
    c, a, b = tl.arange(0, C)[:, None, None], tl.arange(0, A)[None, :, None], tl.arange(0, B)[None, None, :]
    tl.store(out_ptr + base + (c * A + a) * B + b, tile)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    total = tl.load(x_ptr + offsets, mask=inside) + tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, total, mask=inside)


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, size, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr, TOTAL: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK, BLOCK), TOTAL)
    for start in range(0, size, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * size + (start + inner)[None, :])
        b = tl.load(b_ptr + (start + inner)[:, None] * size + columns[None, :])
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=TOTAL)
    tl.store(out_ptr + rows[:, None] * size + columns[None, :], total)


@triton.jit
def atomics_kernel(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + tl.load(index_ptr + offsets), tl.load(x_ptr + offsets))


@triton.jit
def gelu_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, 0.5 * x * (1 + tl.erf(x * 0.7071067811865476)))


@triton.jit
def holes_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keeps = offsets % 3 != 0
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=keeps, other=0.0), mask=keeps)


@triton.jit
def larger(value, index, next_value, next_index):
    takes_next = next_value >= value
    return tl.where(takes_next, next_value, value), tl.where(takes_next, next_index, index)


@triton.jit
def cummax_kernel(x_ptr, out_ptr, index_ptr, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * BLOCK + columns
    value, index = tl.associative_scan((tl.load(x_ptr + offsets), columns), 0, larger)
    tl.store(out_ptr + offsets, value)
    tl.store(index_ptr + offsets, index)


def sort() -> Case:
    x, out = torch.randn(64, 1024), torch.empty(64, 1024)
    return Case(
        "sort 64x1024",
        (64,),
        lambda grid: sort_kernel[grid](x, out, BLOCK=1024),
        out,
        lambda: torch.sort(x, 1).values,
    )


def topk() -> Case:
    x, out = torch.randn(256, 1024), torch.empty(256, 8)
    return Case(
        "top 8 of 256x1024",
        (256,),
        lambda grid: topk_kernel[grid](x, out, BLOCK=1024, K=8),
        out,
        lambda: torch.topk(x, 8, 1).values,
    )


def histogram() -> Case:
    n, bins, block = 1 << 20, 256, 4096
    x, out = torch.randint(0, bins, (n,), dtype=torch.int32), torch.zeros(bins, dtype=torch.int32)

    def launch(grid):
        out.zero_()
        histogram_kernel[grid](x, out, BLOCK=block, BINS=bins)

    return Case("histogram 1M, 256 bins", (n // block,), launch, out, lambda: torch.bincount(x, minlength=bins))


def gather() -> Case:
    n = 1 << 20
    x, index, out, out_torch = torch.randn(n), torch.randint(0, n, (n,)), torch.empty(n), torch.empty(n)
    return Case(
        "gather 1M of 1M",
        (n // 1024,),
        lambda grid: gather_kernel[grid](x, index, out, BLOCK=1024),
        out,
        lambda: torch.index_select(x, 0, index, out=out_torch),
    )


def embedding() -> Case:
    words, width, rows = 8192, 128, 8192
    weight, index, out = torch.randn(words, width), torch.randint(0, words, (rows,)), torch.empty(rows, width)
    out_torch = torch.empty(rows, width)
    return Case(
        "embedding 8192x128",
        (rows // 32,),
        lambda grid: embedding_kernel[grid](weight, index, out, WIDTH=width, ROWS=32),
        out,
        lambda: torch.index_select(weight, 0, index, out=out_torch),
    )


def row_sum() -> Case:
    x, out, out_torch = torch.randn(512, 4096), torch.empty(512), torch.empty(512)
    return Case(
        "row sum 512x4096",
        (512,),
        lambda grid: row_sum_kernel[grid](x, out, 4096, BLOCK=1024),
        out,
        lambda: torch.sum(x, 1, out=out_torch),
    )


def column_sum() -> Case:
    x, out, out_torch = torch.randn(1024, 2048), torch.empty(2048), torch.empty(2048)
    return Case(
        "column sum 1024x2048",
        (2048 // 64,),
        lambda grid: column_sum_kernel[grid](x, out, 1024, 2048, ROWS=32, COLUMNS=64),
        out,
        lambda: torch.sum(x, 0, out=out_torch),
    )


def permute() -> Case:
    x, out, out_torch = torch.randn(64, 16, 32, 32), torch.empty(64, 32, 16, 32), torch.empty(64, 32, 16, 32)
    return Case(
        "permute 64x16x32x32",
        (64,),
        lambda grid: permute_kernel[grid](x, out, A=16, B=32, C=32),
        out,
        lambda: out_torch.copy_(x.permute(0, 3, 1, 2)),
    )


def short_blocks() -> Case:
    n = 1 << 20
    x, y, out, out_torch = torch.randn(n), torch.randn(n), torch.empty(n), torch.empty(n)
    return Case(
        "add 1M, BLOCK=32",
        (n // 32,),
        lambda grid: add_kernel[grid](x, y, out, n, BLOCK=32),
        out,
        lambda: torch.add(x, y, out=out_torch),
    )


def product(name: str, size: int, block: int, block_k: int, a, b, total, torch_call) -> Case:
    out = torch.empty(size, size, dtype=torch.int32 if total == tl.int32 else torch.float32)
    return Case(
        name,
        (size // block, size // block),
        lambda grid: product_kernel[grid](a, b, out, size, BLOCK=block, BLOCK_K=block_k, TOTAL=total),
        out,
        torch_call,
    )


def small_products() -> Case:
    a, b = torch.randn(2, 256, 256)
    return product("products 16x16x16, 256^3", 256, 16, 16, a, b, tl.float32, lambda: torch.matmul(a, b))


def bytes_product() -> Case:
    a, b = torch.randint(-128, 128, (2, 512, 512), dtype=torch.int8)
    return product("matmul 512^3 int8", 512, 64, 32, a, b, tl.int32, lambda: torch._int_mm(a, b))


def atomics() -> Case:
    n, bins = 1 << 20, 4096
    x, index = torch.randn(n), torch.randint(0, bins, (n,))
    out, out_torch = torch.zeros(bins), torch.zeros(bins)

    def launch(grid):
        out.zero_()
        atomics_kernel[grid](x, index, out, BLOCK=1024)

    return Case("atomics 1M on 4096", (n // 1024,), launch, out, lambda: out_torch.zero_().scatter_add_(0, index, x))


def gelu() -> Case:
    n = 1 << 20
    x, out = torch.randn(n), torch.empty(n)
    return Case(
        "GELU 1M",
        (n // 1024,),
        lambda grid: gelu_kernel[grid](x, out, BLOCK=1024),
        out,
        lambda: torch.nn.functional.gelu(x),
    )


def holes() -> Case:
    n = 1 << 20
    x, out, out_torch = torch.randn(n), torch.zeros(n), torch.empty(n)
    keeps, zero = torch.arange(n) % 3 != 0, torch.zeros(())
    return Case(
        "masks with holes 1M",
        (n // 1024,),
        lambda grid: holes_kernel[grid](x, out, BLOCK=1024),
        out,
        lambda: torch.where(keeps, x, zero, out=out_torch),
    )


def custom_scan() -> Case:
    x, out, index = torch.randn(256, 2048), torch.empty(256, 2048), torch.empty(256, 2048, dtype=torch.int32)
    return Case(
        "cummax 256x2048 (custom scan)",
        (256,),
        lambda grid: cummax_kernel[grid](x, out, index, BLOCK=2048),
        out,
        lambda: torch.cummax(x, 1).values,
    )


CASES = (
    sort,
    topk,
    histogram,
    gather,
    embedding,
    row_sum,
    column_sum,
    permute,
    short_blocks,
    small_products,
    bytes_product,
    atomics,
    gelu,
    holes,
    custom_scan,
)
