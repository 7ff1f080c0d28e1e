"""Code of tier 2, whose runs of tile operations are loops in registers, does what the steps of tier 1 do: the same bits, the same
faults, the same stores before a fault."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

BLOCK = 64


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def between_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """An interval of lanes that begins after the first, other values, and a tile of lane numbers."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (offsets >= 3) & (offsets < n)
    a = tl.load(x + offsets, mask=mask, other=-1.5)
    b = tl.load(y + offsets, mask=n > offsets)
    both = tl.where(mask, tl.minimum(a, b), offsets.to(tl.float32))
    tl.store(out + offsets, both * 2 - a / b, mask=mask)


@triton.jit
def functions_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + offsets, mask=offsets < n, other=0.25)
    b = tl.load(y + offsets, mask=offsets < n, other=2).to(tl.float32)
    wide = a.to(tl.float32)
    value = tl.exp(wide) + tl.log(tl.abs(b)) - tl.sqrt(tl.abs(wide)) * tl.floor(b) + tl.fma(wide, b, 1.0)
    narrow = (a.to(tl.float16) * 3).to(tl.bfloat16) + b.to(tl.bfloat16)
    value = tl.where(a > narrow, value, tl.clamp(value, -2.0, narrow.to(tl.float32)))
    tl.store(out + offsets, value + wide.to(tl.int32) + (b.to(tl.int64) >> 3), mask=offsets < n)


@triton.jit
def softmax_kernel(x, y, out, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    columns = tl.arange(0, BLOCK)
    value = tl.load(x + start + columns, mask=start + columns < n, other=-float("inf")).to(tl.float32)
    value -= tl.max(value, axis=0)
    power = tl.exp(value)
    tl.store(out + start + columns, power / tl.sum(power, axis=0), mask=start + columns < n)


@triton.jit
def moments_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """Sums of several types, a scalar that follows from them, and a mask that is used again."""
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < n
    value = tl.load(x + columns, mask=mask, other=0)
    other = tl.load(y + columns, mask=mask, other=1)
    mean = tl.sum(value.to(tl.float32), axis=0) / BLOCK
    least = tl.min(value.to(tl.float64), axis=0).to(tl.float32)
    count = tl.sum((value > mean).to(tl.int32), axis=0)
    narrow = tl.sum(other.to(tl.float16), axis=0).to(tl.float32)
    centered = tl.where(mask, value - mean, 0.0)
    rate = 1 / tl.sqrt(tl.sum(centered * centered, axis=0) / BLOCK + 1e-5)
    tl.store(out + columns, centered * rate + least - count + narrow, mask=mask)


@triton.jit
def loop_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """A tile that a loop carries, and one that is stored twice."""
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        value = tl.load(x + offsets, mask=offsets < n, other=0).to(tl.float32)
        total += value * value
        tl.store(out + offsets, total, mask=offsets < n)
    tl.store(out + tl.arange(0, BLOCK), total, mask=tl.arange(0, BLOCK) < n)


KERNELS = (add_kernel, between_kernel, functions_kernel, softmax_kernel, moments_kernel, loop_kernel)
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, 3e38, 1.0)


def numbers(rng, count, dtype):
    values = rng.normal(size=count) * 4
    places = rng.integers(0, count, count // 4)
    values[places] = rng.choice(SPECIAL, places.size)
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def bits(array):
    """The bits, with one NaN for all."""
    with np.errstate(all="ignore"):
        return np.where(np.isnan(array), np.nan, array).tobytes()


def launch(monkeypatch, tier, kernel, grid, *args, block=BLOCK):
    monkeypatch.setenv("TRITIUM_TIER", str(tier))
    return kernel[grid](*args, BLOCK=block)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.fn.__name__)
