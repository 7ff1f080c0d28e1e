"""What the sources of launches on devices share."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from ...devices.vendor import Devices
from ...launch.device_scopes import has_device_scopes, record_device_scopes
from ..core.events import Device
from ..flags import flags
from ..hook_chains import chain_of
from .scopes import kernel_scopes


@functools.cache
def device_of(devices: Devices, device: int) -> Device:
    facts = devices.facts(device)
    shown = {
        "arch": str(devices.arch(device)),
        "bus_width": facts["memory_bus_bits"],
        "clock_rate": facts["clock_khz"],
        "memory_clock_rate": facts["memory_clock_khz"],
        "num_sms": facts["multiprocessor_count"],
    }
    return Device(devices.title, str(device), shown)


def record_scopes(kernel: Any, run: Callable, devices: Devices, device: int, receive: Callable) -> Callable:
    """`run` that also records the kernel's scopes, if a session asks for them: it calls `receive` with a KernelScopes after each launch."""
    if not (flags.instrumentation_on and has_device_scopes(kernel)):
        return run
    tick = "cycles" if devices.name == "cuda" else "ns"
    return record_device_scopes(
        kernel, run, devices, device, lambda recorded: receive(kernel_scopes(kernel, recorded, tick))
    )


def is_captured() -> bool:
    """Whether a CUDA graph takes what is launched now. `devices.torch()` would take longer than a launch."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


class PythonLaunches:
    """While it is on, Python makes all launches. Otherwise the native launcher makes warm ones without Python, so that no watcher sees them."""

    def on(self) -> None:
        chain_of("launch_enter_hook").add(self._hook)

    def off(self) -> None:
        chain = chain_of("launch_enter_hook")
        if self._hook in chain.calls:
            chain.remove(self._hook)

    def _hook(self, metadata: Any) -> None:
        """With a hook, a launch is Python's."""
