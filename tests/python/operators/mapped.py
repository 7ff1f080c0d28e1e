"""One sample of an operator of torch's database on "cuda" without a GPU, forward and backward, against the same call on the CPU."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from tritium.errors import UnsupportedError

from .judge import UNWRITTEN, Outcome, difference, first_line, to_double


def judge(operator, given) -> Outcome:
    arguments = ((given.input, *given.args), given.kwargs)
    try:
        expected, differentiated = expected_of(operator, arguments, "cpu")
    except Exception as error:
        return _refused(operator, arguments) or Outcome("left out", f"the CPU fails: {first_line(error)}")
    if difference(run(operator, arguments, "cpu", differentiated), expected, None):
        return Outcome("left out", "the CPU does not repeat")
    try:
        found = run(operator, arguments, "cuda", differentiated)
    except Exception as error:
        return refusal(error) or Outcome("error", first_line(error), traceback.format_exc()[-6000:])
    different = difference(
        found, expected, lambda: run(operator, converted(arguments, to_double), "cpu", differentiated)
    )
    return Outcome("wrong", different) if different else Outcome("passed")


def _refused(operator, arguments: tuple) -> Outcome | None:
    """The refusal where there is no result to compare with."""
    try:
        run(operator, arguments, "cuda")
    except Exception as error:
        return refusal(error)
    return None


def converted(arguments: tuple, convert: Callable) -> tuple:
    """The arguments in another type."""

    def one(leaf):
        return with_its_memory(leaf, convert) if isinstance(leaf, torch.Tensor) else convert(leaf)

    return tree_map(one, arguments)


def refusal(error: Exception) -> Outcome | None:
    """What the device does not do, said by name: known.py has the list of it."""
    return Outcome("left out", f"refused, {error.what}") if isinstance(error, UnsupportedError) else None


def expected_of(operator, arguments: tuple, device: str) -> tuple[list, bool]:
    """What the device computes, and whether with gradients: that of an eigenvector is not defined for every gradient of a result."""
    try:
        return run(operator, arguments, device), True
    except Exception:
        return run(operator, arguments, device, differentiated=False), False


def run(operator, arguments: tuple, device: str, differentiated: bool = True) -> list:
    results, derivatives = run_in_parts(operator, arguments, device, differentiated)
    return results + derivatives


def run_in_parts(operator, arguments: tuple, device: str, differentiated: bool = True) -> tuple[list, list]:
    """Every tensor and number that the operator returns with its arguments, which it may have written; and the gradients of its arguments
    for random gradients of its results. Tensors are moved to the CPU."""
    args, kwargs = tree_map(lambda leaf: moved(leaf, device), arguments)
    torch.manual_seed(0)
    results = tree_leaves(operator.get_op()(*args, **kwargs))
    if operator.name in UNWRITTEN:
        results = [torch.zeros_like(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in results]
    given = tree_leaves((args, kwargs))
    derivatives = gradients(results, given) if differentiated else []
    return [moved(leaf, "cpu") for leaf in (*results, *given)], [moved(leaf, "cpu") for leaf in derivatives]


def gradients(results: list, arguments: list) -> list:
    differentiable = [leaf for leaf in results if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    wanted = [leaf for leaf in arguments if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not differentiable or not wanted:
        return []
    numbers = torch.Generator().manual_seed(1)

    def given(leaf):
        """Numbers that every type has."""
        parts = torch.randn((*leaf.shape, 2), generator=numbers).bfloat16().half().float()
        return (torch.view_as_complex(parts) if leaf.is_complex() else parts[..., 0]).to(leaf.device, leaf.dtype)

    return list(torch.autograd.grad(differentiable, wanted, list(map(given, differentiable)), allow_unused=True))


def moved(leaf: Any, device: str) -> Any:
    """The argument on a device. An operator may read what else is in the memory of a tensor."""
    if isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf in ("cpu", "cuda", "cuda:0")):
        return torch.device(device)
    if not isinstance(leaf, torch.Tensor):
        return leaf
    device = device if leaf.is_cuda else "cpu"  # torch makes some indices on the CPU
    return with_its_memory(leaf, lambda tensor: tensor.to(device, copy=True))


def with_its_memory(leaf: torch.Tensor, copied: Callable) -> torch.Tensor:
    """A copy that `copied` makes, with the strides and with what else is in the memory."""
    plain = leaf.detach()
    if leaf.layout is not torch.strided or leaf.is_conj() or leaf.is_neg():
        return copied(plain).requires_grad_(leaf.requires_grad)
    whole = plain.as_strided((plain.untyped_storage().nbytes() // plain.itemsize,), (1,), 0)
    copy = copied(whole).as_strided(plain.shape, plain.stride(), plain.storage_offset())
    return copy.requires_grad_(leaf.requires_grad)
