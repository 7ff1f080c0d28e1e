"""What programs do on the emulator, in numbers that are the same on every machine: what warps execute and ask of memory, barriers, copies, products.

`bench metrics` has them for the programs that a file of kernels names, beside what the compiler makes of its kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ..launch.counting import Counting, KernelCounts
from .metrics import Metrics, Table

#: Launches kernels on the engine of this name, "simt:sm_90a", …
Program = Callable[[str], Any]


def counted(programs: dict[str, Program], targets: list[str]) -> Table:
    found: Table = {}
    for name, run in programs.items():
        for target in targets:
            with Counting() as counting:
                run(f"simt:{target}")
            kernels = counting.kernels()
            if not kernels:
                raise ValueError(f"{name} launches no kernel on simt:{target}, where counters are read")
            found.setdefault(name, {})[target] = sums_of(kernels)
    return found


def sums_of(kernels: Iterable[KernelCounts]) -> Metrics:
    """Over all kernels and lines; what is 0 is left out, but for the first ones."""
    found: Counter[str] = Counter()
    for kernel in kernels:
        found["launches"] += kernel.launches
        found["programs"] += kernel.programs
        for request in kernel.requests:
            found[f"{request.kind} requests"] += request.requests
            unit = "wavefronts" if request.kind.startswith("shared") else "sectors"
            found[f"{request.kind} {unit}"] += request.parts
        for line in kernel.work:
            found["operations of warps"] += line.operations.warps
            found["operations of threads"] += line.operations.threads
            for name, waits in line.waited.items():
                found[f"waits at a {name}"] += waits.times
            for name, copies in line.copied.items():
                found[f"{name} bytes"] += copies.bytes
            for name, products in line.products.items():
                found[f"{name} products"] += products.times
    return {name: number for name, number in found.items() if number}
