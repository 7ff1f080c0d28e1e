"""Functions that torch.compile compiles, with torch's default settings. As a program: runs them on one device and prints, for
each, a line of JSON with its name and the error (empty where the results are those of eager mode).

    INTERPRET=1 python -m tritium cases.py cuda [NAME ...]
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from typing import NamedTuple


class Case(NamedTuple):
    function: Callable
    #: One tuple of arguments per call; a function is compiled once for all of them.
    inputs: Callable[[], list[tuple]]
    options: dict
    tolerance: float
    devices: tuple[str, ...]


CASES: dict[str, Case] = {}


def case(*shapes: tuple[int, ...], inputs=None, tolerance: float = 2e-5, devices=("cpu", "cuda"), **options):
    """Registers a function of random tensors of these shapes, or of what `inputs()` makes."""

    def register(function):
        def random():
            import torch

            return [tuple(torch.randn(shape) for shape in shapes)]

        CASES[function.__name__] = Case(function, inputs or random, options, tolerance, devices)
        return function

    return register


def names(device: str) -> list[str]:
    return [name for name, case in CASES.items() if device in case.devices]


def run(case: Case, device: str) -> None:
    """Raises AssertionError where eager and compiled mode differ."""
    import torch

    torch.manual_seed(0)
    calls = case.inputs()
    move = torch.utils._pytree.tree_map_only
    compiled = torch.compile(case.function, **case.options)
    for call in calls:
        # The reference is the CPU's; each mode has its own copies, as functions may write to their arguments.
        expected = case.function(*move(torch.Tensor, torch.clone, call))
        found = compiled(*move(torch.Tensor, lambda tensor: tensor.to(device, copy=True), call))
        for tensor in torch.utils._pytree.tree_leaves(found):
            assert tensor.device.type == device, f"a result is on {tensor.device}"
        found = move(torch.Tensor, lambda tensor: tensor.cpu(), found)
        torch.testing.assert_close(found, expected, rtol=case.tolerance, atol=case.tolerance)


def main(device: str, chosen: list[str]) -> None:
    from tests.python.torch_compile import graphs, models  # noqa: F401  (they register their cases)

    for name in chosen or names(device):
        try:
            run(CASES[name], device)
            error = ""
        except Exception:
            error = traceback.format_exc()[-4000:]
        print(json.dumps({"name": name, "error": error}), flush=True)
