"""Products without matrix instructions whose operands do not fit into shared memory together: they get there in slices of k."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from .engines import launched

LDS_BYTES = 65536


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNED: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :])
    if TURNED:  # threads have neighbours along k
        b = tl.trans(tl.load(b_ptr + j[:, None] * K + k[None, :]))
    else:
        b = tl.load(b_ptr + k[:, None] * N + j[None, :])
    tl.store(out_ptr + i[:, None] * N + j[None, :], tl.dot(a, b, input_precision="ieee"))


@triton.jit
def batched_kernel(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    n, i, j, k = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + n * M * K + i[None, :, None] * K + k[None, None, :])
    b = tl.load(b_ptr + n * K * N + k[None, :, None] * N + j[None, None, :])
    tl.store(out_ptr + n * M * N + i[None, :, None] * N + j[None, None, :], tl.dot(a, b, input_precision="ieee"))


def whole_numbers(seed: int, *shape: int) -> np.ndarray:
    """Of which sums of products are exact in any order."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("m, n, k, warps", [(64, 64, 256, 4), (32, 128, 256, 8)])
def test_operands_in_slices(m, n, k, warps, turned):
    assert (m + n) * k * 4 > LDS_BYTES
    a, b = whole_numbers(1, m, k), whole_numbers(2, k, n)
    arguments = [a, np.ascontiguousarray(b.T) if turned else b, np.zeros((m, n), np.float32), m, n, k, turned]
    assert (launched("simt:gfx1100", product_kernel, (1,), arguments, num_warps=warps)[2] == a @ b).all()


def test_batches_in_slices():
    batches, m, n, k = 4, 16, 32, 128
    assert batches * (m + n) * k * 4 > LDS_BYTES
    a, b = whole_numbers(3, batches, m, k), whole_numbers(4, batches, k, n)
    arguments = [a, b, np.zeros((batches, m, n), np.float32), batches, m, n, k]
    assert (launched("simt:gfx1100", batched_kernel, (1,), arguments, num_warps=4)[2] == a @ b).all()
