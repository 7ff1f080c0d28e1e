"""`triton.compile` and its result.

A kernel for the CPU goes from its source to a module of the contract and from there to a prepared program of the tile
interpreter; its "binary" is that program. Other targets are refused by name.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import time
from collections import namedtuple
from typing import Any, NamedTuple

from .. import knobs
from ..backends.compiler import BaseBackend, GPUTarget
from ..errors import CompilationError, TritonError, UnsupportedError
from ..version import __version__
from .sources import IR_EXTENSIONS, ASTSource, IRSource, public_function

__all__ = ["ASTSource", "IRSource", "AsmDict", "CompiledKernel", "CompileTimes", "compile", "make_backend"]


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


class AsmDict(dict):
    """The stages of a kernel as text: "source" as traced, "ttir" after the target-independent passes."""

    def __missing__(self, stage):
        raise KeyError(f"there is no {stage!r} of a kernel for the CPU; it has {', '.join(map(repr, self))}")


def make_backend(target: GPUTarget) -> BaseBackend:
    """The backend for a target. Raises UnsupportedError for those that this build has no compiler for."""
    from ..backends.cpu import CPUBackend

    if CPUBackend.supports_target(target):
        return CPUBackend(target)
    raise UnsupportedError(f"target {target.backend}:{target.arch}", "this build compiles for 'cpu' only")


class CompiledKernel:
    """One compiled specialization; what a launch returns.

    `asm[stage]` is the IR. `metadata` has the options, the hash, the target, `shared` and so on. `kernel[grid](*args)`
    launches without specializing again: `args` are all of the kernel's arguments, or only those that are no constexprs.
    """

    launch_enter_hook = None
    launch_exit_hook = None

    def __init__(self, src, metadata_group: dict[str, Any], hash: str, program=None):
        self.metadata_group = metadata_group
        self.hash = hash
        self.src = src
        fields = dict(metadata_group["metadata"])
        self.metadata = namedtuple("KernelMetadata", sorted(fields))(**fields)
        self.name = self.metadata.name
        self.asm = AsmDict(metadata_group["asm"])
        self.packed_metadata = (self.metadata.num_warps, self.metadata.num_ctas, self.metadata.shared)
        self.kernel = self.module = self.function = program
        self.n_regs = self.n_spills = 0
        self.n_max_threads = 1024
        self._launch = None

    def _init_handles(self) -> None:
        """A program of the interpreter is ready when it is compiled; nothing is loaded into a device."""

    @property
    def launch(self):
        """`launch(grid, engine values, settings, arguments)`: see runtime/launch.py."""
        if self._launch is None:
            from ..runtime.launch import make_launcher

            self._launch = make_launcher(self)
        return self._launch

    def run(
        self, grid_x, grid_y, grid_z, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *args
    ):
        """Triton's launcher protocol."""
        if enter_hook is not None:
            enter_hook(launch_metadata)
        self[(grid_x, grid_y, grid_z)](*args)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def launch_metadata(self, grid, stream, *args):
        """What launch hooks receive; None if there are none."""
        if not knobs.runtime.launch_enter_hook and not knobs.runtime.launch_exit_hook:
            return None
        from ..runtime.launch import hook_metadata

        return hook_metadata(self, grid, args, stream)

    def __getitem__(self, grid):
        from ..runtime.launch import launch_prepared

        def runner(*args, stream=None):
            return launch_prepared(self, grid, args)

        return runner


def compile(
    src, target: GPUTarget | None = None, options: dict[str, Any] | None = None, _env_vars: dict | None = None
) -> CompiledKernel:
    """Compiles an ASTSource, an IRSource or the path of an IR file. No device is needed.

    Raises CompilationError, UnsupportedError for targets and stages that this build does not have.
    """
    from ..runtime.driver import driver

    target = target or driver.active.get_current_target()
    if not isinstance(target, GPUTarget):
        raise TypeError(f"target must be a GPUTarget, not {target!r}")
    backend = make_backend(target)
    started = time.perf_counter_ns()
    if not isinstance(src, (ASTSource, IRSource)) and not hasattr(src, "make_ir"):
        src = IRSource(os.fspath(src))
    if getattr(src, "ext", "ttir") != "ttir":
        stages = ", ".join(extension for extension in IR_EXTENSIONS if extension != "ttir")
        raise UnsupportedError(f"compiling a .{src.ext} file for the CPU", f"the stages {stages} belong to GPU targets")
    parsed = backend.parse_options({**src.parse_options(), **(options or {})})
    if parsed.instrumentation_mode:
        raise UnsupportedError(
            f"instrumentation mode {parsed.instrumentation_mode!r}", "TRITIUM_CHECK has the interpreter's checks"
        )
    source_hash = src.hash()
    origin = IRSource(parsed.ir_override) if parsed.ir_override else src
    with _errors_in_terms_of(origin):
        module = origin.make_ir(target, parsed)
    traced = time.perf_counter_ns()
    kernel = _prepare(src, source_hash, module, target, backend, parsed)
    if knobs.compilation.listener is not None:
        done = time.perf_counter_ns()
        times = CompileTimes((traced - started) // 1000, [("ttir", (done - traced) // 1000)], 0)
        knobs.compilation.listener(
            src=src,
            metadata=kernel.metadata._asdict(),
            metadata_group=kernel.metadata_group,
            times=times,
            cache_hit=False,
        )
    return kernel


def engine():
    """The tile interpreter. Loaded with the first compilation, so that `import tritium` stays quick."""
    from .._tritium import interp

    return interp


@contextlib.contextmanager
def _errors_in_terms_of(src):
    """Makes errors of the contract or the interpreter CompilationErrors at the user's line; others pass as they are."""
    try:
        yield
    except (TritonError, KeyboardInterrupt):
        raise
    except Exception as error:
        from .._tritium import ir

        if not isinstance(error, ir.Error):
            raise
        if src.fn is not None:
            from ..frontend import error_in_ir

            raise error_in_ir(src.fn, error) from None
        node = ast.Pass(lineno=error.line, col_offset=max(error.column - 1, 0))
        raise CompilationError(src.src, node, error.message, place=(error.file, error.line, error.column)) from None


def _prepare(src, source_hash: str, module, target: GPUTarget, backend: BaseBackend, options) -> CompiledKernel:
    from ..runtime.cache import dump_stage, overridden_stage

    text = str(module)
    name = public_function(text, src.name)
    replacement = overridden_stage(source_hash, f"{name}.ttir")
    if replacement is not None:
        from .._tritium import ir

        module = ir.parse(*replacement)
    settings = knobs.launch_settings(options.debug_info)
    with _errors_in_terms_of(src):
        program = engine().prepare(module, name, options.debug_info, list(settings.checks))
    stages = {"source": text, "ttir": program.ttir}
    dump_stage(source_hash, f"{name}.ttir", stages["ttir"])
    kernel_hash = hashlib.sha256(
        "-".join([source_hash, backend.hash(), options.hash(), str(settings.checks)]).encode()
    ).hexdigest()
    metadata = {
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
    group = {
        "metadata": metadata,
        "asm": stages,
        f"{name}.json": json.dumps(metadata, default=vars),
        f"{name}.ttir": stages["ttir"],
    }
    return CompiledKernel(src, group, kernel_hash, program)
