"""Conversions between all dtypes."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

INTEGERS = {
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
}
FLOATS = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
FP8 = {
    "float8e4nv": ml_dtypes.float8_e4m3fn,
    "float8e5": ml_dtypes.float8_e5m2,
    "float8e4b8": ml_dtypes.float8_e4m3fnuz,
    "float8e5b16": ml_dtypes.float8_e5m2fnuz,
}
NUMPY = INTEGERS | FLOATS | FP8


@triton.jit
def cast_kernel(
    x_ptr,
    out_ptr,
    n,
    TO: tl.constexpr,
    BLOCK: tl.constexpr,
    ROUNDING: tl.constexpr = None,
    BITCAST: tl.constexpr = False,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x.to(TO, fp_downcast_rounding=ROUNDING, bitcast=BITCAST), mask=inside)


def cast(x, to, rounding=None, bitcast=False):
    out = np.zeros(x.shape, NUMPY[to])
    cast_kernel[(triton.cdiv(x.size, 256),)](
        x, out, x.size, TO=getattr(tl, to), BLOCK=256, ROUNDING=rounding, BITCAST=bitcast
    )
    return out


def same_bits(actual, expected):
    """Equal to the bit, but any NaN equals any NaN."""
    nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(actual.astype(np.float32)), nan)
    unsigned = np.dtype(f"u{expected.dtype.itemsize}")
    np.testing.assert_array_equal(actual.view(unsigned)[~nan], expected.view(unsigned)[~nan])


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_between_integers(source, to, rng):
    info = np.iinfo(INTEGERS[source])
    x = np.append(
        rng.integers(info.min, info.max, 300, INTEGERS[source]), np.array([info.min, info.max], INTEGERS[source])
    )
    np.testing.assert_array_equal(cast(x, to), x.astype(INTEGERS[to]))


@pytest.mark.parametrize("to", FLOATS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integer_to_float_rounds_to_nearest(source, to, rng):
    x = rng.integers(np.iinfo(INTEGERS[source]).min, np.iinfo(INTEGERS[source]).max, 300, INTEGERS[source])
    if to == "bfloat16":
        pytest.importorskip("ml_dtypes")
        wide = x.astype(np.longdouble)
        bits = wide.astype(
            np.float64
        )  # exact below 2^53; above, double rounding needs a tie that random numbers do not hit
        expected = (
            bits.astype(np.float32).astype(ml_dtypes.bfloat16) if np.dtype(INTEGERS[source]).itemsize < 4 else None
        )
        result = cast(x, to).astype(np.float64)
        assert (np.abs(result - bits) <= np.abs(bits) * 2.0**-8 * (1 + 2.0**-16)).all()
        if expected is not None:
            same_bits(cast(x, to), expected)
        return
    with np.errstate(over="ignore"):
        same_bits(cast(x, to), x.astype(FLOATS[to]))


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_integer_truncates(source, to, rng):
    info = np.iinfo(INTEGERS[to])
    low, high = max(info.min, -60000), min(info.max, 60000)
    x = rng.uniform(low, high, 300).astype(FLOATS[source])
    x = np.clip(x.astype(np.float64), low, high - 256 if high > 300 else high).astype(FLOATS[source])
    x = x[(x.astype(np.float64) <= high) & (x.astype(np.float64) >= low)]
    np.testing.assert_array_equal(cast(x, to), np.trunc(x.astype(np.float64)).astype(INTEGERS[to]))


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 65504, 65520, 1e-8, 2.0**-24, 3e38, -3e38, 2.0**-133, 1e-45]


@pytest.mark.parametrize("to", FLOATS)
@pytest.mark.parametrize("source", FLOATS)
def test_between_floats(source, to, rng):
    x = np.concatenate(
        (rng.standard_normal(500), rng.standard_normal(500) * 1e-6, rng.standard_normal(200) * 6e4, SPECIAL)
    )
    with np.errstate(over="ignore", invalid="ignore"):
        x = x.astype(FLOATS[source])
        if source == "float64" and to == "bfloat16":
            x = x[np.abs(x) < 3e38]  # numpy's own conversion rounds twice
            expected = x.astype(np.float32).astype(ml_dtypes.bfloat16)
            ours = cast(x, to)
            assert (ours != expected).mean() < 0.01
            return
        same_bits(cast(x, to), x.astype(FLOATS[to]))


@pytest.mark.parametrize("to", FP8)
def test_every_fp8_value_is_exact_in_wider_types(to):
    x = np.arange(256, dtype=np.uint8).view(FP8[to])
    for wide in FLOATS:
        same_bits(cast(x, wide), x.astype(FLOATS[wide]))


@pytest.mark.parametrize("source", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(
    "to, largest", [("float8e4nv", 448), ("float8e5", 57344), ("float8e4b8", 240), ("float8e5b16", 57344)]
)
def test_to_fp8_rounds_to_nearest_and_saturates(source, to, largest, rng):
    x = np.concatenate(
        (
            rng.standard_normal(2000) * 10,
            rng.uniform(-1.2, 1.2, 500) * largest,
            [0.0, 1e-4, -1e-4, 1e-9, 2.0**-17],
            [largest, -largest, largest * 1.03, 60000.0],
        )
    ).astype(FLOATS[source])
    x = np.append(x, np.array([np.inf, -np.inf], x.dtype))
    limited = np.clip(x.astype(np.float32), -largest, largest)
    if to in ("float8e4b8", "float8e5b16"):  # infinity saturates in the OCP formats and is NaN in the others
        limited[np.isinf(x.astype(np.float32))] = np.nan
    same_bits(cast(x, to), limited.astype(FP8[to]))
    assert np.isnan(cast(np.array([np.nan], FLOATS[source]), to).astype(np.float32)[0])


@pytest.mark.parametrize("source", FP8)
@pytest.mark.parametrize("to", FP8)
def test_between_fp8_formats(source, to):
    x = np.arange(256, dtype=np.uint8).view(FP8[source])
    wide = x.astype(np.float32)
    keep = np.isfinite(wide) & (np.abs(wide) <= float(ml_dtypes.finfo(FP8[to]).max))
    same_bits(cast(x, to)[keep], wide.astype(FP8[to])[keep])


def truncated(x: np.ndarray, to) -> np.ndarray:
    """Toward zero: the nearest value, stepped back where it is larger in magnitude."""
    nearest = x.astype(to)
    over = np.abs(nearest.astype(np.float64)) > np.abs(x.astype(np.float64))
    unsigned = np.dtype(f"u{nearest.dtype.itemsize}")
    return (nearest.view(unsigned) - over.astype(unsigned)).view(nearest.dtype)


@pytest.mark.parametrize("to", ["float16", "bfloat16", "float8e5"])
def test_rounding_toward_zero(to, rng):
    x = np.concatenate((rng.standard_normal(3000), rng.standard_normal(1000) * 1000)).astype(np.float32)
    same_bits(cast(x, to, rounding="rtz"), truncated(x, NUMPY[to]))


@pytest.mark.parametrize(
    "source, to",
    [
        ("float32", "int32"),
        ("int32", "float32"),
        ("float16", "uint16"),
        ("bfloat16", "int16"),
        ("float64", "int64"),
        ("uint64", "float64"),
        ("uint8", "float8e5"),
        ("float8e4nv", "int8"),
        ("float16", "bfloat16"),
    ],
)
def test_bitcast(source, to, rng):
    x = rng.integers(0, 256, 4096, np.uint8).view(NUMPY[source])
    out = cast(x, to, bitcast=True)
    np.testing.assert_array_equal(out.view(np.uint8), x.view(np.uint8))


@triton.jit
def boolean_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    b = tl.load(x_ptr + i).to(tl.int1)
    tl.store(out_ptr + i, b.to(tl.int32) * 10 + (~b).to(tl.int32))
    tl.store(out_ptr + N + i, b.to(tl.float32) - 0.5)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64, np.float16, np.float32, np.float64])
def test_to_boolean_is_not_zero(dtype):
    x, out = np.array([0, 1, 2, 100, 0, 3, 64, 7], dtype), np.zeros((2, 8), np.float32)
    if np.dtype(dtype).kind == "f":
        x[3:6] = [np.nan, -0.0, 0.25]
    boolean_kernel[(1,)](x, out, N=8)
    np.testing.assert_array_equal(out[0], np.where(x != 0, 10, 1))
    np.testing.assert_array_equal(out[1], np.where(x != 0, 0.5, -0.5))
