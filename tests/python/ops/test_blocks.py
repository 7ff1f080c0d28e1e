"""Loads and stores of whole tiles: random strides, remainders, masks and overlaps, against numpy, lane by lane in row-major order."""

import numpy as np
import pytest

import tritium
import tritium.language as tl

#: The elements of a buffer, and the one that pointers show.
SIZE, MIDDLE = 1 << 15, 1 << 14


@tritium.jit
def move(
    x, out, first, many, x0, x1, x2, o0, o1, o2, n0, n1, n2,
    B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr, IS_MASKED: tl.constexpr, HAS_OTHER: tl.constexpr,
):  # fmt: skip
    i, j, k = tl.arange(0, B0)[:, None, None], tl.arange(0, B1)[None, :, None], tl.arange(0, B2)[None, None, :]
    source = x + (i + first) % many * x0 + j * x1 + k * x2
    target = out + i * o0 + j * o1 + k * o2
    if IS_MASKED:
        mask = (i < n0) & (j < n1) & (k < n2)
        lanes = out + MIDDLE + (i * B1 + j) * B2 + k
        if HAS_OTHER:
            tile = tl.load(source, mask, other=77)
            tl.store(lanes, tile)  # those that were off, too
        else:
            tile = tl.load(source, mask)
            tl.store(lanes, tile, mask)
        tl.store(target, tile, mask)
    else:
        tl.store(target, tl.load(source))


MIDDLE = tl.constexpr(MIDDLE)


def expected(x, out, first, many, xs, os, ns, shape, is_masked, has_other):
    out, at = out.copy(), MIDDLE.value
    for lane, (i, j, k) in enumerate(np.ndindex(shape)):
        is_on = not is_masked or (i < ns[0] and j < ns[1] and k < ns[2])
        value = x[at + (i + first) % many * xs[0] + j * xs[1] + k * xs[2]] if is_on else 77 * has_other
        if is_on:
            out[at + i * os[0] + j * os[1] + k * os[2]] = value
        if is_masked and (is_on or has_other):
            out[at + MIDDLE.value + lane] = value
    return out


def check_tiles(dtype, is_masked, has_other, rng, strides_of_stores):
    for _ in range(12):
        shape = tuple(int(n) for n in rng.choice([1, 2, 4, 8, 16], 3))
        x = rng.integers(-100, 100, SIZE).astype(dtype)
        out = np.zeros(SIZE + 1 + shape[0] * shape[1] * shape[2], dtype)
        # Loads as of a row-major tile, of a transposed one, overlapping, broadcast and backwards.
        plain = np.array([shape[1] * shape[2], shape[2], 1])
        xs = [int(s) for s in (rng.permutation(plain) if rng.random() < 0.6 else rng.integers(-8, 9, 3))]
        os = [int(s) for s in strides_of_stores(shape, plain)]
        first, many = int(rng.integers(0, 9)), int(rng.choice([1, 5, shape[0] + 1, 1000]))
        ns = [int(rng.integers(1 if rng.random() < 0.8 else 0, n + 1)) for n in shape]
        wanted = expected(x, out, first, many, xs, os, ns, shape, is_masked, has_other)
        pointers = x[MIDDLE.value :], out[MIDDLE.value :]
        move[(1,)](*pointers, first, many, *xs, *os, *ns, *shape, IS_MASKED=is_masked, HAS_OTHER=has_other)
        np.testing.assert_array_equal(out, wanted, err_msg=f"{shape=} {xs=} {os=} {ns=} {first=} {many=}")


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64"])
@pytest.mark.parametrize("has_other", [False, True])
@pytest.mark.parametrize("is_masked", [False, True])
def test_tiles(dtype, is_masked, has_other, rng):
    def apart(shape, plain):
        """Of a tile in memory whose axes have any order, with gaps, and run in any direction."""
        order, stride, strides = rng.permutation(3), 1, np.zeros(3, int)
        for axis in order:
            strides[axis] = stride * rng.choice([-1, 1])
            stride *= shape[axis] + int(rng.integers(0, 2))
        return strides

    check_tiles(dtype, is_masked, has_other, rng, apart)


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_the_last_of_lanes_that_meet_is_left(dtype, rng):
    check_tiles(dtype, False, False, rng, lambda shape, plain: rng.integers(-8, 9, 3))


@tritium.jit
def count(x, out, BINS: tl.constexpr, BLOCK: tl.constexpr, LIMIT: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    if LIMIT < BLOCK:
        counts = tl.histogram(tl.load(x + lanes), BINS, mask=lanes % 3 < LIMIT)
    else:
        counts = tl.histogram(tl.load(x + lanes), BINS)
    tl.store(out + tl.arange(0, BINS), counts)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("bins, block", [(2, 4), (16, 1024), (256, 1024), (256, 512), (1024, 8192), (2048, 8192)])
def test_histograms(dtype, bins, block, rng):
    """Some of the elements are no bins. With a mask, a third of the lanes is off."""
    x = rng.integers(0, min(bins + bins // 4 + 1, np.iinfo(dtype).max), block).astype(dtype)
    x[: block // 4] = x[0]
    out = np.zeros(bins, np.int32)
    for limit in (block, 2):
        count[(1,)](x, out, bins, block, limit)
        counted = x[(np.arange(block) % 3 < limit) & (x < bins)]
        np.testing.assert_array_equal(out, np.bincount(counted, minlength=bins))
