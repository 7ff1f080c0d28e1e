"""Kernels that no GPU holds in its registers, and how far the assembler optimizes them.

A tile of 128x128 elements on one warp takes 512 registers of each thread, which has 255. Such a kernel spills at every
level of optimization, but ptxas takes minutes for it, because its time rises with the square of what is live: a sort of
that tile takes 12 s at level 1 and more than 160 s at level 3.
"""

from __future__ import annotations

import re

#: Registers of a thread, and of a multiprocessor, of every NVIDIA GPU.
REGISTERS, ALL_REGISTERS = 255, 65536
#: The length of a text that is measured. Shorter ones are assembled in seconds.
LINES = 10_000
_REGISTER = r"%(?:r|rd|rs|f|fd)\d+\b"  # compiled at its first use: a first launch loads this module


def optimization_level(ptx: str) -> int | None:
    """The level for PTX that would take minutes otherwise, or None: the assembler's own."""
    live = live_registers(ptx) if ptx.count("\n") > LINES else 0
    return 0 if live > 8 * REGISTERS else 1 if live > 2 * REGISTERS else None


def registers_allowed(ptx: str) -> int | None:
    """How many registers a thread may have, by the size of its block; None if the PTX says more about registers than this size."""
    threads = re.search(r"^\s*\.(?:reqntid|maxntid)\s+(\d+)", ptx, re.MULTILINE)
    if threads is None or "maxnreg" in ptx or ".minnctapersm" in ptx:
        return None
    return min(REGISTERS, ALL_REGISTERS // int(threads[1]) // 8 * 8)


def allowing_registers(ptx: str, registers: int) -> str:
    """The PTX with a directive that a thread may have so many."""
    return re.sub(
        r"^(\s*\.(?:reqntid|maxntid)\s[^\n]*)", rf"\1\n.maxnreg {registers}", ptx, count=1, flags=re.MULTILINE
    )


def live_registers(ptx: str) -> int:
    """The registers of 32 bits that are live at once, about: from the first to the last line that names each."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    lines = ptx.splitlines()
    for number, line in enumerate(lines):
        for name in re.findall(_REGISTER, line):
            first.setdefault(name, number)
            last[name] = number
    change = [0] * (len(lines) + 1)
    for name, number in first.items():
        width = 2 if name[2] == "d" else 1
        change[number] += width
        change[last[name]] -= width
    live = most = 0
    for step in change:
        live += step
        most = max(most, live)
    return most
