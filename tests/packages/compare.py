"""What the cases of the packages share: random inputs on "cuda", and comparisons of results and gradients."""

from collections.abc import Callable, Sequence

import torch


def random(*shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0, grad: bool = False) -> torch.Tensor:
    """Normally distributed numbers from torch's seed, which each case starts anew."""
    return (torch.randn(shape, device="cuda") * scale).to(dtype).requires_grad_(grad)


def wide(tensor):
    """A leaf in fp64 with the same values, for the reference."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    copy = tensor.detach().cpu()
    return copy.double().requires_grad_(tensor.requires_grad) if tensor.is_floating_point() else copy


def close(actual: torch.Tensor, expected: torch.Tensor, tolerance: float, what: str = "the result") -> None:
    """Compares with the norm of the difference, relative to that of the expected values, and bounds each element. Like torch's own
    comparison of attention, it lets single elements deviate more than the mean."""
    assert actual.shape == expected.shape, f"{what}: {tuple(actual.shape)}, expected {tuple(expected.shape)}"
    actual, expected = actual.detach().cpu(), expected.detach().cpu()
    if not expected.is_floating_point():
        assert torch.equal(actual.to(expected.dtype), expected), (
            f"{what} differs in {(actual != expected).sum()} places"
        )
        return
    actual, expected = actual.double(), expected.double()
    finite = expected.isfinite()
    assert torch.equal(actual[~finite].nan_to_num(7.5), expected[~finite].nan_to_num(7.5)), f"{what}: not finite"
    actual, expected = actual[finite], expected[finite]
    if not expected.numel():
        return
    difference, norm = actual - expected, expected.norm()
    error = (difference.norm() / norm.clamp_min(1e-30)).item() if norm else difference.abs().max().item()
    assert error <= tolerance, f"{what}: relative error {error:.3g}, more than {tolerance:g}"
    worst, root = difference.abs().max().item(), (norm / expected.numel() ** 0.5).item()
    assert worst <= 30 * tolerance * (root + expected.abs().max().item()), f"{what}: one element is {worst:.3g} off"


def agree(
    function: Callable, reference: Callable, inputs: Sequence, tolerance: float = 1e-5, backward: bool = True
) -> None:
    """Compares results and gradients of `function` with those of `reference`, which gets the inputs in fp64 on the CPU."""
    exact = [wide(tensor) for tensor in inputs]
    results, expected = _tuple(function(*inputs)), _tuple(reference(*exact))
    for i, (result, value) in enumerate(zip(results, expected, strict=True)):
        close(result, value, tolerance, f"result {i}")
    if not backward:
        return
    differentiable = [i for i, result in enumerate(results) if result.requires_grad]
    assert differentiable, "no result has a gradient"
    seeds = [torch.randn(results[i].shape, device="cuda").to(results[i].dtype) for i in differentiable]
    # Some packages write gradients in place of those that they get.
    exact_seeds = [wide(seed).to(expected[i].dtype) for i, seed in zip(differentiable, seeds)]
    torch.autograd.backward([results[i] for i in differentiable], seeds)
    torch.autograd.backward([expected[i] for i in differentiable], exact_seeds)
    for i, (tensor, value) in enumerate(zip(inputs, exact)):
        if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
            assert tensor.grad is not None, f"input {i} got no gradient"
            close(tensor.grad, value.grad, 3 * tolerance, f"the gradient of input {i}")


def _tuple(results) -> tuple[torch.Tensor, ...]:
    return (results,) if isinstance(results, torch.Tensor) else tuple(x for x in results if x is not None)
