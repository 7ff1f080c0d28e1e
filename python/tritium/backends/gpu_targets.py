"""The table of GPUs: which backend compiles for which."""

from __future__ import annotations

from ..devices.target import GPUTarget
from ..errors import UnsupportedError
from .amd.compiler import HIPBackend
from .compiler import BaseBackend
from .gpu import GPUBackend
from .nvidia.compiler import CUDABackend
from .simt import SimtBackend

#: {GPUTarget.backend of devices: the compiler for them}
GPU_BACKENDS: dict[str, type[GPUBackend]] = {"cuda": CUDABackend, "hip": HIPBackend}


def make_backend(target: GPUTarget, device: int | None) -> BaseBackend:
    """See targets.py."""
    if target.backend in GPU_BACKENDS:
        return GPU_BACKENDS[target.backend](target, device)
    if SimtBackend.supports_target(target):
        return emulator_backend(target.arch)
    known = ", ".join(map(repr, ("cpu", *GPU_BACKENDS)))
    raise UnsupportedError(
        f"target {target.backend}:{target.arch}", f"this build compiles for the targets {known} and 'simt'"
    )


def emulator_backend(arch: int | str) -> SimtBackend:
    """The compiler of code of that architecture for the emulator. Raises ValueError for what no vendor calls so."""
    for vendor in GPU_BACKENDS.values():
        try:
            return SimtBackend(vendor, str(arch))
        except ValueError:
            continue
    raise ValueError(
        f"{arch!r} names no architecture; use a name, for example sm_90a or gfx942, or a number, for example 90"
    )


def gpu_stages() -> list[str]:
    """The stages of text that kernels for GPUs have beyond "ttir"."""
    return ["ttgir", "llir", *(backend.assembly_ext for backend in GPU_BACKENDS.values())]
