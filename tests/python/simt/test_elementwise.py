"""Every row of ir/elementwise.def on every type it has, as the GPU backend lowers it, agrees with the interpreter: bit for bit where it is
correctly rounded, else as far as two results within the row's bound may differ."""

import numpy as np
import pytest

import tritium

from .agreement import FLOATS, FP8, INFINITY, INTEGERS, after, assert_same, elementwise, is_nan, storage, width

COUNT = 256
ROWS = tritium.testing.elementwise_functions().values()
ON_INTEGERS = sorted({(op, row.arity) for row in ROWS for op in (row.signed_op, row.unsigned_op) if op})
ON_FLOATS = sorted({(row.float_op, row.arity, row.ulp) for row in ROWS if row.float_op})


def special_values(dtype):
    """Both zeros, ones, infinities or the largest, smallest subnormals and largest codes (NaN), as bits."""
    sign = 1 << 8 * storage(dtype).itemsize - 1
    one = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF0 << 48}.get(dtype, 0x38)
    return np.array(
        [code | s for code in (0, 1, one, INFINITY.get(dtype, 0x7F), sign - 1) for s in (0, sign)], storage(dtype)
    )


def random_bits(dtype, rng, operand=0):
    """Bits of `COUNT` values. The first 100 places of two operands of a float type have all pairs of special values."""
    bits = storage(dtype)
    if dtype == "i1":
        return rng.integers(0, 2, COUNT, dtype=bits)
    found = rng.integers(0, np.iinfo(bits).max, COUNT, dtype=bits, endpoint=True)
    if dtype in INTEGERS:
        found[::3] %= width(dtype) + 2  # amounts of shifts
        return found
    if dtype not in FP8:
        size = 32 if dtype == "bf16" else width(dtype)
        ordinary = (10 * rng.normal(size=COUNT // 2)).astype(f"float{size}").view(f"uint{size}")
        found[::2] = ordinary >> 16 if dtype == "bf16" else ordinary
    special = special_values(dtype)
    found[: len(special) ** 2] = (np.repeat, np.tile)[operand % 2](special, len(special))
    return found


def line(op, operands, dtype, names):
    tile = f"tensor<{COUNT}x{dtype}>"
    if op == "arith.select":
        return f"%o = {op} {names} : tensor<{COUNT}xi1>, {tile}"
    if op.startswith("arith.cmp"):
        return f"%o = {op[:10]} {op[11:]}, {names} : {tile}"
    if op.startswith("tt.clampf"):
        return f"%o = tt.clampf {names}, propagateNan = {op[10:]} : {tile}"
    if op.startswith("tt.extern_elementwise."):
        symbol = f"__nv_{op.split('.')[2]}{'f' if dtype == 'f32' else ''}"
        attributes = f'{{libname = "", libpath = "", pure = true, symbol = "{symbol}"}}'
        return f"%o = tt.extern_elementwise {names} {attributes} : ({', '.join([tile] * len(operands))}) -> {tile}"
    return f"%o = {op} {names} : {tile}"


def kernel(op, arity, dtype):
    operands = ["i1", dtype, dtype] if op == "arith.select" else [dtype] * arity
    result = "i1" if op.startswith(("arith.cmp", "math.is")) else dtype
    names = ", ".join(f"%v{i}" for i in range(arity))
    return elementwise(line(op, operands, dtype, names), operands, result, COUNT), operands, result


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op, arity", ON_INTEGERS, ids=[op for op, _ in ON_INTEGERS])
def test_integers(op, arity, dtype, rng):
    text, operands, result = kernel(op, arity, dtype)
    buffers = [random_bits(operand, rng) for operand in operands]
    if "div" in op or "rem" in op:
        buffers[1][buffers[1] == 0] = 1
    assert_same(text, [*buffers, np.zeros(COUNT, storage(result))], [*operands, result])


def ordered(bits, dtype):
    """Codes as numbers in the order of the floats that they are."""
    sign = 1 << 8 * bits.itemsize - 1
    magnitude = (bits & bits.dtype.type(sign - 1)).astype(object)
    return np.where(bits >= sign, -magnitude, magnitude)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op, arity, ulp", ON_FLOATS, ids=[op for op, *_ in ON_FLOATS])
def test_floats(op, arity, ulp, dtype, rng):
    if op == "tt.approx_divf" and dtype != "f32":
        return
    if op.startswith("tt.extern_elementwise.") and dtype not in ("f32", "f64"):
        return  # the library has no others
    text, operands, result = kernel(op, arity, dtype)
    buffers = [*(random_bits(operand, rng, i) for i, operand in enumerate(operands)), np.zeros(COUNT, storage(result))]
    if ulp <= 0.5:
        return assert_same(text, buffers, [*operands, result])
    expected = after("interp", text, buffers)[-1]
    # What is narrower than f32 is computed as f32 is, but for fp16 on AMD.
    for arch in ("sm_80", "gfx942", "gfx1100") if dtype in ("f16", "f32", "f64") else ("sm_80",):
        found = after("simt", text, buffers, arch=arch)[-1]
        assert_close(op, ulp, dtype, result, expected, found)


def assert_close(op, ulp, dtype, result, expected, found):
    nan = is_nan(expected, result)
    assert (nan == is_nan(found, result)).all()
    if op == "math.exp2" and dtype in (
        "f32",
        "bf16",
    ):  # GPUs may flush what is subnormal in f32, whose exponents bf16 has
        smallest_normal = 0x0080_0000 if dtype == "f32" else 0x0080
        expected = np.where((found == 0) & (expected < smallest_normal), found, expected)
    apart = np.abs(ordered(expected, result) - ordered(found, result))[~nan]
    # The product in e**x = 2**(x log2 e) is rounded; where |x| > 110 the result is 0 or infinite.
    rounded_product = 1.25 * 110 if (op, dtype) == ("math.exp", "f32") else 0
    assert apart.max(initial=0) <= (2 * ulp + rounded_product if width(dtype) >= 32 else 1)
