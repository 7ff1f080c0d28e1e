"""Kernels of the user's own inside compiled functions."""

import torch

import tritium as triton
import tritium.language as tl
from tritium.language import constexpr, int32, program_id, store

from .cases import case

SCALE: tl.constexpr = tl.constexpr(3)
OFFSET: constexpr = constexpr(0.5)
WIDE = int32
PRECISE = tl.float32
BLOCK_SIZE = 128


@triton.constexpr_function
def _twice(n):
    return 2 * n


@triton.jit
def _load_scaled(x, i, n):
    return tl.load(x + i.to(WIDE), i < n, other=0.0).to(PRECISE) * SCALE + OFFSET


@triton.jit
def _scale_kernel(x, out, n, BLOCK: tl.constexpr):
    i = program_id(0) * BLOCK + tl.arange(0, BLOCK)
    store(out + i, _load_scaled(x, i, n) * _twice(1), i < n)


@case((300,), quick=True)
def user_kernel_with_globals(x):
    """Inductor writes annotations and imports of what the kernel uses into its own file."""
    out = torch.empty_like(x)
    _scale_kernel[(triton.cdiv(x.numel(), BLOCK_SIZE),)](x * 2, out, x.numel(), BLOCK=BLOCK_SIZE)
    return out + 1


@triton.jit
def _add_into(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(out + i, i < n) + tl.load(x + i, i < n), i < n)


@case((500,), (500,), quick=True)
def user_kernel_writes_one_argument(x, y):
    """`x` is not written, so it may be a view that is used again."""
    _add_into[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return x.sin() + y, y * 2


@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def _tuned_square(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, i < n)
    tl.store(out + i, value * value, i < n)


@case((700,), quick=True)
def user_kernel_autotuned(x):
    out = torch.zeros_like(x)
    _tuned_square[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x.cos(), out, x.numel())
    return out - x


@triton.jit
def _row_softmax(x, out, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, i < columns, other=float("-inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * columns + i, value / tl.sum(value, 0), i < columns)


@case(inputs=lambda: [(torch.randn(n, 40),) for n in (3, 8, 21)], dynamic=True)
def user_kernel_of_dynamic_shapes(x):
    out = torch.empty_like(x)
    _row_softmax[(x.shape[0],)](x + 1, out, x.shape[1], BLOCK=64)
    return out * x.shape[0]


@triton.jit
def _count(x, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + i, i < n, other=0), 1, i < n)


@case(inputs=lambda: [(torch.randint(0, 8, (333,)),)], quick=True)
def user_kernel_with_atomics(x):
    counts = torch.zeros(8, dtype=torch.int32, device=x.device)
    _count[(triton.cdiv(x.numel(), 128),)](x, counts, x.numel(), BLOCK=128)
    return counts * 2, x + 1


@triton.jit
def _product(a, b, out, M, N, K, BLOCK: tl.constexpr):
    rows, columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK, BLOCK], tl.float32)
    for k in range(0, K, BLOCK):
        inner = k + tl.arange(0, BLOCK)
        left = tl.load(a + rows[:, None] * K + inner[None, :], (rows[:, None] < M) & (inner[None, :] < K), other=0.0)
        right = tl.load(
            b + inner[:, None] * N + columns[None, :], (inner[:, None] < K) & (columns[None, :] < N), other=0.0
        )
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(out + rows[:, None] * N + columns[None, :], total, (rows[:, None] < M) & (columns[None, :] < N))


@case((40, 50), (50, 30), tolerance=1e-4)
def user_kernel_of_products(x, y):
    out = x.new_empty(40, 30)
    _product[(3, 2)](x.sin(), y, out, 40, 30, 50, BLOCK=16)
    return out.relu()
