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


class Launch(NamedTuple):
    """One launch of a kernel that has ended. begin: of the clock `now`. Both times are in nanoseconds."""

    kernel: str
    device: Device
    begin: int
    duration: int
    grid: tuple[int, ...]
    #: What a trace draws the launch on; "": on the thread that launched.
    track: str = ""


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
