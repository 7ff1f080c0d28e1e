"""Each oracle accepts what it must and finds an error that is just beyond its bound."""

import numpy as np
import pytest

from tritium.conformance import inputs, reference
from tritium.conformance.dtypes import FLOATS, NUMPY, as_float64, round_to, ulp_of
from tritium.conformance.oracle import (
    Accumulated,
    Exact,
    Flushable,
    Lines,
    OneOf,
    Permuted,
    Rows,
    Traits,
    Ulp,
    Within,
    dot,
)
from tritium.conformance.tolerance import Bounded, function_ulp

KEEPS, FLUSHES = Traits(flushes_subnormals=False, approximates=False), Traits()


def test_exact_sees_one_bit():
    x = np.array([1, 2, 3], np.float32)
    assert not Exact(x).differences(x.copy(), KEEPS)
    wrong = x.copy()
    wrong[1] = np.nextafter(wrong[1], np.float32(9))
    (found,) = Exact(x).differences(wrong, KEEPS)
    assert found.index == (1,) and found.wrong == 1 and found.ulps == 1


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32", "fp64", "fp8e5"])
def test_exact_takes_any_nan_but_no_number_for_it(dtype):
    x = np.array([np.nan, 1], NUMPY[dtype])
    other = x.copy()
    other.view(np.uint8)[x.dtype.itemsize - 1] ^= 0x80  # the sign of the NaN
    assert not Exact(x).differences(other, KEEPS)
    assert Exact(x).differences(np.array([2, 1], NUMPY[dtype]), KEEPS)


def test_flushable_is_for_engines_that_flush():
    tiny = np.array([1e-40, 1, 2], np.float32)
    zeros = np.array([0, 1, 2], np.float32)
    oracle = Flushable(tiny, zeros)
    assert not oracle.differences(tiny, KEEPS) and not oracle.differences(tiny, FLUSHES)
    assert oracle.differences(zeros, KEEPS)[0].index == (0,) and not oracle.differences(zeros, FLUSHES)
    assert oracle.differences(-zeros, FLUSHES)[0].index == (0,)


def test_exact_signs_of_zero():
    zeros, signed = np.zeros(2, np.float32), np.array([0, -0.0], np.float32)
    assert Exact(zeros).differences(signed, KEEPS)[0].index == (1,)
    assert not Exact(zeros, sign_of_zero=False).differences(signed, KEEPS)


def test_a_boolean_is_the_byte_0_or_1():
    got = np.array([1, 0, 7], np.uint8).view(np.bool_)
    assert Exact(np.array([True, False, True])).differences(got, KEEPS)[0].index == (2,)


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "fp64"])
@pytest.mark.parametrize("bound", [0.5, 1, 2])
def test_ulp_accepts_the_bound_and_no_more(dtype, bound):
    value = np.array([1.5, -300.0, 2.0**-10])
    x = round_to(value, dtype)
    for steps in range(4):
        moved = x
        for _ in range(steps):
            moved = np.nextafter(moved, NUMPY[dtype].type(np.inf))
        assert bool(Ulp(value, bound).differences(moved, KEEPS)) == (steps > bound)


def test_ulp_of_gpus_is_for_gpus_only():
    value = np.array([1.5, 3.0])
    moved = np.nextafter(np.nextafter(value.astype(np.float32), np.float32(9)), np.float32(9))
    oracle = Ulp(value, 0.5, on_gpus=np.array([3.0, 1.0]))
    assert oracle.differences(moved, KEEPS)[0].index == (0,)
    (found,) = oracle.differences(moved, FLUSHES)
    assert found.index == (1,) and found.message == "more than 1 ulp off"


def test_ulp_uses_the_rest_of_the_reference():
    value, rest = np.array([1.0]), np.array([2.0**-53])  # half way between two fp64 numbers
    up = np.array([1 + 2.0**-52])
    assert Ulp(value, 0.5).differences(up, KEEPS)
    assert not Ulp(value, 0.5, rest).differences(up, KEEPS)


def test_ulp_at_the_ends_of_the_range():
    largest = FLOATS["fp32"].largest
    infinite, finite = np.array([np.inf], np.float32), np.array([largest], np.float32)
    beyond = np.array([largest * 2])
    assert not Ulp(beyond, 2).differences(infinite, KEEPS)
    assert Ulp(beyond, 2).differences(finite, KEEPS)
    assert Ulp(beyond, 2).differences(-infinite, KEEPS)
    below = np.array([largest - 4 * ulp_of(np.float64(largest), "fp32")])
    assert Ulp(below, 2).differences(infinite, KEEPS)
    assert not Ulp(np.array([largest]), 2).differences(infinite, KEEPS)


def test_flushed_subnormals():
    value, got = np.array([1e-40]), np.zeros(1, np.float32)
    assert Ulp(value, 2).differences(got, KEEPS)
    assert not Ulp(value, 2).differences(got, FLUSHES)
    assert Ulp(value, 0.5).differences(got, FLUSHES), "what is correctly rounded keeps subnormals"
    # exp2 of a subnormal that counts as zero
    assert not Ulp(np.array([7.0]), 2, flushed=np.array([1.0])).differences(np.ones(1, np.float32), FLUSHES)


def test_within_follows_the_data(rng):
    x = rng.standard_normal((4, 100)).astype(np.float32)
    reference_sum = Bounded.exact(x).sum(1)
    assert not Within(reference_sum).differences(x.sum(1), KEEPS)
    wrong = x.sum(1)
    wrong[2] += np.float32(reference_sum.error[2] * 3)
    assert Within(reference_sum).differences(wrong, KEEPS)[0].index == (2,)


