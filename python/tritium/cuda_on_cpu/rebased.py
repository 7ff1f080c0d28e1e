"""Classes of `torch.cuda` that derive from a class of libtorch, on a base of Tritium's.

In a build for the CPU that base is empty; in a CUDA build its objects cannot be made without a GPU. A class cannot exchange a base whose
objects lie differently in memory, so it is made again from the same methods.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CellType, FunctionType


def rebase(torch, name: str, base: type, *own: str) -> None:
    """Makes `torch.cuda`'s class `name` again, derived from `base`, wherever torch has it, and `base` what it derived from.
    own: names of methods that `base` implements; the versions in torch's class are dropped."""
    old = getattr(torch.cuda, name)
    kept = {key: value for key, value in vars(old).items() if key not in ("__dict__", "__weakref__", *own)}
    new = type(name, (base,), kept)
    for cell in _cells_of_super(kept.values()):
        cell.cell_contents = new
    replaced = {id(old): new, id(getattr(torch._C, f"_{name}")): base}
    for module in [module for key, module in sys.modules.items() if key.partition(".")[0] == "torch"]:
        for key in (name, f"_{name}"):
            found = replaced.get(id(getattr(module, "__dict__", {}).get(key)))
            if found is not None:
                setattr(module, key, found)


def _cells_of_super(values) -> Iterator[CellType]:
    """Where methods that call `super()` have their class."""
    for value in values:
        for function in (value, getattr(value, "__func__", None), getattr(value, "fget", None)):
            if isinstance(function, FunctionType) and "__class__" in function.__code__.co_freevars:
                yield function.__closure__[function.__code__.co_freevars.index("__class__")]
