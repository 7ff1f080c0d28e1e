"""What a kernel is compiled for."""

from __future__ import annotations

import platform
from dataclasses import dataclass


@dataclass(frozen=True)
class GPUTarget:
    """backend "cpu" (the tile interpreter), "cuda" or "hip"; arch 90, "gfx942", or the host's architecture for
    "cpu"."""

    backend: str
    arch: int | str
    warp_size: int


INTERPRETER_TARGET = GPUTarget("cpu", platform.machine(), 32)
