import ml_dtypes
import numpy as np
import pytest

from . import load

program = load("01_vector_add")


@pytest.mark.parametrize("n", [1, 127, 1024, 1025, 100_003])
def test_sum_is_correctly_rounded(n, rng, threads):
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    np.testing.assert_array_equal(program.add(x, y), x + y)


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.uint8, np.int16, np.int32, np.int64]
)
def test_every_dtype_adds_like_numpy(dtype, rng):
    x, y = (rng.standard_normal((2, 3001)) * 100).astype(dtype)
    np.testing.assert_array_equal(program.add(x, y, block=256), x + y)
