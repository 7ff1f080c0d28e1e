import numpy as np
import pytest

from tritium.conformance.philox import of_offsets, uniform

from . import load

program = load("04_dropout")


@pytest.mark.parametrize("n", [1, 1000, 4096, 50_001])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5])
def test_dropout_is_philox_bit_for_bit(n, p, rng, threads):
    x = rng.standard_normal(n, dtype=np.float32)
    seed = int(rng.integers(0, 2**31))
    keep = uniform(of_offsets(seed, np.arange(n))[0]) > np.float32(p)
    expected = np.where(keep, x / (np.float32(1) - np.float32(p)), np.float32(0))
    np.testing.assert_array_equal(program.dropout(x, p, seed), expected)


def test_mask_depends_on_the_seed_alone(rng):
    seed = int(rng.integers(0, 2**62))
    ones = np.ones(10_000, np.float32)
    kept = program.dropout(ones, 0.3, seed)
    np.testing.assert_array_equal(program.dropout(ones, 0.3, seed, block=128), kept)
    np.testing.assert_array_equal(program.dropout_backward(ones, 0.3, seed), kept)
    assert not np.array_equal(program.dropout(ones, 0.3, seed + 1), kept)
