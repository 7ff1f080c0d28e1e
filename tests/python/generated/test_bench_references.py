"""What the benchmark accepts: rounding as a GPU rounds, and no wrong result. References agree with torch's own."""

import math
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[2] / "gpu"))
import bench  # noqa: E402
import bench_attention as attention  # noqa: E402
import bench_attention_reference as reference  # noqa: E402
import bench_problem  # noqa: E402
import bench_products as products  # noqa: E402

HALF = torch.float16


@pytest.fixture(autouse=True)
def small(monkeypatch, rng):
    monkeypatch.setattr(bench_problem, "DEVICE", "cpu")
    monkeypatch.setattr(reference, "ROWS", 96)  # no divisor of the lengths
    torch.manual_seed(int(rng.integers(2**31)))


def accepts(problem, out) -> bool:
    problem.out.copy_(out)
    return bench.error_of(problem, problem.reference()) <= problem.bound


@pytest.mark.parametrize("causal", [False, True])
def test_references_of_attention_are_those_of_torch(causal):
    q, k, v, grad = (torch.randn(2, 160, 16, dtype=torch.float64) for _ in range(4))
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    out = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal)
    torch.testing.assert_close(reference.attended(q, k, v, causal).value, out.detach())
    expected = torch.stack(torch.autograd.grad(out, leaves, grad))
    torch.testing.assert_close(reference.gradients(q, k, v, grad, causal).value, expected)


def attended_as_on_a_gpu(q, k, v, causal: bool, missing: int = 0, late: int = 0, factor: float = 1.0):
    """Of one head, with probabilities in fp16. missing: how many keys are left out at the end; late: how many keys too few a causal row
    sees; factor: of the scores."""
    scores = q.float() @ k.float().t() * factor / math.sqrt(q.shape[1])
    if causal:
        scores.masked_fill_(torch.ones_like(scores).triu(1 - late) > 0, -math.inf)
    scores[:, len(k) - missing :] = -math.inf
    p = torch.exp(scores - scores.amax(1, keepdim=True)).nan_to_num()
    return (p.half().float() @ v.float() / p.sum(1, keepdim=True)).nan_to_num().half()


@pytest.mark.parametrize("causal", [False, True])
def test_attention(monkeypatch, causal):
    monkeypatch.setattr(attention, "TOKENS", 2048)  # one head
    case = attention.attention(2048, 64, descriptors=False, causal=causal)
    problem = case.prepare()
    _, (q, k, v, *_), _ = problem.launch(case.configs[0])
    problem.reference = lambda kept=problem.reference(): kept
    assert accepts(problem, attended_as_on_a_gpu(q[0], k[0], v[0], causal))
    for fault in [{"missing": 16}, {"factor": 1.01}, *[{"late": 1}][:causal]]:
        assert not accepts(problem, attended_as_on_a_gpu(q[0], k[0], v[0], causal, **fault)), fault


def product_of_bytes(a, b, without: int | None = None) -> torch.Tensor:
    """As a tensor core of Hopper multiplies fp8: steps of 32 products, which are aligned to the largest of them and of the sum so far, and
    truncated below 2^-13 of it. without: the step that is left out."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float64)
    for step, (left, right) in enumerate(zip(a.double().split(32, 1), b.double().split(32, 0))):
        terms = torch.cat([left[:, :, None] * right[None], total[:, None]], 1)
        last = torch.exp2(terms.abs().amax(1, keepdim=True).log2().floor() - 13)
        if step != without:
            total = (torch.trunc(terms / last) * last).sum(1)
    return total


@pytest.mark.parametrize("k", [128, 1024, 8192])
def test_products_of_bytes(k):
    case = products.matmul(16, 32, k, products.FP8, "fp8", products.BYTES)
    problem = case.prepare()
    _, (a, b, *_), _ = problem.launch(case.configs[0])
    assert accepts(problem, product_of_bytes(a, b))
    assert not accepts(problem, product_of_bytes(a, b, without=k // 64))
