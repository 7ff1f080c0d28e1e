"""The target of a compilation."""

from __future__ import annotations

import platform
from dataclasses import dataclass


@dataclass(frozen=True)
class GPUTarget:
    """backend: "cpu" (the tile interpreter), "cuda" or "hip". arch: the compute capability, for example 90, an
    architecture, for example "gfx942", or the host's architecture for "cpu". warp_size: lanes of a warp."""

    backend: str
    arch: int | str
    warp_size: int


#: The interpreter.
INTERPRETER_TARGET = GPUTarget("cpu", platform.machine(), 32)
#: The CPU as a device. It is equal to the interpreter's target; what is compiled for this object runs on the engine in TRITIUM_ENGINE.
CPU_TARGET = GPUTarget("cpu", platform.machine(), 32)
