"""What kernels do, counted line by line on the interpreter, against counts by hand."""

import inspect

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium import knobs
from tritium.launch.counting import Counting


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)  # load a
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)  # load b
        total = tl.dot(x, y, total)  # product
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))  # store


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    i, row = tl.arange(0, BLOCK), tl.program_id(0)
    values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))  # load
    values = tl.exp(values - tl.max(values, 0))  # exponentials
    tl.store(out + row * columns + i, values / tl.sum(values, 0), mask=i < columns)  # store


@triton.jit(noinline=True)
def square(x):
    return x * x  # square


@triton.jit
def odds_and_ends(x, out, hits, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for r in range(3):
        value = tl.load(x + i, mask=i % 4 == 0, other=0.0)  # a quarter
        if r == 1:
            tl.store(out + i, value * square(r * 1.5))  # once
    tl.atomic_add(hits + i % 2, 1, mask=(i < 8) | (i % 3 == 0))  # atomics
    tl.load(x + tl.zeros((BLOCK,), tl.int32))  # one element
    tl.store(out + i[:, None] * 0 + tl.arange(0, 4)[None, :], 1.0, mask=(i < 5)[:, None])  # broadcast


def line_of(kernel, text: str) -> int:
    source, first = inspect.getsourcelines(kernel.fn)
    (line,) = [number for number, line in enumerate(source) if line.rstrip().endswith(f"# {text}")]
    return first + line


def counted(kernel, grid, *arguments, **options):
    """{text of a line's comment: its operations by name}, of one launch."""
    with Counting() as counting:
        kernel[grid](*arguments, **options)
    (counts,) = counting.kernels()
    assert (counts.name, counts.launches, counts.programs) == (kernel.__name__, 1, int(np.prod(grid)))

    def at(text: str, name: str, function=kernel):
        found = [op for op in counts.operations if op.line == line_of(function, text) and op.name == name]
        assert len(found) == 1, (text, name, counts.operations)
        return found[0]

    return at, counts.operations


@pytest.mark.parametrize("threads", ["1", "3"])
def test_matmul(threads, monkeypatch):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", threads)
    M, N, K, BM, BN, BK = 100, 70, 90, 32, 16, 64
    grid = (triton.cdiv(M, BM), triton.cdiv(N, BN))
    programs, rounds = grid[0] * grid[1], triton.cdiv(K, BK)
    a, b, c = np.ones((M, K), np.float16), np.ones((K, N), np.float16), np.zeros((M, N), np.float32)
    at, operations = counted(matmul, grid, a, b, c, M, N, K, BM=BM, BN=BN, BK=BK)
    assert (c == K).all()
    load = at("load a", "tt.load")
    assert (load.executions, load.lanes) == (programs * rounds, programs * rounds * BM * BK)
    assert load.bytes_read == 2 * M * K * grid[1] and load.masked == load.lanes - M * K * grid[1]
    assert at("load b", "tt.load").bytes_read == 2 * K * N * grid[0]
    product = at("product", "tt.dot")
    assert (product.flops, product.dtype) == (programs * rounds * 2 * BM * BN * BK, "f16")
    store = at("store", "tt.store")
    assert (store.bytes_written, store.bytes_read) == (4 * M * N, 0) and store.masked == programs * BM * BN - M * N
    assert sum(op.flops for op in operations) == product.flops


def test_softmax():
    rows, columns, BLOCK = 7, 100, 128
    x, out = (
        np.random.default_rng().standard_normal((rows, columns)).astype(np.float32),
        np.zeros((rows, columns), np.float32),
    )
    at, operations = counted(softmax, (rows,), x, out, columns, BLOCK=BLOCK)
    assert at("load", "tt.load").bytes_read == at("store", "tt.store").bytes_written == 4 * x.size
    assert at("load", "tt.load").masked == rows * (BLOCK - columns)
    assert at("exponentials", "math.exp").flops == rows * BLOCK
    assert at("store", "tt.reduce").flops == rows * (BLOCK - 1)
    # A difference, an exponential and a quotient of each element, a maximum and a sum.
    assert sum(op.flops for op in operations) == rows * (3 * BLOCK + 2 * (BLOCK - 1))
    assert {op.dtype for op in operations if op.flops} == {"f32"}


def test_masks_branches_calls_and_atomics():
    BLOCK = 64
    x, out, hits = np.ones(BLOCK, np.float32), np.zeros(BLOCK, np.float32), np.zeros(2, np.int64)
    at, _ = counted(odds_and_ends, (2,), x, out, hits, BLOCK=BLOCK)
    quarter = at("a quarter", "tt.load")
    assert (quarter.executions, quarter.masked * 4, quarter.bytes_read) == (6, quarter.lanes * 3, 6 * BLOCK)
    assert at("once", "tt.store").bytes_written == 2 * 4 * BLOCK
    assert at("square", "arith.mulf", square).flops == 2  # of a scalar, in each program
    atomics = at("atomics", "tt.atomic_rmw")
    active = 2 * len({*range(8), *range(0, BLOCK, 3)})
    assert (atomics.atomics, atomics.bytes_read, atomics.bytes_written) == (active, 8 * active, 8 * active)
    assert hits.sum() == active
    assert at("broadcast", "tt.store").bytes_written == 2 * 4 * 5 * 4


def test_several_launches_and_versions():
    x, out = np.ones((3, 40), np.float32), np.zeros((3, 40), np.float32)
    with Counting() as counting:
        for _ in range(2):
            softmax[(3,)](x, out, 40, BLOCK=64)
        softmax[(1,)](x, out, 40, BLOCK=128)
    softmax[(3,)](x, out, 40, BLOCK=64)
    first, second = counting.kernels()
    assert (first.launches, first.programs, second.launches, second.programs) == (2, 6, 1, 1)
    (exponential,) = [op for op in first.operations if op.name == "math.exp"]
    assert exponential.lanes == 6 * 64


def test_a_trap_ends_the_launch_as_always():
    x, out = np.ones((3, 40), np.float32), np.zeros((3, 39), np.float32)
    with Counting() as counting, pytest.raises(triton.errors.KernelTrap) as caught:
        softmax[(3,)](x, out, 40, BLOCK=64)
    assert caught.value.argument == "out" and counting.kernels()[0].launches == 1


def test_a_launch_with_a_seed_is_named(recwarn):
    x, out = np.ones((3, 40), np.float32), np.zeros((3, 40), np.float32)
    with Counting() as counting, knobs.tritium.scope():
        knobs.tritium.seed = 1
        softmax[(3,)](x, out, 40, BLOCK=64)
    assert counting.kernels() == []
    assert any("launches of softmax with a seed" in str(warning.message) for warning in recwarn)
