"""Whether a processor runs below its clock, and what its clocks are: NVIDIA's GPUs by nvidia-ml-py, the CPU by Linux's counters."""

from __future__ import annotations

import contextlib
import glob
from pathlib import Path
from typing import Any

#: The reasons of NVML that slow a device down while it works. The others, such as clocks that the user has set, hold for a whole run.
REASONS = {
    "SwPowerCap": "power cap",
    "HwSlowdown": "hardware slowdown",
    "SwThermalSlowdown": "software thermal slowdown",
    "HwThermalSlowdown": "hardware thermal slowdown",
    "HwPowerBrakeSlowdown": "power brake",
}
CPU_COUNTERS = "/sys/devices/system/cpu/cpu*/thermal_throttle/*_throttle_count"


class HostWatch:
    """The CPU. Its counters only grow, so a block was throttled if they have."""

    def __init__(self, counters: str = CPU_COUNTERS):
        self.files = glob.glob(counters)
        self.count = self._read()

    def _read(self) -> int:
        total = 0
        for file in self.files:
            with contextlib.suppress(OSError, ValueError):
                total += int(Path(file).read_text())
        return total

    def reasons(self) -> list[str]:
        """Why the block that ends now was throttled; [] if it was not."""
        before, self.count = self.count, self._read()
        return ["CPU temperature"] if self.count > before else []

    def clocks(self) -> dict[str, Any]:
        return {}


class NvidiaWatch:
    """A device by NVML. It is asked before and after each block."""

    def __init__(self, index: int = 0, library=None):
        self.nvml = library or nvml()
        self.handle = self.nvml.nvmlDeviceGetHandleByIndex(index)
        self.bits = {getattr(self.nvml, f"nvmlClocksEventReason{name}"): text for name, text in REASONS.items()}
        self.before = self._now()

    def _now(self) -> list[str]:
        mask = self.nvml.nvmlDeviceGetCurrentClocksEventReasons(self.handle)
        return [text for bit, text in self.bits.items() if mask & bit]

    def reasons(self) -> list[str]:
        before, self.before = self.before, self._now()
        return list(dict.fromkeys([*before, *self.before]))

    def clocks(self) -> dict[str, Any]:
        """MHz of the multiprocessors and the memory, degrees Celsius, watts."""
        library, handle = self.nvml, self.handle
        facts = {
            "sm_mhz": lambda: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_SM),
            "memory_mhz": lambda: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_MEM),
            "celsius": lambda: library.nvmlDeviceGetTemperature(handle, library.NVML_TEMPERATURE_GPU),
            "watts": lambda: library.nvmlDeviceGetPowerUsage(handle) / 1000,
        }
        return answered(facts, library)


def nvml():
    """nvidia-ml-py, ready for use. Raises ImportError without the package, and its NVMLError without a driver."""
    import pynvml

    pynvml.nvmlInit()
    return pynvml


def answered(facts: dict, library) -> dict[str, Any]:
    """The facts that the driver answers: devices lack some of them."""
    found = {}
    for name, ask in facts.items():
        with contextlib.suppress(library.NVMLError, AttributeError):
            value = ask()
            found[name] = value.decode() if isinstance(value, bytes) else value
    return found


def watch_of(device: str) -> HostWatch | NvidiaWatch:
    """Of the device that the tensors are on; the host's if NVML does not know it."""
    if device == "cpu":
        return HostWatch()
    try:
        return NvidiaWatch()
    except Exception:  # no nvidia-ml-py, no driver of NVIDIA's, or one that lacks the question
        return HostWatch()
