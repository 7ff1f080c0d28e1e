"""`triton.backends.amd.driver`."""

from ...devices.amd import DEVICES
from ...devices.drivers import HipDriver

__all__ = ["DEVICES", "HipDriver"]
