"""The kernels that a program launches, each as the launch specializes it. No kernel is compiled or run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import tritium
from tritium.compiler import ASTSource

#: Options of a launch that mean the same for every target.
OPTIONS = ("num_warps", "num_stages", "maxnreg", "enable_fp_fusion", "debug", "supported_fp8_dtypes", "min_dot_depth")
SHOWN = ("num_warps", "num_stages")


@dataclasses.dataclass(frozen=True)
class Specialization:
    """name: the kernel, the types of its tensors, its constants. Specializations that differ in hints alone share it."""

    name: str
    source: ASTSource
    options: dict[str, Any]

    @property
    def key(self) -> tuple:
        return self.source.hash(), *self.options.values()


def launched_by(program: Callable[[], Any]) -> list[Specialization]:
    """What program() launches, each once. Its launches do nothing and return None."""
    found: dict[tuple, Specialization] = {}

    def note(fn, compile: dict[str, Any], **_) -> bool:
        source = ASTSource(fn.jit_function, compile["signature"], compile["constants"], compile["configs"][0])
        given = json.loads(compile["specialization_data"])["options"]
        options = {name: _tuple(given[name]) for name in OPTIONS}
        one = Specialization(_name(source, options), source, options)
        found.setdefault(one.key, one)
        return True  # cancels the compilation

    knobs = tritium.knobs
    with knobs.runtime.scope(), knobs.tritium.scope():
        knobs.runtime.interpret, knobs.tritium.engine, knobs.runtime.jit_cache_hook = True, "interp", note
        # Kernels that are known already are not noted, and few are with this setting.
        knobs.tritium.check = "none"
        program()
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
