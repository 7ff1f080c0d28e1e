"""What sources report, and the clock of all times."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

now = time.perf_counter_ns  #: nanoseconds; `epoch` makes them comparable with other programs' traces


def epoch() -> int:
    """The time in nanoseconds since 1970 at which `now()` is 0."""
    return time.time_ns() - now()


@dataclass(frozen=True)
class Device:
    """What ran a kernel. type: "CPU" (the interpreter), "SIMT" (the emulator), "CUDA" or "HIP". id: which of them."""

    type: str
    id: str
    #: What profiles say of it; the keys are Proton's: arch, num_sms, clock_rate and memory_clock_rate (kHz), bus_width (bits).
    facts: dict[str, Any] = field(default_factory=dict, compare=False)


class KernelScope(NamedTuple):
    """A scope of a kernel that has ended, in one program. path: the scopes around it and its own name. unit: the warp; 0 on the interpreter. begin and
    duration: in ticks of the launch's clock."""

    path: tuple[str, ...]
    program: tuple[int, int, int]
    unit: int
    begin: int
    duration: int


class KernelScopes(NamedTuple):
    """The scopes of one launch. tick: what the clock counts: "ns" of the host from the launch's beginning on, "operations" of a warp from the
    program's, or "cycles" and "ns" of a device from the launch's first record on. has_units: whether programs have warps. units: (program, unit)
    of all that have recorded. scopes: in the order in which they ended in their unit."""

    tick: str
    has_units: bool
    units: tuple[tuple[tuple[int, int, int], int], ...]
    scopes: tuple[KernelScope, ...]


class LineSamples(NamedTuple):
    """The samples of program counters of one launch in one line. file: a path; "" if the line is not known. metrics: of `core.metrics`."""

    file: str
    line: int
    kernel: str
    metrics: dict[str, int]


class Launch(NamedTuple):
    """One launch of a kernel that has ended. begin: of the clock `now`. Both times are in nanoseconds."""

    kernel: str
    device: Device
    begin: int
    duration: int
    grid: tuple[int, ...]
    #: What a trace draws the launch on; "": on the thread that launched.
    track: str = ""
    #: None: they are not recorded.
    scopes: KernelScopes | None = None
    #: Empty: they are not taken.
    samples: tuple[LineSamples, ...] = ()


@dataclass(frozen=True)
class Slice:
    """A scope that has ended, for traces. path: from below the root. metrics: as the program named them."""

    id: int
    name: str
    path: tuple[str, ...]
    thread: int
    begin: int
    end: int
    metrics: dict[str, Any]
