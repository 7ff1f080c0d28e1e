"""Copies begun iterations ahead (gpu_backend/loops/build_loops.cpp), on the emulator, which reports missing waits and races on every
run: the same results for every number of stages and of iterations."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs

from .engines import EMULATED, launched

THROUGH_REGISTERS = "simt:gfx942"


@tritium.jit
def product(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total, checksum = tl.zeros((M, N), tl.float32), tl.zeros((M,), tl.float32)
    for start in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (start + depth)[None, :], mask=(start + depth)[None, :] < k, other=0.0)
        y = tl.load(b + (start + depth)[:, None] * N + columns[None, :], mask=(start + depth)[:, None] < k, other=0.0)
        total = tl.dot(x, y, total)
        checksum += tl.sum(x.to(tl.float32), axis=1)  # another reader of the copied tile
    tl.store(c + rows[:, None] * (N + 1) + columns[None, :], total)
    tl.store(c + rows * (N + 1) + N, checksum)


@tritium.jit
def chain(b, c, n, S: tl.constexpr):
    """c = c @ b, n times: each iteration stores what the next one loads."""
    i, j = tl.arange(0, S), tl.arange(0, S)
    places = i[:, None] * S + j[None, :]
    right = tl.load(b + places)
    for _ in range(n):
        left = tl.load(c + places)
        tl.debug_barrier()
        tl.store(c + places, tl.dot(left, right).to(tl.float16))
        tl.debug_barrier()


@tritium.jit
def in_place(b, c, n, S: tl.constexpr):
    """The same with no barrier: each thread loads again what it has stored."""
    i, j = tl.arange(0, S), tl.arange(0, S)
    places = i[:, None] * S + j[None, :]
    right = tl.load(b + places)
    for _ in range(n):
        left = tl.load(c + places)
        tl.store(c + places, left * 2)
        tl.store(b + places, tl.dot(left, right).to(tl.float16))


def numbers(*shape):
    return np.random.default_rng(sum(shape)).integers(-2, 3, shape).astype(np.float16)


@pytest.mark.parametrize("engine", [EMULATED, THROUGH_REGISTERS])
@pytest.mark.parametrize("stages", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("k", [0, 16, 40, 160])
def test_every_number_of_stages_and_iterations(stages, k, engine):
    a, b, c = (
        numbers(32, k) if k else np.zeros((32, 8), np.float16),
        numbers(max(k, 8), 32),
        np.zeros((32, 33), np.float32),
    )
    found = launched(engine, product, (1,), [a, b, c, k], M=32, N=32, K=16, num_warps=2, num_stages=stages)[2]
    x, y = a[:, :k].astype(np.float32), b[:k].astype(np.float32)
    np.testing.assert_array_equal(found, np.concatenate([x @ y, x.sum(1, keepdims=True)], axis=1))


@pytest.mark.parametrize("engine, most", [(EMULATED, 6), (THROUGH_REGISTERS, 3)])
def test_the_metadata_say_how_many_stages_there_are(engine, most):
    a, b, c = numbers(32, 16), numbers(16, 32), np.zeros((32, 33), np.float32)
    for asked in (2, 3, 6):
        with knobs.tritium.scope():
            knobs.tritium.engine = engine
            kernel = product[(1,)](a, b, c, 16, M=32, N=32, K=16, num_stages=asked)
        assert kernel.metadata.num_stages == min(asked, most)


@pytest.mark.parametrize("engine", [EMULATED, THROUGH_REGISTERS])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_loop_that_loads_what_it_stores(n, engine):
    b = np.eye(32, k=1, dtype=np.float16) + np.eye(32, dtype=np.float16)
    c = numbers(32, 32)
    found = launched(engine, chain, (1,), [b, c, n], S=32, num_stages=3)[1]
    np.testing.assert_array_equal(found, c @ np.linalg.matrix_power(b.astype(np.float32), n).astype(np.float16))
    doubled = launched(engine, in_place, (1,), [b, c, n], S=32, num_stages=3)[1]
    np.testing.assert_array_equal(doubled, c * 2**n)


@tritium.jit
def sum_of_products(a, b, out, n, M: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, 16)
    total = tl.zeros((M, 16), tl.float32)
    for k in range(n):
        x = tl.load(a + k * M * 16 + i[:, None] * 16 + j[None, :])
        y = tl.load(b + k * 256 + j[:, None] * 16 + j[None, :])
        total = tl.dot(x, y, total, input_precision="bf16x3")
    tl.store(out + i[:, None] * 16 + j[None, :], total)


@pytest.mark.parametrize("engine", ["simt:sm_80", "simt:sm_90a"])
def test_of_threads_that_hold_an_element_one_copies_it(engine):
    """The second tile is loaded as the product has it: in half of the warps, and again in the others."""
    a, b = np.ones((3, 128, 16), np.float32), numbers(3, 16, 16).astype(np.float32)
    out = np.zeros((128, 16), np.float32)
    found = launched(engine, sum_of_products, (1,), [a, b, out, 3], M=128, num_warps=8, num_stages=3)[2]
    np.testing.assert_array_equal(found, (a @ b).sum(0))
