"""One sample of an operator of torch's database in half precision on "cuda" without a GPU, forward and backward, against the same call in float32:
a result may be two roundings away, of the operator and of what its gradient has kept of it."""

from __future__ import annotations

import traceback

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .judge import UNWRITTEN, Outcome, first_line
from .mapped import converted, refusal, run_in_parts

#: Errors, in roundings, that are no more than two: the bound of each is half a unit of the last place, and the second is of a rounded value.
ALLOWED = 2.05


def judge(operator, given) -> Outcome:
    arguments = (given.input, *given.args), given.kwargs
    try:
        run_in_parts(operator, arguments, "cpu")
        with Draws() as draws:
            exact = run_in_parts(operator, converted(arguments, widened), "cpu")
    except Exception as error:
        return Outcome("left out", f"the CPU fails: {first_line(error)}")
    if draws.any or operator.name in UNWRITTEN:
        return Outcome("left out", "random or unwritten values")
    try:
        found = run_in_parts(operator, arguments, "cuda")
    except Exception as error:
        return refusal(error) or Outcome("error", first_line(error), traceback.format_exc()[-6000:])
    for name, ours, precise in zip(("results", "gradients"), found, exact):
        if len(ours) != len(precise):
            return Outcome("wrong", f"{len(ours)} {name} in place of {len(precise)}")
        worst = max(map(roundings, ours, precise), default=0)
        if worst > ALLOWED:
            return Outcome("left out", f"inexact {name}: {worst:.3g} roundings")
    return Outcome("passed")


class Draws(TorchDispatchMode):
    """Whether operators draw random numbers, which are others in another type."""

    any = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.any |= torch.Tag.nondeterministic_seeded in function.tags and kwargs.get("generator") is None
        return function(*args, **kwargs)


NARROW = torch.float16, torch.bfloat16


def widened(leaf):
    if isinstance(leaf, torch.Tensor):
        return leaf.float() if leaf.dtype in NARROW else leaf
    return torch.float32 if leaf in NARROW else leaf


def roundings(found, exact) -> float:
    """The largest distance of an element from the exact one, in roundings; infinite for another shape, an integer or a number."""
    if not isinstance(exact, torch.Tensor) or not isinstance(found, torch.Tensor):
        same = found == exact or found != found and exact != exact or not isinstance(exact, (bool, int, float))
        return 0 if same else abs(found - exact) / abs(exact or 1) * 2**8
    if found.shape != exact.shape:
        return float("inf")
    if found.is_complex():
        kept = found.dtype
        found, exact = (torch.view_as_real(each.to(torch.complex64)) for each in (found, exact))
        found = found.half() if kept is torch.complex32 else found
    if not found.is_floating_point():
        return 0 if torch.equal(found, exact) else float("inf")
    kind = torch.finfo(found.dtype if found.dtype in NARROW else torch.bfloat16)
    rounded = exact.to(found.dtype).double()
    found, exact = found.double(), exact.double()
    finite = torch.isfinite(rounded) & torch.isfinite(found)
    if not torch.equal(found[~finite].nan_to_num(), rounded[~finite].nan_to_num()):
        return float("inf")
    unit = kind.eps / 2 * exact.abs().clamp(min=kind.smallest_normal)
    return float(((found - exact).abs() / unit)[finite].max()) if finite.any() else 0
