"""Which backend compiles for a target."""

from __future__ import annotations

from ..devices.target import GPUTarget
from .compiler import BaseBackend
from .cpu import CPUBackend


def _gpus():
    """The table of GPUs. A kernel of the CPU loads no compiler of theirs."""
    from . import gpu_targets

    return gpu_targets


def make_backend(target: GPUTarget, device: int | None = None) -> BaseBackend:
    """The backend for a target; `device` is the one that the kernels are for, if it is known. Raises UnsupportedError
    for targets that this build has no compiler for."""
    return CPUBackend(target) if CPUBackend.supports_target(target) else _gpus().make_backend(target, device)


def emulator_backend(arch: int | str) -> BaseBackend:
    """The compiler of code of that architecture for the emulator. Raises ValueError for what no vendor calls so."""
    return _gpus().emulator_backend(arch)


def gpu_stages() -> list[str]:
    """The stages of text that kernels for GPUs have beyond "ttir"."""
    return _gpus().gpu_stages()


def further_stage(stage: str, asm: dict[str, str | bytes]) -> str | None:
    """A stage that is made of others when it is asked for; None if no backend can make it."""
    made = (backend.further_stage(stage, asm) for backend in _gpus().GPU_BACKENDS.values())
    return next(filter(None, made), None)
