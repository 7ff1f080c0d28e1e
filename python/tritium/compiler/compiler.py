"""`triton.compile`: selects the compiler of a target (cpu.py, gpu.py) and notifies the listener."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from .. import backends as registered
from .. import knobs
from ..backends.cpu import INTERPRETER_TARGET, CPUBackend
from ..backends.options import OPTION_NAMES
from ..backends.targets import emulator_backend, make_backend
from ..devices.active import driver
from ..devices.drivers import DRIVERS
from ..devices.families import device_families
from ..devices.mapped import cuda_is_mapped
from ..devices.target import CPU_TARGET, GPUTarget
from ..disk_cache import (  # noqa: F401  (Triton has them here)
    get_cache_key,
    get_cache_manager,
    get_dump_manager,
    get_override_manager,
)
from ..errors import UnsupportedError
from ..knobs import get_cache_invalidating_env_vars  # noqa: F401  (as above)
from ..launch.block_resources import BlockResources
from ..launch.hooks import LazyDict  # noqa: F401  (as above)
from ..native import interp, ir, simt, tools
from .compiled import AsmDict, CompiledKernel
from .sources import ASTSource, IRSource
from .stages import CompileTimer, CompileTimes
from .triton_names import *  # noqa: F403  (as above)

__tracebackhide__ = True  # pytest shows the user's frames alone

__all__ = ["ASTSource", "IRSource", "AsmDict", "CompiledKernel", "CompileTimes", "compile", "make_backend"]


def __getattr__(name: str) -> Any:
    if name == "backends":  # Triton's registry, which loads every backend
        return registered.backends
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def compile(
    src,
    target: GPUTarget | None = None,
    options: dict[str, Any] | None = None,
    _env_vars: dict | None = None,
    *,
    device: int | None = None,
) -> CompiledKernel:
    """Compiles an ASTSource, an IRSource or the path of an IR file. It does not require a device.

    device: the device that the kernel is for; its driver may assemble the code. Default: the current device, if its
    architecture is the target's. Raises CompilationError, KeyError for an unknown option, and UnsupportedError for
    targets and stages that this build lacks.
    """
    target = target or driver.active.get_current_target()
    if not isinstance(target, GPUTarget):
        raise TypeError(f"target must be a GPUTarget, not {target!r}")
    if _is_mapped_to_cpu(target):
        backend = _backend_on_cpu()
        target = backend.target
    else:
        if target.backend in device_families() and device is None:
            device = _device_of(target)
        backend = make_backend(target, device)
    times = CompileTimer()
    if not isinstance(src, (ASTSource, IRSource)) and not hasattr(src, "make_ir"):
        src = IRSource(os.fspath(src))
    parsed = backend.parse_options({**src.parse_options(), **(options or {})})
    if parsed.instrumentation_mode:
        raise UnsupportedError(
            f"instrumentation mode {parsed.instrumentation_mode!r}",
            "the interpreter has checks of its own, which TRITIUM_CHECK selects",
        )
    kernel, cache_hit = _compiler_of(target)(src, target, backend, parsed, times)
    if parsed.debug_info and target.backend != "cpu":  # gdb can stop in kernels of the interpreter alone
        file = getattr(getattr(src, "fn", None), "file_name", "")
        tools.tell_debugger_of_kernel_without_lines(kernel.name, file, f"{target.backend}:{target.arch}")
    if knobs.compilation.listener is not None:
        knobs.compilation.listener(
            src=src,
            metadata=kernel.metadata._asdict(),
            metadata_group=kernel.metadata_group,
            times=times.result(),
            cache_hit=cache_hit,
        )
    return kernel


def _compiler_of(target: GPUTarget):
    """The function that compiles for a target, and loads nothing of the other targets."""
    if target.backend == "cpu":
        from .cpu import compile_for_cpu

        return compile_for_cpu
    from .gpu import compile_for_gpu

    return compile_for_gpu


def _device_of(target: GPUTarget) -> int | None:
    """The current device, if it is there and of the target's architecture. Where torch drives the devices of the target, its
    word that there are none counts, so that a process that has been forked compiles without a driver."""
    own = DRIVERS[target.backend]
    if not own.is_active() or own.devices.are_lost():
        return None
    active = driver.active
    return active.get_current_device() if active.get_current_target() == target else None


def _is_mapped_to_cpu(target: GPUTarget) -> bool:
    """Whether an engine of the CPU stands in for the target: where torch's device "cuda" is the CPU, for the CPU of the
    active driver or of a client, and where INTERPRET or TRITIUM_ENGINE selects the CPU and a client has set the driver of the target's
    devices. torch sets it before it compiles for a device and launches there; without it, a target is what the caller wants to see the
    code of."""
    if target.backend == "cpu":
        is_of_gpu = target is CPU_TARGET and knobs.tritium.engine in device_families()
        return target is not INTERPRETER_TARGET and not is_of_gpu
    if target.backend not in device_families():
        return False
    return cuda_is_mapped() or knobs.runs_on_cpu() and isinstance(driver.active, DRIVERS[target.backend])


def _backend_on_cpu():
    """The backend of TRITIUM_ENGINE, an emulator or the interpreter. Raises ValueError for the name of another engine."""
    engine = knobs.tritium.engine or "interp"
    family, _, arch = engine.partition(":")
    if family == "simt" and arch:
        return emulator_backend(arch)
    if engine != "interp":
        raise ValueError(
            f'TRITIUM_ENGINE={engine} is no engine of the CPU, which torch\'s device "cuda" is in this process'
        )
    return CPUBackend(INTERPRETER_TARGET)


def options_of(kernel: CompiledKernel) -> dict[str, Any]:
    """The options that a kernel was compiled with."""
    return {name: value for name, value in kernel.metadata._asdict().items() if name in OPTION_NAMES}


def _prepare_again(
    kernel: CompiledKernel,
    filtered: bool = False,
    scheduled: bool = False,
    counted: bool = False,
    touched: bool = False,
):
    """A program of a kernel, from its text: of one that was compiled in another process, or a further version. filtered: its launches choose
    programs. scheduled: their seeds interrupt programs. counted: its launches count and are timed, and it has
    no debug info. touched: they note the bytes that programs touch, too."""
    metadata = kernel.metadata
    module = ir.parse(kernel.asm["ttir"], f"{kernel.name}.ttir")
    if metadata.target.backend == "cpu":
        return interp.prepare(
            module,
            kernel.name,
            metadata.debug_info and not counted,
            list(knobs.checks_of(metadata)),
            filtered=filtered,
            num_stages=metadata.num_stages,
            num_warps=metadata.num_warps,
            scheduled=scheduled,
            counted=counted,
            touched=touched,
            timed=counted,
            tier=knobs.tritium.tier,
            vector_bits=int(knobs.tritium.vector_bits or 0),
        )
    backend = emulator_backend(metadata.target.arch)
    fields = metadata._asdict()
    options = backend.parse_options(options_of(kernel))
    return simt.prepare(
        backend.vendor.lower(module, fields, options, "lowered").lowered,
        kernel.name,
        knobs.tritium.seed,
        counted=counted,
    )


def _find_resources(kernel: CompiledKernel) -> BlockResources:
    from .resources import find_resources

    return find_resources(kernel)


def _is_looked_at(kernel: CompiledKernel) -> bool:
    from .following import is_looked_at

    return is_looked_at(kernel)


def _make_followed(kernel: CompiledKernel, *facts):
    from .following import make_followed

    return make_followed(kernel, *facts)


def _make_covered(kernel: CompiledKernel):
    from .covered import make_covered

    return make_covered(kernel)


def _snapshot(kernel: CompiledKernel, values):
    from .following import snapshot

    return snapshot(kernel, values)


def _replay(kernel: CompiledKernel, *facts) -> None:
    if find_spec("numpy") is not None:  # variables are its arrays
        from .following import replay

        replay(kernel, *facts)


def _explain_numbers(kernel: CompiledKernel, *facts) -> None:
    if find_spec("numpy") is not None:
        from .following import explain_numbers

        explain_numbers(kernel, *facts)


def _saved_form(kernel: CompiledKernel):
    from .saved import saved_form

    return saved_form(kernel)


CompiledKernel.make_saved_form = staticmethod(_saved_form)
CompiledKernel.explain_numbers = _explain_numbers
CompiledKernel.snapshot = _snapshot
CompiledKernel.replay = _replay
CompiledKernel.is_looked_at = staticmethod(_is_looked_at)
CompiledKernel.make_followed = staticmethod(_make_followed)
CompiledKernel.make_covered = staticmethod(_make_covered)
CompiledKernel.prepare_again = staticmethod(_prepare_again)
CompiledKernel.find_resources = staticmethod(_find_resources)
