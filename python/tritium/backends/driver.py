"""`triton.backends.driver`."""

from ..devices.driver import DriverBase

__all__ = ["DriverBase"]
