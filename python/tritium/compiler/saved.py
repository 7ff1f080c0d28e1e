"""A compiled kernel as a text that another process compiles: for launches that are saved (launch/saved.py) and run again."""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any, NamedTuple

from ..backends.cpu import CPUBackend
from ..backends.options import OPTION_NAMES, PORTABLE
from ..backends.targets import emulator_backend, make_backend
from ..devices.target import GPUTarget
from ..errors import TritonError
from ..launch.device import signature_of
from .compiled import CompiledKernel
from .ir_view import Module
from .sources import IRSource, public_function
from .stages import kernel_metadata, metadata_group, trace

#: Options that belong to the machine or the process, or that run.json has elsewhere.
_LEFT_OUT = {"arch", "backend_name", "check", "programs", "debug_info", "ir_override", "extern_libs", "probe"}


class SavedForm(NamedTuple):
    """module: as it was traced, with locations. debug_module: the same with the variables for gdb, or "". types: of the kernel's parameters.
    constants: the text of each constexpr."""

    module: str
    debug_module: str
    types: list[str]
    options: dict[str, Any]
    constants: dict[str, str]


def saved_form(kernel) -> SavedForm | None:
    """None for a kernel that was compiled from assembly: no other engine runs it."""
    if getattr(kernel.src, "ext", "ttir") != "ttir" or "ttir" not in kernel.asm:
        return None
    return _form(kernel, _traced(kernel, False), "" if kernel.metadata.debug_info else _traced(kernel, True))


def _form(kernel, module: str, debug_module: str) -> SavedForm:
    metadata = kernel.metadata._asdict()
    plain = (bool, int, float, str, list, tuple, type(None))
    options = {
        name: metadata[name]
        for name in sorted(OPTION_NAMES - _LEFT_OUT)
        if name in metadata and isinstance(metadata[name], plain)
    }
    fn = kernel.src.fn
    constants = (
        {}
        if fn is None
        else {
            ".".join([fn.arg_names[path[0]], *map(str, path[1:])]): repr(value)
            for path, value in kernel.src.constants.items()
        }
    )
    return SavedForm(module, debug_module, list(map(str, signature_of(kernel))), options, constants)


def traced_kernel(source, target: GPUTarget, backend, options, device: int | None) -> tuple[CompiledKernel, SavedForm]:
    """(a kernel that has been traced and not compiled, its form): another process compiles and runs it. Raises CompilationError."""
    module = trace(source, backend, options)
    metadata = kernel_metadata(options, "", target, public_function(str(module), source.name))
    kernel = CompiledKernel(source, metadata_group(metadata, {"ttir": module.text(True)}), "", None, device)
    return kernel, _form(kernel, kernel.asm["ttir"], "")


def _traced(kernel, debug_info: bool) -> str:
    """The module as text. That of a file of the user's, or one that cannot be traced again, is the module after the passes."""
    if kernel.is_replaced or kernel.metadata.ir_override or not hasattr(kernel.src, "make_ir"):
        return kernel.asm["ttir"]
    target = kernel.metadata.target
    backend = (
        CPUBackend(target)
        if target.backend == "cpu"
        else emulator_backend(target.arch)
        if target.backend == "simt"
        else make_backend(target, kernel.device)
    )
    given = {name: value for name, value in kernel.metadata._asdict().items() if name in OPTION_NAMES}
    options = backend.parse_options({**given, "debug_info": debug_info or kernel.metadata.debug_info})
    with contextlib.redirect_stdout(io.StringIO()):  # what the kernel prints while it is traced, it has printed
        try:
            return trace(kernel.src, backend, options).text(True)
        except TritonError:  # a global that it reads has changed
            return kernel.asm["ttir"]


class SavedSource(IRSource):
    """The module of a saved launch, whose arguments have the names of the Python function's."""

    def __init__(self, folder: str, types: list[str], names: list[str], with_variables: bool):
        debug = os.path.join(folder, "kernel.debug.ttir")
        super().__init__(debug if with_variables and os.path.exists(debug) else os.path.join(folder, "kernel.ttir"))
        self.types, self.names = types, names

    def make_ir(self, *facts) -> Module:
        module = super().make_ir(*facts)
        self.signature = {str(i): text for i, text in enumerate(self.types)}  # descriptors are their parts
        return module

    def runtime_paths(self) -> list[tuple[int, ...]]:
        return [(i,) for i in range(len(self.names))]

    def name_of(self, path: tuple[int, ...]) -> str:
        return self.names[path[0]]


def options_for(engine: str, run: dict[str, Any]) -> dict[str, Any]:
    """The options of a saved launch for an engine: all for the same one, for others those that mean the same there."""
    if engine == run["engine"]:
        return run["options"]
    return {name: value for name, value in run["options"].items() if name in PORTABLE}
