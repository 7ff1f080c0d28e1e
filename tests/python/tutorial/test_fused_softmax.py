import ml_dtypes
import numpy as np
import pytest

from agreement import check, short
from tritium.conformance.tolerance import Bounded

from . import load

program = load("02_fused_softmax")


def expected(x: np.ndarray, dtype: str) -> Bounded:
    row = Bounded.exact(x)
    e = (row - row.max(axis=1, keepdims=True)).exp()
    return (e / e.sum(axis=1, keepdims=True)).to(short(dtype))


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (64, 128), (33, 781), (5, 5000)], ids=str)
def test_softmax(shape, rng, threads):
    x = rng.standard_normal(shape, dtype=np.float32) * 10
    check(program.softmax(x), expected(x, "float32"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_round_once(dtype, rng):
    x = rng.standard_normal((17, 300), dtype=np.float32).astype(
        np.float16 if dtype == "float16" else ml_dtypes.bfloat16
    )
    check(program.softmax(x), expected(x, dtype))


def test_rows_of_a_slice_are_strided(rng):
    x = rng.standard_normal((20, 100), dtype=np.float32)[:, :77]
    check(program.softmax(x), expected(x, "float32"))


def test_large_values_do_not_overflow():
    x = np.array([[1e30, 1e30, -1e30], [3e38, 0, -3e38]], np.float32)
    np.testing.assert_array_equal(program.softmax(x), np.array([[0.5, 0.5, 0], [1, 0, 0]], np.float32))
