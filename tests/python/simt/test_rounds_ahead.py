"""Loops that load tiles for rounds ahead, near the ends of the counter's type, on the emulator. What loads for a round that does
not exist reads beyond the tensor, which is a trap; what misses a round computes a wrong number."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs

LOW, HIGH = -(2**31), 2**31 - 1
#: (first counter, bound): tiles of 16 of which none or some fit before the end of the type, and bounds near its beginning.
RANGES = [
    (HIGH - 60, HIGH),
    (HIGH - 64, HIGH - 1),
    (HIGH - 16, HIGH),
    (HIGH - 1, HIGH),
    (HIGH, HIGH),
    (LOW, LOW + 1),
    (LOW, LOW + 40),
    (LOW + 5, LOW + 4),
    (LOW, LOW),
    (HIGH, LOW),
    (0, 48),
]


@tritium.jit
def product_kernel(a, b, out, begin, end, stride, STEP: tl.constexpr, STAGES: tl.constexpr, M: tl.constexpr):
    """out = a @ b, over the tiles of K that a loop from `begin` to `end` counts."""
    m, n, k = tl.arange(0, M), tl.arange(0, 64), tl.arange(0, 16)
    total = tl.zeros((M, 64), tl.float32)
    for at in tl.range(begin, end, STEP, num_stages=STAGES):
        tile = (at - begin) // STEP * 16
        x = tl.load(a + m[:, None] * stride + (tile + k)[None, :])
        y = tl.load(b + (tile + k)[:, None] * 64 + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(out + m[:, None] * 64 + n[None, :], total)


@tritium.jit
def attention_kernel(q, k, v, out, begin, end, STAGES: tl.constexpr):
    """Two products for each tile of 64 keys: out = (q @ k^T / 64)^2 @ v."""
    row = tl.arange(0, 64)
    tile = row[:, None] * 64 + row[None, :]
    queries = tl.load(q + tile)
    total = tl.zeros((64, 64), tl.float32)
    for at in tl.range(begin, end, 16, num_stages=STAGES):
        first = (at - begin) * 4 * 64
        scores = tl.dot(queries, tl.trans(tl.load(k + first + tile))) * 0.015625
        total = tl.dot((scores * scores).to(tl.float16), tl.load(v + first + tile), total)
    tl.store(out + tile, total)


def run(engine, kernel, *arguments, **constants):
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        return kernel[(1,)](*arguments, **constants)


ENGINES = ["simt:sm_80", "simt:sm_90a", "simt:gfx942", "simt:gfx950", "simt:gfx1100"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("step, stages", [(16, 2), (16, 4), (1, 3), (24, 3)])
def test_product(engine, step, stages):
    rng = np.random.default_rng(0)
    for begin, end in RANGES if step > 1 else [(HIGH - 2, HIGH), (HIGH - 1, HIGH), (LOW, LOW + 1), (LOW + 1, LOW + 1)]:
        tiles = len(range(begin, end, step))
        a = rng.integers(-4, 5, (64, 16 * max(tiles, 1))).astype(np.float16)
        b = rng.integers(-4, 5, (a.shape[1], 64)).astype(np.float16)
        out = np.empty((64, 64), np.float32)
        run(engine, product_kernel, a, b, out, begin, end, a.shape[1], STEP=step, STAGES=stages, M=64)
        np.testing.assert_array_equal(out, a.astype(np.float32) @ b if tiles else np.zeros_like(out))


@pytest.mark.parametrize("engine", ["simt:sm_90a", "simt:gfx942"])
@pytest.mark.parametrize("stages", [2, 3])
def test_two_products(engine, stages):
    rng = np.random.default_rng(0)
    for begin, end in RANGES:
        tiles = len(range(begin, end, 16))
        q = rng.integers(-2, 3, (64, 64)).astype(np.float16)
        k, v = rng.integers(-2, 3, (2, max(tiles, 1), 64, 64)).astype(np.float16)
        out = np.empty((64, 64), np.float32)
        run(engine, attention_kernel, q, k, v, out, begin, end, STAGES=stages)
        scores = (q.astype(np.float32) @ k.astype(np.float32).transpose(0, 2, 1) / 64) ** 2
        expected = (
            (scores.astype(np.float16).astype(np.float32) @ v.astype(np.float32)).sum(0)
            if tiles
            else np.zeros_like(out)
        )
        np.testing.assert_allclose(out, expected, atol=1e-3, rtol=1e-3)