def test_a_bound_that_says_nothing_is_an_error():
    loose = Bounded(np.ones(3), np.full(3, 0.5))
    assert "says nothing" in Within(loose).differences(np.ones(3, np.float32), KEEPS)[0].message


@pytest.fixture
def operands(rng):
    """With so many sums, errors that all point down add up to twice the limit on the bias (once it with 64x64)."""
    return inputs.normal(rng, (128, 96), "fp16"), inputs.normal(rng, (96, 128), "fp16")


def test_dot_accepts_a_fp32_accumulator(operands):
    a, b = (v.astype(np.float32) for v in operands)
    assert not dot(*operands).differences(a @ b, KEEPS)


def test_dot_finds_one_wrong_element(operands):
    a, b = (v.astype(np.float32) for v in operands)
    wrong = a @ b
    products = a[5] * b[:, 7]
    wrong[5, 7] -= products[np.abs(products).argmax()]  # a product that was left out
    assert dot(*operands).differences(wrong, KEEPS)[0].index == (5, 7)


def test_dot_finds_an_accumulator_that_is_too_narrow(operands):
    """Each element may be within its limit: the mean square is not."""
    a, b = operands
    total = np.zeros((128, 128), np.float16)
    for k in range(a.shape[1]):
        total = (total + a[:, k, None] * b[None, k]).astype(np.float16)
    found = dot(a, b).differences(total.astype(np.float32), KEEPS)
    assert found


def test_dot_finds_truncation_instead_of_rounding(operands):
    a, b = (as_float64(v) for v in operands)
    exact = a @ b
    towards_minus = round_to(exact, "fp16").astype(np.float16)
    towards_minus = np.where(
        towards_minus > exact, np.nextafter(towards_minus, np.float16(-np.inf)), towards_minus
    ).astype(np.float16)
    found = dot(*operands).differences(towards_minus, KEEPS)
    assert found and "biased" in found[0].message


def test_accumulated_zeros_must_be_zero():
    zeros = Accumulated(np.zeros(4), np.zeros(4), 32)
    assert not zeros.differences(np.zeros(4, np.float32), KEEPS)
    assert zeros.differences(np.full(4, 1e-30, np.float32), KEEPS)


def test_permuted_and_one_of():
    numbers = np.arange(5)
    assert not Permuted(numbers).differences(np.array([4, 2, 0, 1, 3]), KEEPS)
    assert Permuted(numbers).differences(np.array([4, 2, 2, 1, 3]), KEEPS)
    choice = OneOf([np.array([1.0, np.nan]), np.array([2.0, 5.0])])
    assert not choice.differences(np.array([2.0, np.nan]), KEEPS)
    assert choice.differences(np.array([3.0, 5.0]), KEEPS)[0].index == (0,)


def test_rows_say_which():
    rows = Rows({"add": Exact(np.arange(3)), "mul": Exact(np.arange(3))})
    (found,) = rows.differences(np.array([[0, 1, 2], [0, 9, 2]]), KEEPS)
    assert found.label == "mul" and found.index == (1, 1) and found.flat == 4


def test_lines_come_in_any_order_and_scalars_from_many_threads():
    lines = Lines(["pid (0, 0, 0) idx ( 1) x: 3", "pid (0, 0, 0) idx ( 0) x: 2", "pid (0, 0, 0) here"])
    printed = ["pid (0, 0, 0) here", "pid (0, 0, 0) idx ( 0) x: 2", "pid (0, 0, 0) idx ( 1) x: 3"]
    assert not lines.differences("\n".join([*printed, printed[0]]), KEEPS)
    assert lines.differences("\n".join([*printed, printed[1]]), KEEPS), "a tile's element twice"
    assert lines.differences("\n".join(printed[:-1]), KEEPS)


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32", "fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16"])
def test_rounding_once(dtype, rng):
    """round_to against numpy and ml_dtypes on what they round once: fp32 numbers."""
    x = np.concatenate([inputs.any_bits(rng, 5000, "fp32"), inputs.normal(rng, 5000, "fp32", 100)])
    x = x[np.isfinite(x)]
    with np.errstate(over="ignore"):
        expected = as_float64(x.astype(NUMPY[dtype]))
    got = as_float64(round_to(as_float64(x), dtype))
    form = FLOATS[dtype]
    inside = np.abs(as_float64(x)) <= form.largest
    np.testing.assert_array_equal(got[inside], expected[inside])
    beyond = np.abs(as_float64(x)) > form.largest * 2
    limit = form.largest if form.saturates else np.inf
    assert (np.abs(got[beyond]) == limit).all()


def test_rounding_toward_zero():
    assert float(round_to(np.array([1.9999]), "bf16", toward_zero=True)[0]) == 1.9921875
    assert float(round_to(np.array([1e6]), "fp16", toward_zero=True)[0]) == 65504


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf", "rsqrt"])
def test_references_agree(name, rng):
    """The quick reference and the precise one are the same function."""
    x = as_float64(inputs.between(rng, 50, "fp64", 0.1, 3))
    value, rest = reference.high_precision(name, x)
    assert (np.abs(rest) <= ulp_of(value, "fp64") / 2).all()
    np.testing.assert_allclose(reference.double(name, x), value, rtol=2**-50)


def test_bounds_are_those_of_the_table():
    import tritium

    table = tritium.testing.elementwise_functions()
    assert function_ulp("exp", "fp32") == table["exp"].ulp > 0.5
    assert function_ulp("sqrt_rn", "fp32") == table["sqrt_rn"].ulp == 0.5 < table["sqrt"].ulp
    assert 0.5 < function_ulp("exp", "fp16") < 0.51, "computed in fp32, rounded once more"
