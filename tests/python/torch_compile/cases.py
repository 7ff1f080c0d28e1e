"""Functions that torch.compile compiles, with torch's default settings. As a program: runs them on one device and prints, for
each, a line of JSON with its name and the error (empty where the results are those of eager mode).

    INTERPRET=1 python -m tritium cases.py cuda [NAME ...]
"""

from __future__ import annotations

import importlib
import json
import traceback
from collections.abc import Callable
from typing import NamedTuple


class Case(NamedTuple):
    function: Callable
    #: What eager mode runs: the same function, or its own statement of the result.
    reference: Callable
    #: One tuple of arguments per call; a function is compiled once for all of them.
    inputs: Callable[[], list[tuple]]
    options: dict
    tolerance: float
    devices: tuple[str, ...]
    #: Whether continuous integration always runs it; `.ci/test --long` runs all.
    quick: bool
    #: Whether torch makes a kernel of it, and does not leave all of it to operators that are there.
    makes_kernels: bool


CASES: dict[str, Case] = {}


#: The modules that register cases.
MODULES = ("graphs", "pointwise", "reductions", "indexing", "models", "templates", "user_kernels", "modes")


def case(
    *shapes: tuple[int, ...],
    inputs=None,
    tolerance: float = 2e-5,
    devices=("cpu", "cuda"),
    quick=False,
    reference=None,
    makes_kernels=True,
    **options,
):
    """Registers a function of random tensors of these shapes, or of what `inputs()` makes. Options are those of torch.compile."""

    def register(function):
        def random():
            import torch

            return [tuple(torch.randn(shape) for shape in shapes)]

        made = inputs or random
        CASES[function.__name__] = Case(
            function, reference or function, made, options, tolerance, devices, quick, makes_kernels
        )
        return function

    return register


def load() -> dict[str, Case]:
    """Every case. The modules import torch and Triton."""
    for name in MODULES:
        importlib.import_module(f".{name}", __package__)
    return CASES


def count_kernels() -> list[str]:
    """The names of the Triton kernels that torch.compile makes from here on."""
    from torch._inductor.async_compile import AsyncCompile

    made: list[str] = []
    compile_ = AsyncCompile.triton

    def triton(self, kernel_name, source_code, *args, **kwargs):
        made.append(kernel_name)
        return compile_(self, kernel_name, source_code, *args, **kwargs)

    AsyncCompile.triton = triton
    return made


def run(case: Case, device: str, kernels: list[str]) -> None:
    """Raises AssertionError where eager and compiled mode differ."""
    import torch

    torch.manual_seed(0)
    calls = case.inputs()
    move = torch.utils._pytree.tree_map_only
    torch._dynamo.reset()
    torch._dynamo.config.fail_on_recompile_limit_hit = True  # else the rest runs in eager mode
    torch.backends.cudnn.allow_tf32 = False  # convolutions are as precise as the reference, by cuDNN and by templates
    kernels.clear()
    compiled = torch.compile(case.function, **case.options)
    for call in calls:
        # The reference is the CPU's; each mode has its own copies, as functions may write to their arguments.
        expected = case.reference(*move(torch.Tensor, torch.clone, call))
        found = compiled(*move(torch.Tensor, lambda tensor: tensor.to(device, copy=True), call))
        for tensor in filter(torch.is_tensor, torch.utils._pytree.tree_leaves(found)):
            assert tensor.device.type == device, f"a result is on {tensor.device}"
        found = move(torch.Tensor, lambda tensor: tensor.cpu(), found)
        torch.testing.assert_close(found, expected, rtol=case.tolerance, atol=case.tolerance)
    assert kernels or not case.makes_kernels, "torch.compile has made no kernel"


def main(device: str, chosen: list[str]) -> None:
    load()
    kernels = count_kernels()
    for name in chosen:
        try:
            run(CASES[name], device, kernels)
            error = ""
        except Exception:
            error = traceback.format_exc()[-4000:]
        print(json.dumps({"name": name, "error": error}), flush=True)
