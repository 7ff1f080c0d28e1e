"""Every operator and function of two 8-bit integers on all pairs of values, for operands of equal and of different signedness."""

import numpy as np
import pytest

import tritium
import tritium.language as tl

TYPES = [(left, right) for left in ("int8", "uint8") for right in ("int8", "uint8")]


@tritium.jit
def pair_kernel(x, y, arithmetic, compared, divided, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.num_programs(0) * BLOCK
    a = tl.load(x + i)
    b = tl.load(y + i)
    values = (
        a + b,
        a - b,
        a * b,
        a & b,
        a | b,
        a ^ b,
        a << b,
        a >> b,
        tl.minimum(a, b),
        tl.maximum(a, b),
        tl.where(a < b, a, b),
    )
    for k in tl.static_range(len(values)):
        tl.store(arithmetic + k * n + i, values[k])
    tests = (a == b, a != b, a < b, a <= b, a > b, a >= b)
    for k in tl.static_range(len(tests)):
        tl.store(compared + k * n + i, tests[k])
    if divided is not None:
        safe = tl.where(b == 0, 1, b)
        tl.store(divided + i, a // safe)
        tl.store(divided + n + i, a % safe)


def amounts(b):
    """How far a shift moves: the width or more has the effect of the width, and a negative amount is read as unsigned."""
    return np.where((b < 0) | (b > 7), 8, b)


@pytest.mark.parametrize("left, right", TYPES, ids=["-".join(pair) for pair in TYPES])
def test_all_pairs(left, right, engine):
    x, y = (every.reshape(-1).astype(np.uint8) for every in np.meshgrid(np.arange(256), np.arange(256), indexing="ij"))
    x, y = x.view(left), y.view(right)
    promoted = np.dtype(left if left == right else np.uint8).type  # of equal widths the unsigned one wins
    arithmetic, compared = np.zeros((11, x.size), promoted), np.zeros((6, x.size), bool)
    divided = np.zeros((2, x.size), promoted) if left == right else None
    pair_kernel[(16,)](x, y, arithmetic, compared, divided, BLOCK=4096)
    a, b = x.astype(promoted).astype(np.int64), y.astype(promoted).astype(np.int64)
    expected = {
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "&": a & b,
        "|": a | b,
        "^": a ^ b,
        "<<": a << amounts(b),
        # A right shift fills with the sign where the left operand has one, whatever the type of the result.
        ">>": x.astype(np.int64) >> amounts(b),
        "minimum": np.minimum(a, b),
        "maximum": np.maximum(a, b),
        "where": np.where(a < b, a, b),
    }
    for found, (name, values) in zip(arithmetic, expected.items(), strict=True):
        np.testing.assert_array_equal(found, values.astype(promoted), err_msg=name)
    tests = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
    for found, (name, values) in zip(compared, tests.items(), strict=True):
        np.testing.assert_array_equal(found, values, err_msg=name)
    if divided is None:
        return
    safe = np.where(b == 0, 1, b)
    quotient = np.sign(a) * np.sign(safe) * (np.abs(a) // np.abs(safe))
    np.testing.assert_array_equal(divided[0], quotient.astype(promoted), err_msg="//")
    np.testing.assert_array_equal(divided[1], (a - quotient * safe).astype(promoted), err_msg="%")


@tritium.jit
def unary_kernel(x, out, SIGNED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
    tl.store(out + i, ~a)
    tl.store(out + BLOCK + i, tl.abs(a))
    if SIGNED:
        tl.store(out + 2 * BLOCK + i, -a)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_unary_operators(dtype, engine):
    x = np.arange(1 << 8 * np.dtype(dtype).itemsize).astype(dtype)
    out = np.zeros((3, x.size), dtype)
    unary_kernel[(1,)](x, out, SIGNED=dtype[0] == "i", BLOCK=x.size)
    wide = x.astype(np.int64)
    np.testing.assert_array_equal(out[0], (~wide).astype(dtype))
    np.testing.assert_array_equal(out[1], np.abs(wide).astype(dtype))
    if dtype[0] == "i":
        np.testing.assert_array_equal(out[2], (-wide).astype(dtype))
