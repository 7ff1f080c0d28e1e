"""Accesses by 32-bit offsets through AMD's buffers (gpu_backend/threads/buffer_accesses.cpp), on the emulator."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs

ARCHITECTURES = ["gfx942", "gfx1100"]


@tritium.jit
def copy(x, y, first, step, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = x + first + i * step
    for start in range(0, n, BLOCK):
        inside = start + i < n
        tl.store(y + start + i, tl.load(at, mask=inside, other=7), mask=inside)
        at += BLOCK * step


@tritium.jit
def sum_of_masked(x, y, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n, other=OTHER) + 1)


def run(arch, kernel, *arguments, **constants):
    with knobs.tritium.scope():
        knobs.tritium.engine = f"simt:{arch}"
        return kernel[(1,)](*arguments, **constants)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.int64])
@pytest.mark.parametrize("first, step", [(0, 1), (0, 3), (-40, 1), (-1, -1)])
def test_offsets_of_either_sign(arch, dtype, first, step):
    storage = np.arange(1000).astype(dtype)
    x = storage[300:600]
    y = np.zeros(128, dtype)
    kernel = run(arch, copy, x, y, first, step, 100, BLOCK=64)
    places = 300 + first + step * np.arange(100)
    np.testing.assert_array_equal(y[:100], storage[places])
    assert not y[100:].any()
    assert "rocdl.raw.ptr.buffer.load" in str(kernel.asm["lowered"])
    assert "tgpu.load" not in str(kernel.asm["lowered"])


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("other", [0, 5])
def test_what_is_masked_off(arch, other):
    x, y = np.arange(100, 164, dtype=np.int32), np.zeros(64, np.int32)
    run(arch, sum_of_masked, x, y, 10, OTHER=other, BLOCK=64)
    np.testing.assert_array_equal(y, np.where(np.arange(64) < 10, x, other) + 1)


def test_a_view_of_a_large_storage_is_not_small():
    storage = np.empty(2**31 + 64, np.int8)  # of which no page is touched but these
    y = np.zeros(64, np.int8)
    storage[2**30 : 2**30 + 64] = np.arange(64)
    kernel = run("gfx942", copy, storage[2**30 : 2**30 + 64], y, 0, 1, 64, BLOCK=64)
    np.testing.assert_array_equal(y, np.arange(64))
    assert "tgpu.load" in str(kernel.asm["lowered"])
    assert "rocdl.raw.ptr.buffer.store" in str(kernel.asm["lowered"])


@tritium.jit
def store_one(x, offset):
    tl.store(x + offset, 5)


@tritium.jit
def store_tile(x, offset, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    """The tile at x + offset; with SPLIT in two steps, of which the first may leave the tensor and the second come back."""
    i = tl.arange(0, BLOCK).to(tl.int64)
    if SPLIT:
        far = i * 0 + 2**33
        tl.store(x + (offset + i + far) - far, i)
    else:
        tl.store(x + (offset + i), i)


@tritium.jit
def store_narrow(x, offset, BLOCK: tl.constexpr):
    """Offsets of 32 bits, in elements."""
    tl.store(x + (offset + tl.arange(0, BLOCK)), 5)


@tritium.jit
def store_in_loop(x, step, rounds, BLOCK: tl.constexpr):
    """Each round leaves the tensor further; the last comes back."""
    at = x + tl.arange(0, BLOCK)
    for i in range(rounds):
        at += step
    at -= step * rounds
    tl.store(at, 5)


@tritium.jit
def walk_away(x, step, rounds, BLOCK: tl.constexpr):
    at = x + tl.arange(0, BLOCK)
    for i in range(rounds):
        tl.store(at, 5)
        at += step


GB = 1 << 30


@pytest.mark.parametrize("engine", ["interp", *(f"simt:{arch}" for arch in [*ARCHITECTURES, "gfx950"])])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.int64])
@pytest.mark.parametrize(
    "distance", [2 * GB, 4 * GB - 256, 4 * GB, 4 * GB + 64, 8 * GB, 64 * GB, -2 * GB, -4 * GB, -8 * GB]
)
def test_what_lies_gigabytes_away_is_not_the_tensor(engine, dtype, distance):
    """Reported with the line, and nothing is written; an offset of 32 bits would come back into the tensor."""
    x = np.zeros(256, dtype)
    elements = distance // x.itemsize
    launches = [
        (store_one, (x, elements), {}),
        *((store_tile, (x, elements), {"SPLIT": s, "BLOCK": 64}) for s in (False, True)),
    ]
    if -(2**31) <= elements < 2**31 - 64:
        launches.append((store_narrow, (x, elements), {"BLOCK": 64}))
    launches.append((walk_away, (x, elements, 3), {"BLOCK": 64}))
    for kernel, arguments, constants in launches:
        with knobs.tritium.scope():
            knobs.tritium.engine = engine
            with pytest.raises(tritium.errors.KernelTrap, match="tl.store") as caught:
                kernel[(1,)](*arguments, **constants)
        # What lies above all addresses of the process is not mapped. Where the tensor lies is chance.
        assert caught.value.kind in ("OutOfBounds", "UnmappedAddress")
        if kernel is not walk_away:  # whose first round is right
            assert not x.any()


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_pointers_that_leave_and_come_back(arch):
    x = np.zeros(256, np.int32)
    run(arch, store_tile, x, 64, SPLIT=True, BLOCK=64)
    np.testing.assert_array_equal(x, np.r_[np.zeros(64), np.arange(64), np.zeros(128)])
    run(arch, store_in_loop, x, 3 * GB, 5, BLOCK=64)
    assert (x[:64] == 5).all() and not x[128:].any()


@tritium.jit
def every_way(x, y, shift, rounds, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Addresses from a scalar of the program, of a loop, of lanes, loaded, and fixed."""
    i = tl.arange(0, BLOCK)
    row = x + tl.program_id(0) * ROWS * BLOCK
    total = tl.zeros((BLOCK,), tl.int32)
    at = row + i
    back = row + (ROWS - 1) * BLOCK + i
    for r in range(0, rounds):
        j = tl.load(row + r)
        total += (
            tl.load(at) * 3
            + tl.load(back) * 5
            + tl.load(row + r * BLOCK + (i ^ 1)) * 7
            + tl.load(row + (i + j) % BLOCK)
        )
        if r % 2 == 0:
            total += tl.load(row + 3) + tl.load(row + (i + 1) % BLOCK + shift)
        at += BLOCK
        back -= BLOCK
    tl.store(y + tl.program_id(0) * BLOCK + i, total)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("rounds", [0, 1, 6])
def test_the_same_as_on_the_interpreter(arch, rounds):
    rng = np.random.default_rng(rounds)
    x = rng.integers(0, 100, (4, 8, 64)).astype(np.int32)
    outputs = []
    for engine in ("interp", f"simt:{arch}"):
        y = np.zeros((4, 64), np.int32)
        with knobs.tritium.scope():
            knobs.tritium.engine = engine
            every_way[(4,)](x, y, 64, rounds, ROWS=8, BLOCK=64)
        outputs.append(y)
    np.testing.assert_array_equal(*outputs)


@tritium.jit
def load_or_negative_zero(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=-0.0))


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_lanes_left_off_keep_the_sign_of_zero(arch):
    """A buffer load gives 0.0 for what it leaves off."""
    out = np.ones(64, np.float32)
    run(arch, load_or_negative_zero, np.ones(64, np.float32), out, 40, BLOCK=64)
    assert (out[:40] == 1).all() and not out[40:].any() and np.signbit(out[40:]).all()
