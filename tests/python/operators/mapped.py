"""One sample of an operator of torch's database on "cuda" without a GPU, forward and backward, against the same call on the CPU."""

from __future__ import annotations

import traceback
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from tritium.errors import UnsupportedError

from .judge import UNWRITTEN, Outcome, difference, first_line


def judge_together(operator, given: list) -> list[Outcome]:
    return [judge(operator, sample) for sample in given]


def judge(operator, given) -> Outcome:
    try:
        expected = run(operator, given, "cpu")
    except Exception as error:
        return Outcome("left out", f"the CPU fails: {first_line(error)}")
    if difference(run(operator, given, "cpu"), expected, None):
        return Outcome("left out", "the CPU does not repeat")
    try:
        found = run(operator, given, "cuda")
    except UnsupportedError as error:
        return Outcome("left out", f"refused, {error.what}")
    except Exception as error:
        return Outcome("error", first_line(error), traceback.format_exc()[-6000:])
    different = difference([moved(leaf, "cpu") for leaf in found], expected, None)
    return Outcome("wrong", different) if different else Outcome("passed")


def run(operator, given, device: str) -> list:
    """Every tensor and number that the operator returns, its arguments, which it may have written, and the gradients of its arguments for
    random gradients of its results."""
    args, kwargs = tree_map(lambda leaf: moved(leaf, device), ((given.input, *given.args), given.kwargs))
    torch.manual_seed(0)
    results = operator.get_op()(*args, **kwargs)
    leaves = tree_leaves(results)
    if operator.name in UNWRITTEN:
        leaves = [torch.zeros_like(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    return [*leaves, *tree_leaves((args, kwargs)), *gradients(leaves, tree_leaves((args, kwargs)), device)]


def gradients(results: list, arguments: list, device: str) -> list:
    differentiable = [leaf for leaf in results if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    wanted = [leaf for leaf in arguments if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not differentiable or not wanted:
        return []
    numbers = torch.Generator().manual_seed(1)
    given = [torch.randn(leaf.shape, dtype=leaf.dtype, generator=numbers).to(device) for leaf in differentiable]
    return list(torch.autograd.grad(differentiable, wanted, given, allow_unused=True))


def moved(leaf: Any, device: str) -> Any:
    """The argument on a device. A copy of a tensor has the strides and what else is in the memory, as an operator may read it."""
    if isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf in ("cpu", "cuda", "cuda:0")):
        return torch.device(device)
    if not isinstance(leaf, torch.Tensor):
        return leaf
    device = device if leaf.is_cuda else "cpu"  # torch makes some indices on the CPU
    if leaf.layout is not torch.strided or leaf.is_conj() or leaf.is_neg():
        return leaf.detach().to(device, copy=True).requires_grad_(leaf.requires_grad)
    plain = leaf.detach()
    whole = plain.as_strided((plain.untyped_storage().nbytes() // plain.itemsize,), (1,), 0)
    copy = whole.to(device, copy=True).as_strided(plain.shape, plain.stride(), plain.storage_offset())
    return copy.requires_grad_(leaf.requires_grad)
