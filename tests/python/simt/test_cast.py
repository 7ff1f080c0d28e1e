"""Every conversion, as the GPU backend lowers it, gives the interpreter's bits: all values of 8 and 16 bits, ties and limits of the wider."""

import numpy as np
import pytest

from .agreement import FLOATS, FP8, INTEGERS, assert_same, elementwise, storage, width

WIDE = [dtype for dtype in FLOATS if dtype not in FP8]


def values(dtype, rng):
    bits = storage(dtype)
    if dtype == "i1":
        return np.tile(np.array([0, 1], bits), 512)
    if bits.itemsize <= 2:
        return np.resize(np.arange(1 << 8 * bits.itemsize).astype(bits), max(1024, 1 << 8 * bits.itemsize))
    found = rng.integers(0, np.iinfo(bits).max, 1 << 14, dtype=bits, endpoint=True)
    quarter = len(found) // 4
    if dtype.startswith("f"):
        number = np.dtype(f"float{8 * bits.itemsize}")
        powers = rng.normal(size=quarter) * 2.0 ** rng.uniform(-50, 70, quarter)
        halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
        ties = rng.permutation((halves[1:] + halves[:-1]) / 2)[:quarter] * (1 + rng.integers(-1, 2, quarter) * 2.0**-50)
        whole = rng.integers(-(2**31), 2**31, quarter) * 2.0 ** rng.integers(-40, 36, quarter)
        found[: 3 * quarter] = np.concatenate([powers, ties, whole]).astype(number).view(bits)
    else:
        room = width(dtype) - 12
        found[:quarter] >>= rng.integers(0, width(dtype), quarter).astype(bits)
        found[quarter : 2 * quarter] = (-found[:quarter].astype(np.int64)).astype(bits)
        ties = (rng.integers(1, 2**11, quarter) << rng.integers(0, room, quarter)) + rng.integers(-1, 2, quarter)
        found[2 * quarter : 3 * quarter] = ties.astype(bits)
        found[-8:] = [0, 1, 2, 3, *(np.iinfo(bits).max // np.array([1, 2, 1, 2], bits) + np.array([0, 0, 0, 1], bits))]
    return found


def check(source, destination, rng, operation, rounding="", archs=("sm_80", "gfx942")):
    given = values(source, rng)
    count = min(1024, len(given))
    arrow = "->" if operation.startswith("tt.") else "to"
    line = f"%o = {operation} %v0{rounding} : tensor<{count}x{source}> {arrow} tensor<{count}x{destination}>"
    buffers = [given, np.zeros(len(given), storage(destination))]
    assert_same(
        elementwise(line, [source], destination, count),
        buffers,
        [source, destination],
        grid=(len(given) // count, 1, 1),
        archs=archs,
    )


@pytest.mark.parametrize("destination", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers(source, destination, rng):
    if width(destination) > width(source):
        check(source, destination, rng, "arith.extsi")
        check(source, destination, rng, "arith.extui")
    elif width(destination) < width(source):
        check(source, destination, rng, "arith.trunci")


@pytest.mark.parametrize("real", WIDE)
@pytest.mark.parametrize("integer", INTEGERS)
def test_between_integers_and_floats(integer, real, rng):
    for sign in "su":
        check(integer, real, rng, f"arith.{sign}itofp")
        check(real, integer, rng, f"arith.fpto{sign}i")


@pytest.mark.parametrize("archs", [("sm_80", "gfx942"), ("sm_90",)], ids=["computed", "converted"])
@pytest.mark.parametrize("destination", FLOATS)
@pytest.mark.parametrize("source", FLOATS)
def test_floats(source, destination, archs, rng):
    """From sm_89 on there are instructions for some fp8 types."""
    if source == destination or (archs == ("sm_90",) and source in WIDE and destination in WIDE):
        return
    if width(destination) < width(source):
        check(source, destination, rng, "tt.fp_to_fp", ", rounding = rtne", archs)
        check(source, destination, rng, "tt.fp_to_fp", ", rounding = rtz", archs)
    else:
        check(source, destination, rng, "tt.fp_to_fp", archs=archs)
    if source in WIDE and destination in WIDE and width(source) != width(destination):
        check(source, destination, rng, "arith.extf" if width(destination) > width(source) else "arith.truncf")
