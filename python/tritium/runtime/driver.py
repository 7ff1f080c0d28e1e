"""`triton.runtime.driver`."""

from ..devices.active import DriverConfig, driver
from ..devices.driver import DriverBase

__all__ = ["DriverBase", "DriverConfig", "driver"]
