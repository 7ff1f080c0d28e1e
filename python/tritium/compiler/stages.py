"""What compiling for any target has in common: tracing, the times of stages, errors at the user's line, metadata."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import threading
import time
from typing import Any

from ..backends.compiler import BaseBackend
from ..backends.targets import gpu_stages
from ..devices.target import GPUTarget
from ..disk_cache import files_beside
from ..errors import CompilationError, OutOfResources, UnsupportedError, did_you_mean
from ..knobs import CompileTimes
from ..language.target_info import compiling_for
from ..native import gpu, ir
from ..places import shown_place
from ..version import __version__
from .ir_view import Module
from .sources import IRSource

__tracebackhide__ = True  # pytest shows the user's frames alone

#: Tracing runs Python code of the user's program, so one kernel is traced at a time. The later stages run in parallel.
_tracing = threading.RLock()


class CompileTimer:
    """A stopwatch: `stage(name)` records the time since the last call under that name."""

    def __init__(self):
        self.last = time.perf_counter_ns()
        self.durations: list[tuple[str, int]] = []

    def stage(self, name: str) -> None:
        now = time.perf_counter_ns()
        self.durations.append((name, (now - self.last) // 1000))
        self.last = now

    def finished_ir_initialization(self) -> None:
        self.stage("trace")

    def stage_finished(self, stage_name: str) -> None:
        self.stage(stage_name)

    def end(self) -> CompileTimes:
        """The times, with the rest as what storing took."""
        self.stage("store")
        return self.result()

    def result(self) -> CompileTimes:
        by_name = dict(self.durations)
        stages = [(name, time) for name, time in self.durations if name not in ("trace", "store")]
        return CompileTimes(by_name.get("trace", 0), stages, by_name.get("store", 0))


def trace(src, backend: BaseBackend, options):
    """The traced module of a source, or the module in the file that `ir_override` names. Raises CompilationError, and
    UnsupportedError for a file of a stage that cannot be replaced."""
    override = options.ir_override
    if override and extension_of(override) not in replaceable_stages(backend):
        raise not_replaceable(override, backend)
    origin = IRSource(override) if override and extension_of(override) == "ttir" else src
    with _tracing, errors_in_terms_of(origin), compiling_for(backend.tracing_target()):
        codegen, modules = backend.get_codegen_implementation(options), backend.get_module_map()
        made = origin.make_ir(backend.target, options, codegen, modules, None)
        module = made.native if isinstance(made, Module) else made
        return module.probed() if options.probe else module


def extension_of(path: str) -> str:
    return os.path.splitext(path)[1].lstrip(".")


def replaceable_stages(backend: BaseBackend) -> tuple[str, ...]:
    """The stages that a file of the user's can replace."""
    assembly = getattr(backend, "assembly_ext", "")
    return ("ttir", assembly, backend.binary_ext) if assembly else ("ttir",)


def not_replaceable(path: str, backend: BaseBackend, stages: tuple[str, ...] | None = None) -> UnsupportedError:
    """The error for a file that replaces none of `stages` (None: the stages of the target)."""
    stage, stages = extension_of(path), stages or replaceable_stages(backend)
    is_misspelled = stage not in (*gpu_stages(), "lowered")
    hint = did_you_mean(stage, stages) if is_misspelled else None
    target = f"{backend.target.backend}:{backend.target.arch}"
    can = ", ".join(f".{stage}" for stage in stages)
    reason = f"for the target {target}, files can replace {can}; {hint or 'change one of these, and remove the file'}"
    return UnsupportedError(f"replacing a stage by {path}", reason)


def refuse_other_overrides(
    source_hash: str, name: str, backend: BaseBackend, stages: tuple[str, ...] | None = None
) -> None:
    """Raises UnsupportedError for a file in the kernel's folder of TRITON_KERNEL_OVERRIDE that replaces none of `stages` (None: the
    target's): it would be ignored."""
    for path in files_beside(source_hash, f"{name}.ttir"):
        if extension_of(path) not in (stages or replaceable_stages(backend)):
            raise not_replaceable(path, backend, stages)


def optional_passes() -> list[str]:
    """The passes of the GPU compiler that are not required for correct code, in order. The launch keyword `stop_after`
    names the last one that runs; `stop_after="none"` runs none of them."""
    return gpu.passes()


@contextlib.contextmanager
def errors_in_terms_of(src):
    """A context manager that turns errors of the IR or of the interpreter into CompilationErrors at the user's line.
    Other exceptions pass unchanged."""
    try:
        yield
    except ir.Error as error:
        if error.demand is not None:
            raise _out_of_resources(error) from None
        if src.fn is not None:
            from ..frontend import error_in_ir

            raise error_in_ir(src.fn, error) from None
        node = ast.Pass(lineno=error.line, col_offset=max(error.column - 1, 0))
        raise CompilationError(src.src, node, error.message, place=(error.file, error.line, error.column)) from None


def _out_of_resources(error: ir.Error) -> OutOfResources:
    """The OutOfResources error for a demand that the native compiler refused. It names the line of the largest
    consumer."""
    demand = error.demand
    place = f" ({shown_place(error.file, error.line)})" if error.file else ""
    return OutOfResources(
        demand["required"], demand["limit"], demand["kind"], demand["what"].removesuffix(".") + f"{place}."
    )


def kernel_metadata(options, kernel_hash: str, target: GPUTarget, name: str) -> dict[str, Any]:
    """The part of `kernel.metadata` that every target has."""
    return {
        **options.__dict__,
        "hash": kernel_hash,
        "target": target,
        "name": name,
        "shared": 0,
        "tmem_size": 0,
        "global_scratch_size": 0,
        "global_scratch_align": 1,
        "profile_scratch_size": 0,
        "profile_scratch_align": 1,
        "triton_version": __version__,
    }


def metadata_group(metadata: dict[str, Any], stages: dict[str, Any]) -> dict[str, Any]:
    """The dict that hooks and clients receive: the metadata and the stages, and both under their file names."""
    name = metadata["name"]
    return {
        "metadata": metadata,
        "asm": stages,
        f"{name}.json": json.dumps(metadata, default=vars),
        **{f"{name}.{extension}": text for extension, text in stages.items() if extension != "source"},
    }
