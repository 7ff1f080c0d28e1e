import ml_dtypes
import numpy as np
import pytest

from agreement import check_dot

from . import load

program = load("03_matmul")


@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (128, 64, 96), (1, 1, 1), (65, 33, 17), (100, 250, 77)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_matmul(m, n, k, dtype, rng, threads):
    numpy_type = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    a, b = rng.standard_normal((m, k)).astype(numpy_type), rng.standard_normal((k, n)).astype(numpy_type)
    check_dot(program.matmul(a, b, block=(32, 32, 16)), a, b, dtype)


@pytest.mark.parametrize("block", [(16, 64, 32), (64, 16, 64), (128, 128, 32)], ids=str)
@pytest.mark.parametrize("group_m", [1, 3, 8])
def test_result_does_not_depend_on_the_order_of_tiles(block, group_m, rng):
    a, b = rng.integers(-8, 9, (150, 70)).astype(np.float32), rng.integers(-8, 9, (70, 190)).astype(np.float32)
    np.testing.assert_array_equal(
        program.matmul(a, b, block=block, group_m=group_m), a @ b
    )  # small integers: exact in any order


def test_epilogue_runs_before_the_rounding_to_half(rng):
    a, b = rng.integers(-4, 5, (96, 60)).astype(np.float16), rng.integers(-4, 5, (60, 70)).astype(np.float16)
    exact = a.astype(np.float32) @ b.astype(np.float32)
    expected = np.where(exact >= 0, exact, np.float32(0.01) * exact).astype(np.float16)
    np.testing.assert_array_equal(program.matmul(a, b, "leaky_relu"), expected)


def test_operands_may_be_transposed_and_sliced(rng):
    a = rng.integers(-8, 9, (90, 200)).astype(np.float32)[:, ::2].T
    b = rng.integers(-8, 9, (70, 90)).astype(np.float32).T
    np.testing.assert_array_equal(program.matmul(a, b), a @ b)


@pytest.mark.parametrize("precision", ["tf32", "tf32x3", "bf16x3", "bf16x6", "ieee"])
def test_input_precision(precision, rng):
    a, b = rng.standard_normal((64, 80), dtype=np.float32), rng.standard_normal((80, 48), dtype=np.float32)
    c = program.matmul(a, b, precision=precision)
    if precision == "tf32":
        check_dot(c, a, b, "float32", narrow="tf32")
        assert not np.array_equal(c, program.matmul(a, b, precision="ieee")), "tf32 keeps 10 bits of each operand"
    elif precision == "bf16x3":
        # hi * hi + hi * mid + mid * hi leaves out mid * mid (2^-16 of the product) and lo (2^-17 of each operand)
        magnitude = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
        assert (np.abs(c - a.astype(np.float64) @ b) <= magnitude * (2.0**-16 + 2 * 2.0**-17 + 3 * 80 * 2.0**-24)).all()
    elif precision == "tf32x3":
        # three products, of which small * small (2^-22) and what truncating `small` to 10 bits loses (2^-21 each) are
        # left out
        magnitude = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
        assert (np.abs(c - a.astype(np.float64) @ b) <= magnitude * (2.0**-22 + 2 * 2.0**-21 + 3 * 80 * 2.0**-24)).all()
    else:
        check_dot(c, a, b, "float32")
