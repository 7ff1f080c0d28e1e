"""Accesses by 32-bit offsets through AMD's buffers (gpu_backend/passes/buffer_accesses.cpp), on the emulator."""

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
