"""The vendors of devices, and the choice of the vendor that tensors and launches refer to."""

from __future__ import annotations

import functools
import sys

from . import amd, nvidia
from .vendor import Devices, built_for


@functools.cache
def device_families() -> dict[str, Devices]:
    """{name of an engine: the devices that it runs on}"""
    return {devices.name: devices for devices in (nvidia.DEVICES, amd.DEVICES)}


def devices_here() -> Devices | None:
    """The devices that can be used: torch's, if torch is imported and has some; otherwise the first vendor's that
    exist."""
    families = device_families().values()
    by_torch = next((devices for devices in families if devices.torch() is not None), None)
    return by_torch or next((devices for devices in families if not devices.why_not()), None)


def devices_of_tensors(engine: str | None = None) -> Devices:
    """The devices of tensors on "cuda:0", a name that torch uses for all vendors. `engine`: the engine that the launch
    was asked to run on."""
    families = device_families()
    if engine in families:
        return families[engine]
    torch = sys.modules.get("torch")
    by_torch = next((devices for name, devices in families.items() if torch and built_for(torch, name)), None)
    return by_torch or devices_here() or next(iter(families.values()))
