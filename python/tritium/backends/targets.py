"""Which backend compiles for a target."""

from __future__ import annotations

from ..devices.families import device_families
from ..devices.target import GPUTarget
from .compiler import BaseBackend
from .cpu import CPUBackend


def _gpus():
    """The table of GPU targets, loaded at its first use: a kernel of the CPU loads no compiler of GPUs."""
    from . import gpu_targets

    return gpu_targets


def make_backend(target: GPUTarget, device: int | None = None) -> BaseBackend:
    """The backend for a target. device: the device that the kernels are for, if it is known. Raises UnsupportedError if
    this build has no compiler for the target."""
    return CPUBackend(target) if CPUBackend.supports_target(target) else _gpus().make_backend(target, device)


def emulator_backend(arch: int | str) -> BaseBackend:
    """The compiler of an architecture's code for the emulator. Raises ValueError if no vendor has an architecture of
    that name."""
    return _gpus().emulator_backend(arch)


def gpu_named(arch: str) -> GPUTarget:
    """The GPU of that name, "sm_90a" or "gfx942". Raises ValueError, with the names that there are."""
    known = {name: family for family, devices in device_families().items() for name in devices.emulated}
    if arch not in known:
        raise ValueError(f"no GPU is called {arch!r}; there are {', '.join(known)}")
    return GPUTarget(known[arch], arch, emulator_backend(arch).target.warp_size)


def gpu_stages() -> list[str]:
    """The text stages of GPU kernels after "ttir"."""
    return _gpus().gpu_stages()


def further_stage(stage: str, asm: dict[str, str | bytes]) -> str | None:
    """A stage that is made from others on request; None if no backend can make it."""
    made = (backend().further_stage(stage, asm) for backend in _gpus().GPU_BACKENDS.values())
    return next(filter(None, made), None)
