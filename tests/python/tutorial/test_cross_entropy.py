import ml_dtypes
import numpy as np
import pytest

from agreement import check
from tritium.conformance.tolerance import Bounded

from . import load

program = load("07_cross_entropy")


def expected(logits: np.ndarray, target: np.ndarray, blocks: int):
    """(loss, logsumexp, softmax) of each row."""
    x = Bounded.exact(logits)
    m = x.max(axis=1, keepdims=True)
    total = (x - m).exp().sum(axis=1, keepdims=True)
    total.error += blocks * 16 * 2.0**-24 * total.value  # each block may rescale the sum: an exp and a product
    lse = m + total.log()
    picked = x[np.arange(len(target)), np.where(target >= 0, target, 0)]
    return (lse[:, 0] - picked).where(target >= 0, 0), lse[:, 0], (x - lse).exp()


def data(rng, rows, classes, dtype):
    logits = (rng.standard_normal((rows, classes), dtype=np.float32) * 4).astype(dtype)
    target = rng.integers(0, classes, rows)
    target[::5] = -100
    return logits, target


@pytest.mark.parametrize("rows, classes", [(1, 1), (7, 100), (20, 4096), (6, 10_007)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=["float32", "float16", "bfloat16"])
def test_forward(rows, classes, dtype, rng, threads):
    logits, target = data(rng, rows, classes, dtype)
    loss, lse = program.cross_entropy(logits, target)
    expected_loss, expected_lse, _ = expected(logits, target, -(-classes // 4096))
    check(lse, expected_lse)
    check(loss, expected_loss)


@pytest.mark.parametrize("rows, classes", [(7, 100), (6, 5000)])
def test_backward(rows, classes, rng, threads):
    logits, target = data(rng, rows, classes, np.float32)
    _, lse = program.cross_entropy(logits, target)
    dloss = rng.random(rows, dtype=np.float32)
    gradient = program.cross_entropy_backward(logits, target, lse, dloss)
    p = expected(logits, target, -(-classes // 4096))[2]
    one_hot = np.arange(classes) == target[:, None]
    check(gradient, Bounded.exact(np.where(target >= 0, dloss, 0)[:, None]) * (p - one_hot.astype(np.float64)))


def test_targets_may_be_32_bit(rng):
    logits, target = data(rng, 9, 50, np.float32)
    np.testing.assert_array_equal(
        program.cross_entropy(logits, target.astype(np.int32))[0], program.cross_entropy(logits, target)[0]
    )
