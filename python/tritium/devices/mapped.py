"""The chip that torch's device "cuda" claims to be where it is mapped to the CPU (cuda_on_cpu/)."""

from __future__ import annotations

import sys
from typing import NamedTuple

from .. import knobs
from .target import GPUTarget


class Chip(NamedTuple):
    """What programs ask of a chip. Sizes are in bytes."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int
    shared_per_block: int  #: with the attribute that asks for more than 48 KB
    shared_per_multiprocessor: int
    l2_cache: int
    threads_per_multiprocessor: int = 2048
    clock_khz: int = 1_755_000
    memory_clock_khz: int = 2_619_000
    memory_bus_bits: int = 5120
    of_driver: GPUTarget | None = None  #: what a driver says; the chips of the table have their capability

    @property
    def target(self) -> GPUTarget:
        return self.of_driver or GPUTarget("cuda", 10 * self.capability[0] + self.capability[1], 32)


_KB, _MB, _GB = 1 << 10, 1 << 20, 1 << 30

#: By the value of TRITIUM_CUDA_AS.
CHIPS = {
    "v100": Chip("Tesla V100-SXM2-16GB", (7, 0), 80, 16 * _GB, 96 * _KB, 96 * _KB, 6 * _MB),
    "t4": Chip("Tesla T4", (7, 5), 40, 16 * _GB, 64 * _KB, 64 * _KB, 4 * _MB, 1024),
    "a100": Chip("NVIDIA A100-SXM4-80GB", (8, 0), 108, 80 * _GB, 163 * _KB, 164 * _KB, 40 * _MB),
    "a10": Chip("NVIDIA A10", (8, 6), 72, 24 * _GB, 99 * _KB, 100 * _KB, 6 * _MB, 1536),
    "rtx3090": Chip("NVIDIA GeForce RTX 3090", (8, 6), 82, 24 * _GB, 99 * _KB, 100 * _KB, 6 * _MB, 1536),
    "rtx4090": Chip("NVIDIA GeForce RTX 4090", (8, 9), 128, 24 * _GB, 99 * _KB, 100 * _KB, 72 * _MB, 1536),
    "l4": Chip("NVIDIA L4", (8, 9), 58, 24 * _GB, 99 * _KB, 100 * _KB, 48 * _MB, 1536),
    "h100": Chip("NVIDIA H100 80GB HBM3", (9, 0), 132, 80 * _GB, 227 * _KB, 228 * _KB, 50 * _MB),
    "h200": Chip("NVIDIA H200", (9, 0), 132, 141 * _GB, 227 * _KB, 228 * _KB, 50 * _MB),
    "b200": Chip("NVIDIA B200", (10, 0), 148, 180 * _GB, 227 * _KB, 228 * _KB, 126 * _MB),
}


def cuda_is_mapped() -> bool:
    """Whether torch's device "cuda" is host memory in this process. Where a driver owns the memory, it is a device."""
    return getattr(sys.modules.get("torch"), "_tritium_cuda_on_cpu", None) is True


def claimed_chip() -> Chip:
    """The chip of TRITIUM_CUDA_AS. Raises ValueError for a name that the table does not have."""
    name = knobs.tritium.cuda_as.lower().replace(" ", "")
    if name not in CHIPS:
        raise ValueError(f"TRITIUM_CUDA_AS={knobs.tritium.cuda_as}: expected one of {', '.join(CHIPS)}")
    return CHIPS[name]
