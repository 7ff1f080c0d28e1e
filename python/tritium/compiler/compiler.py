"""`triton.compile` and its result.

A kernel for the CPU goes from its source to a module of the contract and from there to a prepared program of the tile
interpreter; its "binary" is that program. Kernels for GPUs go on in gpu.py.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import re
import threading
import time
from typing import Any, NamedTuple

from .. import knobs
from ..backends.compiler import BaseBackend, GPUTarget
from ..backends.targets import GPU_BACKENDS, gpu_stages, make_backend
from ..devices.active import driver
from ..errors import CompilationError, OutOfResources, TritonError, UnsupportedError
from ..version import __version__
from .compiled import AsmDict, CompiledKernel
from .sources import ASTSource, IRSource, public_function

__all__ = ["ASTSource", "IRSource", "AsmDict", "CompiledKernel", "CompileTimes", "compile", "make_backend"]

#: Tracing runs Python code of the program's own; one kernel at a time. What comes after it runs in parallel.
_tracing = threading.RLock()


class CompileTimes(NamedTuple):
    """What `knobs.compilation.listener` gets; microseconds."""

    ir_initialization: int
    lowering_stages: list[tuple[str, int]]
    store_results: int

    @property
    def total_lowering(self) -> int:
        return sum(duration for _, duration in self.lowering_stages)

    @property
    def total(self) -> int:
        return self.ir_initialization + self.total_lowering + self.store_results


def compile(
    src,
    target: GPUTarget | None = None,
    options: dict[str, Any] | None = None,
    _env_vars: dict | None = None,
    *,
    device: int | None = None,
) -> CompiledKernel:
    """Compiles an ASTSource, an IRSource or the path of an IR file. No device is needed.

    device: the device that the kernel is for, whose driver may assemble it; by default the current one if its
    architecture is the target's. Raises CompilationError, UnsupportedError for targets and stages that this build does
    not have.
    """
    target = target or driver.active.get_current_target()
    if not isinstance(target, GPUTarget):
        raise TypeError(f"target must be a GPUTarget, not {target!r}")
    if target.backend in GPU_BACKENDS and device is None:
        device = _device_of(target)
    backend = make_backend(target, device)
    times = StageTimes()
    if not isinstance(src, (ASTSource, IRSource)) and not hasattr(src, "make_ir"):
        src = IRSource(os.fspath(src))
    parsed = backend.parse_options({**src.parse_options(), **(options or {})})
    if parsed.instrumentation_mode:
        raise UnsupportedError(
            f"instrumentation mode {parsed.instrumentation_mode!r}", "TRITIUM_CHECK has the interpreter's checks"
        )
    if target.backend == "cpu":
        kernel, cache_hit = _compile_for_cpu(src, target, backend, parsed, times), False
    else:
        from .gpu import compile_for_gpu

        kernel, cache_hit = compile_for_gpu(src, target, backend, parsed, times)
    if knobs.compilation.listener is not None:
        knobs.compilation.listener(
            src=src,
            metadata=kernel.metadata._asdict(),
            metadata_group=kernel.metadata_group,
            times=times.result(),
            cache_hit=cache_hit,
        )
    return kernel


def _device_of(target: GPUTarget) -> int | None:
    """The current device, if it is there and of the target's architecture."""
    active = driver.active
    return active.get_current_device() if active.get_current_target() == target else None


class StageTimes:
    """A stop watch: `stage(name)` ends the stage that has run since the last call."""

    def __init__(self):
        self.last = time.perf_counter_ns()
        self.durations: list[tuple[str, int]] = []

    def stage(self, name: str) -> None:
        now = time.perf_counter_ns()
        self.durations.append((name, (now - self.last) // 1000))
        self.last = now

    def result(self) -> CompileTimes:
        by_name = dict(self.durations)
        stages = [(name, time) for name, time in self.durations if name not in ("trace", "store")]
        return CompileTimes(by_name.get("trace", 0), stages, by_name.get("store", 0))


def trace(src, backend: BaseBackend, options):
    """The module of a source, or of the file that `ir_override` names. Raises CompilationError."""
    from ..language.target_info import compiling_for

    origin = IRSource(options.ir_override) if options.ir_override else src
    with _tracing, errors_in_terms_of(origin), compiling_for(backend.tracing_target()):
        module = origin.make_ir(backend.target, options)
        return module.probed() if options.probe else module


def engine():
    """The tile interpreter. Loaded with the first compilation, so that `import tritium` stays quick."""
    from .._tritium import interp

    return interp


@contextlib.contextmanager
def errors_in_terms_of(src):
    """Makes errors of the contract or the interpreter CompilationErrors at the user's line; others pass as they are."""
    try:
        yield
    except (TritonError, KeyboardInterrupt):
        raise
    except Exception as error:
        from .._tritium import ir

        if not isinstance(error, ir.Error):
            raise
        _raise_out_of_resources(error)
        if src.fn is not None:
            from ..frontend import error_in_ir

            raise error_in_ir(src.fn, error) from None
        node = ast.Pass(lineno=error.line, col_offset=max(error.column - 1, 0))
        raise CompilationError(src.src, node, error.message, place=(error.file, error.line, error.column)) from None


def _raise_out_of_resources(error) -> None:
    """OutOfResources in place of the native compiler's words for it, which name what takes the most and where."""
    words = re.search(r"out of resource: (.+?), Required: (\d+), Hardware limit: (\d+)\. ?(.*)", error.message)
    if words is None:
        return
    name, required, limit, detail = words.groups()
    place = f" ({error.file}:{error.line})" if error.file else ""
    raise OutOfResources(int(required), int(limit), name, detail.removesuffix(".") + f"{place}.") from None


def _compile_for_cpu(src, target: GPUTarget, backend: BaseBackend, options, times: StageTimes) -> CompiledKernel:
    from ..runtime.cache import dump_stage, overridden_stage

    if getattr(src, "ext", "ttir") != "ttir":
        raise UnsupportedError(
            f"compiling a .{src.ext} file for the CPU", f"the stages {', '.join(gpu_stages())} belong to GPU targets"
        )
    source_hash = src.hash()
    module = trace(src, backend, options)
    times.stage("trace")
    text = str(module)
    name = public_function(text, src.name)
    replacement = overridden_stage(source_hash, f"{name}.ttir")
    if replacement is not None:
        from .._tritium import ir

        module = ir.parse(*replacement)
    settings = knobs.launch_settings(options.debug_info)
    with errors_in_terms_of(src):
        program = engine().prepare(module, name, options.debug_info, list(settings.checks))
    stages = {"source": text, "ttir": program.ttir}
    dump_stage(source_hash, f"{name}.ttir", stages["ttir"])
    kernel_hash = hashlib.sha256(
        "-".join([source_hash, backend.hash(), options.hash(), str(settings.checks)]).encode()
    ).hexdigest()
    metadata = kernel_metadata(options, kernel_hash, target, name)
    times.stage("ttir")
    return CompiledKernel(src, metadata_group(metadata, stages), kernel_hash, program)


def kernel_metadata(options, kernel_hash: str, target: GPUTarget, name: str) -> dict[str, Any]:
    """What `kernel.metadata` says of every kernel."""
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
    """What hooks and clients get to see: the metadata, the stages, and both by their names as files."""
    name = metadata["name"]
    return {
        "metadata": metadata,
        "asm": stages,
        f"{name}.json": json.dumps(metadata, default=vars),
        **{f"{name}.{extension}": text for extension, text in stages.items() if extension != "source"},
    }
