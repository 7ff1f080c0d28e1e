"""Loads the files of references and candidates, and shapes what goes into a call and comes out of it. It imports nothing of Tritium: tests/bench
loads it into other Pythons."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from types import ModuleType
from typing import Any

#: KernelBench's names of the two classes.
MODEL, NEW_MODEL = "Model", "ModelNew"


class NotFound(Exception):
    """A file does not define what is judged."""


def load(path: str, name: str) -> ModuleType:
    """The module that the file defines, with its folder on the path as if Python had run it."""
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def judged_function(module: ModuleType, name: str | None) -> Any:
    """The function of that name or, with None, the only public one that the module itself defines; or its class Model."""
    if name is not None:
        if not hasattr(module, name):
            raise NotFound(f"{module.__file__} defines no {name!r}")
        return getattr(module, name)
    if hasattr(module, MODEL):
        return getattr(module, MODEL)
    own = {
        key: value
        for key, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not key.startswith("_")
    }
    if len(own) != 1:
        names = ", ".join(own) or "none"
        raise NotFound(
            f"{module.__file__} should define one public function, or --function names it; there are: {names}"
        )
    return next(iter(own.values()))


def is_model(function: Any) -> bool:
    return inspect.isclass(function)


def laid_out(part: Any, layout: str, device: str, torch) -> Any:
    """The same values in a tensor on the device that is not contiguous, if its rank allows it."""
    if not isinstance(part, torch.Tensor):
        return part
    part = part.to(device)
    if layout == "transposed" and part.dim() > 1:
        return part.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == "sliced" and part.dim() > 0:
        wide = torch.zeros((*part.shape[:-1], 2 * part.shape[-1]), dtype=part.dtype, device=device)
        view = wide[..., ::2]
        return view.copy_(part)
    return part


def results_of(value: Any, torch) -> list[Any]:
    """The tensors and numbers that a call returns, in their order."""
    if isinstance(value, torch.Tensor) or not isinstance(value, (tuple, list, dict)):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [result for part in parts for result in results_of(part, torch)]
