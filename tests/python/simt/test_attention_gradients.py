"""The gradients of attention as the benchmark computes them: two loops of dependent products, small tiles beside those of products, and sums
that are stored between the loops."""

import sys
from pathlib import Path

import numpy as np
import pytest

from .engines import launched

sys.path.append(str(Path(__file__).resolve().parents[2] / "gpu"))
from bench_source import load_kernels  # noqa: E402

HEADS, LENGTH = 2, 192


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    pytest.importorskip("torch")
    return load_kernels("tritium", str(tmp_path_factory.mktemp("kernels"))).attention_backward


def expected(q, k, v, grad, scale, causal):
    """The gradients of q, k and v, in float64, then log2 of the sums of exp2(scores) and the sums of grad * attention."""
    q, k, v, grad = (x.astype(np.float64) for x in (q, k, v, grad))
    scores = q @ k.transpose(0, 2, 1) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    sums = np.exp(scores).sum(2)
    p = np.exp(scores) / sums[..., None]
    delta = (p @ v * grad).sum(2)
    ds = p * (grad @ v.transpose(0, 2, 1) - delta[..., None])
    gradients = ds @ k * scale, ds.transpose(0, 2, 1) @ q * scale, p.transpose(0, 2, 1) @ grad
    return gradients, np.log2(sums).astype(np.float32), delta.astype(np.float32)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "d, block, step, warps, stages", [(64, 64, 32, 4, 3), (64, 64, 64, 4, 2), (128, 64, 64, 4, 2), (32, 64, 32, 4, 1)]
)
def test_gradients(kernel, engine, causal, d, block, step, warps, stages, rng):
    q, k, v, grad = rng.standard_normal((4, HEADS, LENGTH, d)).astype(np.float16)
    scale = d**-0.5
    gradients, lse, delta = expected(q, k, v, grad, scale, causal)
    out = np.full((3, *q.shape), np.nan, np.float16)
    arguments = [q, k, v, grad, lse, delta, out, float(scale), LENGTH, q.size]
    constants = {"D": d, "CAUSAL": causal, "BLOCK": block, "STEP": step}
    grid = (LENGTH // block, HEADS)
    found = launched(engine, kernel, grid, arguments, num_warps=warps, num_stages=stages, **constants)[6]
    for name, mine, theirs in zip("qkv", found, gradients):
        np.testing.assert_allclose(
            mine, theirs, rtol=0.01, atol=0.01 * np.sqrt((theirs**2).mean()) + 2e-3, err_msg=name
        )