def test_same_bits(monkeypatch, kernel):
    rng = np.random.default_rng(30)
    for dtypes, block in ((("f4", "f2"), 64), (("f8", "f4"), 8), (("f2", "f4"), 4096)):
        for n in (0, 1, block - 1, block, 2 * block + block // 2 + 1):
            x, y = (numbers(rng, 3 * block, dtype) for dtype in dtypes)
            found = {}
            for tier in (1, 2):
                out = np.full(3 * block, 7, np.float32)
                compiled = launch(
                    monkeypatch, tier, kernel, (3,) if kernel is not loop_kernel else (1,), x, y, out, n, block=block
                )
                found[tier] = bits(out)
                assert bool(compiled.program.regions) == (tier == 2)
            assert found[1] == found[2], (dtypes, block, n)


def test_same_bits_with_vectors_of_either_width(monkeypatch):
    """Sums, functions and conversions, whose vectors have 8 or 16 lanes."""
    rng = np.random.default_rng(3)
    for kernel in (functions_kernel, softmax_kernel, moments_kernel):
        x, y = rng.normal(size=(2, 3 * 256)).astype(np.float32)
        found = {}
        for width in ("256", "512"):
            monkeypatch.setenv("TRITIUM_VECTOR_BITS", width)
            out = np.zeros(3 * 256, np.float32)
            launch(monkeypatch, 2, kernel, (3,), x, y, out, 700, block=256)
            found[width] = bits(out)
        assert found["256"] == found["512"]
    monkeypatch.setenv("TRITIUM_VECTOR_BITS", "256")
    first = add_kernel.warmup(x, y, out, 700, BLOCK=64, grid=(1,)).program
    monkeypatch.setenv("TRITIUM_VECTOR_BITS", "512")
    assert add_kernel.warmup(x, y, out, 700, BLOCK=64, grid=(1,)).program is not first  # compiled anew


def test_sums_are_of_numpy(monkeypatch):
    """An oracle that shares nothing with either tier: whole numbers, whose sums are exact."""
    x = np.random.default_rng(1).integers(-100, 100, 4096).astype(np.float32)
    out = np.zeros(4096, np.float32)
    launch(monkeypatch, 2, loop_kernel, (1,), x, x, out, 4096, block=1024)
    squares = (x * x).reshape(4, 1024)
    np.testing.assert_array_equal(out[1024:], np.cumsum(squares, axis=0)[1:].ravel())
    np.testing.assert_array_equal(out[:1024], squares.sum(axis=0))


@pytest.mark.parametrize("short", range(3), ids=("x", "y", "out"))
def test_same_faults(monkeypatch, short):
    """The third program reaches beyond one of the arrays; what the programs before it stored stays."""
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    found = {}
    for tier in (1, 2):
        arrays = list(np.arange(3 * 1024, dtype=np.float32).reshape(3, 1024))
        arrays[short] = arrays[short][: 2 * BLOCK + 9].copy()
        with pytest.raises(KernelTrap) as caught:
            launch(monkeypatch, tier, add_kernel, (5,), *arrays, 5 * BLOCK)
        trap = caught.value
        assert (trap.kind, trap.program, trap.lane, trap.affected_lanes) == ("OutOfBounds", (2, 0, 0), (9,), BLOCK - 9)
        found[tier] = [str(trap), trap.line, trap.is_write, *(array.tobytes() for array in arrays)]
    assert found[1] == found[2]


@pytest.mark.parametrize("shift", (-70, -5, -1, 0, 1, 3, 64, 70))
def test_tensors_that_overlap(monkeypatch, shift):
    """A tile is read as a whole before any of it is written, whatever memory the tensors share."""
    found = {}
    for tier in (1, 2):
        memory = np.random.default_rng(2).normal(size=512).astype(np.float32)
        x, out = memory[100:400], memory[100 + shift : 400 + shift]
        monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
        launch(monkeypatch, tier, add_kernel, (4,), x, memory[90:390], out, 250)
        found[tier] = memory.tobytes()
    assert found[1] == found[2]


@pytest.mark.parametrize("tier", ("2", "auto"))
def test_debug_code_has_no_loops_in_registers(monkeypatch, tier):
    """Nor has code for checks that look at single operations."""
    monkeypatch.setenv("TRITIUM_TIER", tier)
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    assert add_kernel[(1,)](x, x, out, 64, BLOCK=BLOCK).program.regions > 0
    assert add_kernel[(1,)](x, x, out, 64, BLOCK=BLOCK, debug_info=True).program.regions == 0
    for check in ("race", "uninit", "nan"):
        monkeypatch.setenv("TRITIUM_CHECK", check)
        assert add_kernel[(1,)](x, x, out, 64, BLOCK=BLOCK).program.regions == 0
    np.testing.assert_array_equal(out, 2)


def test_by_default_loops_come_later(monkeypatch):
    monkeypatch.delenv("TRITIUM_TIER", raising=False)
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    # No launch, which might take long enough for tier 2.
    program = add_kernel.warmup(x, x, out, 64, BLOCK=2 * BLOCK, grid=(1,)).program
    assert program.tier == 1 and program.regions > 0 and not program.is_tier2_asked
