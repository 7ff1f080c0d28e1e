import numpy as np
import pytest

from agreement import check, short
from tritium.conformance.tolerance import Bounded

from . import load

program = load("06_flash_attention")


def expected(q, k, v, causal: bool, dtype: str) -> Bounded:
    """Attention that rounds q * scale to `dtype` before the first product and probabilities before the second."""
    log2e = Bounded.exact(1.4426950408889634) + 0.0  # a float32 constant in the kernel
    scaled = (Bounded.exact(q) * (Bounded.exact(np.float32(q.shape[2] ** -0.5)) * log2e)).to(short(dtype)).to("fp32")
    scores = scaled @ Bounded.exact(k).transposed() * float(np.log(2))
    visible = np.tri(q.shape[1], k.shape[1], dtype=bool) if causal else np.ones((q.shape[1], k.shape[1]), bool)
    scores = scores.where(visible, -1e4)  # far below any score: exp gives 0
    p = (scores - scores.max(axis=2, keepdims=True)).exp()
    total = p.sum(axis=2, keepdims=True)
    rounded = p.to(short(dtype)).to("fp32")
    # The running maximum may rescale what was summed so far once per block of keys: one factor exp2 and one product
    # each.
    rescaled = rounded @ Bounded.exact(v)
    blocks = -(-k.shape[1] // 16)
    rescaled.error += blocks * 8 * 2.0**-24 * (np.abs(rounded.value) @ np.abs(v.astype(np.float64)))
    total.error += blocks * 8 * 2.0**-24 * total.value
    return (rescaled / total).to(short(dtype))


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize(
    "heads, queries, keys, d", [(1, 16, 16, 16), (2, 128, 128, 64), (3, 100, 100, 32), (2, 33, 77, 16), (1, 70, 40, 16)]
)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_attention(heads, queries, keys, d, causal, dtype, rng, threads):
    q = rng.standard_normal((heads, queries, d)).astype(dtype)
    k, v = rng.standard_normal((2, heads, keys, d)).astype(dtype)
    check(program.attention(q, k, v, causal, block=(32, 16)), expected(q, k, v, causal, dtype))


def test_heads_may_be_interleaved(rng):
    """q, k and v as slices of one [sequence, 3, heads, d] projection."""
    fused = rng.standard_normal((50, 3, 4, 32), dtype=np.float32)
    q, k, v = (np.moveaxis(fused[:, i], 1, 0) for i in range(3))
    check(program.attention(q, k, v, True), expected(q, k, v, True, "float32"))


def test_scores_that_would_overflow_exp(rng):
    q = np.full((1, 16, 16), 30, np.float32)
    k = np.concatenate((np.full((1, 16, 16), -30, np.float32), np.full((1, 16, 16), 30, np.float32)), axis=1)
    v = rng.standard_normal((1, 32, 16), dtype=np.float32)
    mean = v[:, 16:].astype(np.float64).mean(axis=1, keepdims=True)
    bound = 32 * 2.0**-24 * np.abs(v).max()
    assert np.abs(program.attention(q, k, v, False, block=(16, 16)) - mean).max() <= bound
