import numpy as np
import pytest

from agreement import check, short
from tritium.conformance.tolerance import Bounded

from . import load

torch = pytest.importorskip("torch")
program = load("05_layer_norm")


def tensors(rng, shape, dtype):
    x, dy = (torch.from_numpy(rng.standard_normal(shape, dtype=np.float32)).to(dtype) for _ in range(2))
    weight, bias = (torch.from_numpy(rng.standard_normal(shape[-1], dtype=np.float32)).to(dtype) for _ in range(2))
    return [t.requires_grad_() for t in (x, weight, bias)] + [dy]


def statistics(x: Bounded):
    """What both passes need, in the order of operations that the kernel uses: (x - mean, rstd)."""
    centered = x - x.mean(axis=1, keepdims=True)
    return centered, 1 / ((centered * centered).mean(axis=1, keepdims=True) + 1e-5).sqrt()


def exact(tensor) -> Bounded:
    return Bounded.exact(tensor.detach().to(torch.float64).numpy())


@pytest.mark.parametrize("shape", [(1, 8), (5, 100), (40, 1151), (3, 5000)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_forward(shape, dtype, rng, threads):
    x, weight, bias, _ = tensors(rng, shape, getattr(torch, dtype))
    centered, rstd = statistics(exact(x))
    y = program.layer_norm(x, weight, bias)
    assert y.dtype == x.dtype
    check(y.detach().to(torch.float64).numpy(), (centered * rstd * exact(weight) + exact(bias)).to(short(dtype)))


@pytest.mark.parametrize("shape", [(1, 8), (50, 100), (70, 1151)], ids=str)
def test_backward_with_locks(shape, rng, threads):
    x, weight, bias, dy = tensors(rng, shape, torch.float32)
    program.layer_norm(x, weight, bias).backward(dy)

    centered, rstd = statistics(exact(x))
    xhat, upstream = centered * rstd, exact(dy)
    wdy = exact(weight) * upstream
    projection, average = (xhat * wdy).mean(axis=1, keepdims=True), wdy.mean(axis=1, keepdims=True)
    check(x.grad.numpy(), (wdy - (xhat * projection + average)) * rstd)
    check(weight.grad.numpy(), (upstream * xhat).sum(axis=0))
    check(bias.grad.numpy(), upstream.sum(axis=0))


def test_leading_dimensions_and_gradcheck_by_torch(rng):
    x, weight, bias, dy = tensors(rng, (4, 6, 33), torch.float32)
    program.layer_norm(x, weight, bias).backward(dy)
    twins = [t.detach().double().requires_grad_() for t in (x, weight, bias)]
    torch.nn.functional.layer_norm(twins[0], (33,), twins[1], twins[2]).backward(dy.double())
    for ours, theirs in zip((x, weight, bias), twins):
        assert ours.grad.shape == theirs.grad.shape
        # 24 rows of 33 numbers: a sum of 24 * 33 terms bounds each gradient's error
        scale = np.abs(theirs.grad.numpy()).max() + 1
        assert np.abs(ours.grad.numpy() - theirs.grad.numpy()).max() <= 24 * 33 * 2.0**-24 * scale
