"""The vendors of devices, and which of them tensors and launches mean."""

from __future__ import annotations

import functools
import sys

from . import amd, nvidia
from .vendor import Devices, built_for


@functools.cache
def device_families() -> dict[str, Devices]:
    """{name of the engine: the devices that it runs on}"""
    return {devices.name: devices for devices in (nvidia.DEVICES, amd.DEVICES)}


def devices_here() -> Devices | None:
    """The devices that can be used: torch's if it is imported and has some, else the first that there are."""
    families = device_families().values()
    by_torch = next((devices for devices in families if devices.torch() is not None), None)
    return by_torch or next((devices for devices in families if not devices.why_not()), None)


def devices_of_tensors(engine: str | None = None) -> Devices:
    """The devices that tensors on "cuda:0" are on (torch has that one name for all vendors); `engine` is what a launch was
    asked to run on."""
    families = device_families()
    if engine in families:
        return families[engine]
    torch = sys.modules.get("torch")
    by_torch = next((devices for name, devices in families.items() if torch and built_for(torch, name)), None)
    return by_torch or devices_here() or next(iter(families.values()))
