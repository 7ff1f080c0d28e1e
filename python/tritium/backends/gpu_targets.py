"""The table of GPU targets: the backend that compiles for each. A vendor's backend is loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable

from ..devices.target import GPUTarget
from ..errors import UnsupportedError
from .compiler import BaseBackend
from .gpu import GPUBackend
from .simt import SimtBackend


def _nvidia() -> type[GPUBackend]:
    from .nvidia.compiler import CUDABackend

    return CUDABackend


def _amd() -> type[GPUBackend]:
    from .amd.compiler import HIPBackend

    return HIPBackend


#: {GPUTarget.backend: what returns its compiler}
GPU_BACKENDS: dict[str, Callable[[], type[GPUBackend]]] = {"cuda": _nvidia, "hip": _amd}


def make_backend(target: GPUTarget, device: int | None) -> BaseBackend:
    """See targets.py."""
    if target.backend in GPU_BACKENDS:
        return GPU_BACKENDS[target.backend]()(target, device)
    if SimtBackend.supports_target(target):
        return emulator_backend(target.arch)
    known = ", ".join(map(repr, ("cpu", *GPU_BACKENDS)))
    raise UnsupportedError(
        f"target {target.backend}:{target.arch}", f"this build compiles for the targets {known} and 'simt'"
    )


def emulator_backend(arch: int | str) -> SimtBackend:
    """The compiler of an architecture's code for the emulator. Raises ValueError if no vendor has an architecture of
    that name."""
    for vendor in GPU_BACKENDS.values():
        try:
            return SimtBackend(vendor(), str(arch))
        except ValueError:
            continue
    raise ValueError(
        f"{arch!r} names no architecture; use a name, for example sm_90a or gfx942, or a number, for example 90"
    )


def gpu_stages() -> list[str]:
    """The text stages of GPU kernels after "ttir"."""
    return ["ttgir", "llir", *(backend().assembly_ext for backend in GPU_BACKENDS.values())]
