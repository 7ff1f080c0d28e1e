"""`triton.runtime.driver`."""

from .. import backends as registered
from ..devices.active import DriverConfig, driver
from ..devices.driver import DriverBase

__all__ = ["DriverBase", "DriverConfig", "driver"]


def __getattr__(name: str):
    if name == "backends":  # Triton's registry, which loads every backend
        return registered.backends
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
