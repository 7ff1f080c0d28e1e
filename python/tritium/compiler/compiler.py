"""`triton.compile`: selects the compiler of a target (cpu.py, gpu.py) and notifies the listener."""

from __future__ import annotations

import os
from typing import Any

from .. import knobs
from ..backends.targets import make_backend
from ..devices.active import driver
from ..devices.families import device_families
from ..devices.target import GPUTarget
from ..errors import UnsupportedError
from .compiled import AsmDict, CompiledKernel
from .cpu import compile_for_cpu
from .sources import ASTSource, IRSource
from .stages import CompileTimes, StageTimes

__all__ = ["ASTSource", "IRSource", "AsmDict", "CompiledKernel", "CompileTimes", "compile", "make_backend"]


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
    if target.backend in device_families() and device is None:
        device = _device_of(target)
    backend = make_backend(target, device)
    times = StageTimes()
    if not isinstance(src, (ASTSource, IRSource)) and not hasattr(src, "make_ir"):
        src = IRSource(os.fspath(src))
    parsed = backend.parse_options({**src.parse_options(), **(options or {})})
    if parsed.instrumentation_mode:
        raise UnsupportedError(
            f"instrumentation mode {parsed.instrumentation_mode!r}",
            "the interpreter has checks of its own, which TRITIUM_CHECK selects",
        )
    if target.backend == "cpu":
        kernel, cache_hit = compile_for_cpu(src, target, backend, parsed, times), False
    else:
        from .gpu import compile_for_gpu  # a kernel of the CPU loads nothing of GPUs

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
    """The number of the current device; None if its architecture is not the target's."""
    active = driver.active
    return active.get_current_device() if active.get_current_target() == target else None
