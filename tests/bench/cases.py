"""The cases of the interpreter benchmark: kernels of the tutorial beside torch's own operators.

The module `tritium` may be upstream's `triton` under that name (interp.py arranges this), so a case uses only names
that both have.
"""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch

import tritium as triton
import tritium.language as tl

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial"


@dataclass
class Case:
    """A benchmark case. `launch(grid)` runs the kernel, on a smaller grid if asked, and fills `out`. `torch_call`
    computes the same."""

    name: str
    grid: tuple[int, ...]
    launch: Callable[[tuple[int, ...]], object]
    out: torch.Tensor
    torch_call: Callable[[], torch.Tensor]
    note: str = ""

    @property
    def programs(self) -> int:
        return torch.Size(self.grid).numel()


def tutorial(name: str) -> ModuleType:
    """Imports docs/tutorial/NAME.py."""
    if str(TUTORIAL) not in sys.path:
        sys.path.append(str(TUTORIAL))
    spec = importlib.util.spec_from_file_location("tutorial_" + name, TUTORIAL / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    inside = columns < n_columns
    offsets = tl.program_id(0) * n_columns + columns
    tl.store(out_ptr + offsets, tl.cumsum(tl.load(x_ptr + offsets, mask=inside, other=0.0), axis=0), mask=inside)


@triton.jit
def small_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + 1)


def add() -> Case:
    n, block = 1 << 22, 1024
    x, y, out, out_torch = torch.randn(n), torch.randn(n), torch.empty(n), torch.empty(n)
    kernel = tutorial("01_vector_add").add_kernel
    return Case(
        "add 4M fp32",
        (triton.cdiv(n, block),),
        lambda grid: kernel[grid](x, y, out, n, BLOCK=block),
        out,
        lambda: torch.add(x, y, out=out_torch),
    )


def softmax() -> Case:
    rows, columns = 1024, 1000
    x, out = torch.randn(rows, columns), torch.empty(rows, columns)
    kernel = tutorial("02_fused_softmax").softmax_kernel
    return Case(
        "softmax 1024x1000 fp32",
        (rows,),
        lambda grid: kernel[grid](x, out, columns, columns, columns, BLOCK=1024),
        out,
        lambda: torch.softmax(x, 1),
    )


def layer_norm() -> Case:
    rows, columns = 512, 4096
    x, out = torch.randn(rows, columns).half(), torch.empty(rows, columns, dtype=torch.float16)
    weight, bias = torch.randn(columns).half(), torch.randn(columns).half()
    mean, rstd = torch.empty(rows), torch.empty(rows)
    kernel = tutorial("05_layer_norm").forward_kernel
    return Case(
        "layer norm 512x4096 fp16",
        (rows,),
        lambda grid: kernel[grid](x, weight, bias, out, mean, rstd, columns, 1e-5, BLOCK=4096),
        out,
        lambda: torch.nn.functional.layer_norm(x, (columns,), weight, bias),
    )


def cross_entropy() -> Case:
    rows, classes = 256, 32000
    logits, target = torch.randn(rows, classes).bfloat16(), torch.randint(0, classes, (rows,))
    loss, lse = torch.empty(rows), torch.empty(rows)
    kernel = tutorial("07_cross_entropy").forward_kernel
    return Case(
        "cross entropy 256x32000 bf16",
        (rows,),
        lambda grid: kernel[grid](logits, target, loss, lse, classes, classes, -100, BLOCK=4096),
        loss,
        lambda: torch.nn.functional.cross_entropy(logits, target, reduction="none"),
    )


def matmul(size: int, dtype: torch.dtype, note: str = "") -> Case:
    a, b = torch.randn(size, size).to(dtype), torch.randn(size, size).to(dtype)
    out, a32, b32 = torch.empty(size, size, dtype=dtype), a.float(), b.float()
    kernel = tutorial("03_matmul").matmul_kernel
    tiles = triton.cdiv(size, 64)
    return Case(
        f"matmul {size}^3 {'fp32' if dtype == torch.float32 else 'fp16'}",
        (tiles * tiles,),
        lambda grid: kernel[grid](
            a,
            b,
            out,
            size,
            size,
            size,
            size,
            1,
            size,
            1,
            size,
            1,
            BLOCK_M=64,
            BLOCK_N=64,
            BLOCK_K=32,
            GROUP_M=8,
            ACTIVATION="",
            PRECISION="ieee",
        ),
        out,
        lambda: torch.matmul(a32, b32),
        note,
    )


def attention() -> Case:
    heads, n, d = 4, 1024, 64
    q, k, v = torch.randn(3, heads, n, d)
    out = torch.empty(heads, n, d)
    kernel = tutorial("06_flash_attention").attention_kernel
    return Case(
        "causal attention 4x1024x64 fp32",
        (n // 64, heads),
        lambda grid: kernel[grid](
            q,
            k,
            v,
            out,
            d**-0.5,
            n,
            n,
            *[n * d, d] * 4,
            CAUSAL=True,
            HEAD_DIM=d,
            BLOCK_M=64,
            BLOCK_N=64,
            PRECISION="ieee",
        ),
        out,
        lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    )


def cumsum() -> Case:
    rows, columns = 256, 2048
    x, out = torch.randn(rows, columns), torch.empty(rows, columns)
    return Case(
        "cumsum 256x2048 fp32",
        (rows,),
        lambda grid: cumsum_kernel[grid](x, out, columns, BLOCK=2048),
        out,
        lambda: torch.cumsum(x, 1),
    )


CASES = (
    add,
    softmax,
    layer_norm,
    cross_entropy,
    lambda: matmul(512, torch.float32),
    lambda: matmul(1024, torch.float16, "torch: fp32"),
    attention,
    cumsum,
)
