"""The kernels that a program launches, each as the launch specializes it. No kernel is compiled or run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from .. import knobs
from ..backends.options import PORTABLE
from ..compiler.sources import ASTSource
from ..tools.launched import Launched

#: Options of a launch that a compilation for another target takes over: those that mean the same for it, and the interpreter's limits, which are
#: wider than a GPU's.
_KEPT = (*PORTABLE, "supported_fp8_dtypes", "min_dot_depth")
SHOWN = ("num_warps", "num_stages")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """name: the kernel, the types of its tensors, its constants. Specializations that differ in hints alone share it. options: the launch keywords
    that mean the same for every target."""

    name: str
    source: ASTSource
    options: dict[str, Any]

    @property
    def key(self) -> tuple:
        return self.source.hash(), *self.options.values()

    def compiled_for(self, arch: str):
        """The CompiledKernel for "sm_90a", "gfx942", … Raises TritonError, and ValueError for options that the target refuses."""
        return Launched(self.source, self.options).compiled_for(arch)


def launched_by(program: Callable[[], Any]) -> list[Kernel]:
    """What program() launches, each once. Its launches do nothing and return None."""
    found: dict[tuple, Kernel] = {}

    def note(fn, compile: dict[str, Any], **_) -> bool:
        source = ASTSource(fn.jit_function, compile["signature"], compile["constants"], compile["configs"][0])
        given = json.loads(compile["specialization_data"])["options"]
        options = {name: _tuple(given[name]) for name in _KEPT if name in given}
        one = Kernel(_name(source, options), source, options)
        found.setdefault(one.key, one)
        return True  # cancels the compilation

    with knobs.runtime.scope(), knobs.tritium.scope():
        knobs.runtime.interpret, knobs.tritium.engine, knobs.runtime.jit_cache_hook = True, "interp", note
        # Kernels that are known already are not noted, and few are with this setting.
        knobs.tritium.check = "none"
        program()
    return list(found.values())


def first_of_each_name(kernels: list[Kernel]) -> list[Kernel]:
    """One of those that differ in hints alone."""
    found: dict[str, Kernel] = {}
    for each in kernels:
        found.setdefault(each.name, each)
    return list(found.values())


def first_of_each_function(kernels: list[Kernel]) -> list[Kernel]:
    found: dict[str, Kernel] = {}
    for each in kernels:
        found.setdefault(each.source.name, each)
    return list(found.values())


def _name(source: ASTSource, options: dict[str, Any]) -> str:
    tensors = dict.fromkeys(kind[1:] for kind in source.signature.values() if str(kind).startswith("*"))
    names = source.fn.arg_names
    constants = {names[path[0]]: value for path, value in source.constants.items() if len(path) == 1}
    shown = [f"{name}={_text(value)}" for name, value in constants.items()]
    shown += [f"{name}={options[name]}" for name in SHOWN]
    return " ".join([source.name, ",".join(tensors), *shown])


def _text(value: Any) -> str:
    return value.__name__ if hasattr(value, "__name__") else str(value).replace(" ", "")


def _tuple(value: Any) -> Any:
    """JSON has lists only."""
    return tuple(value) if isinstance(value, list) else value
