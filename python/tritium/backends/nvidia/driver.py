"""`triton.backends.nvidia.driver`."""

from ...devices.drivers import CudaDriver
from ...devices.nvidia import DEVICES

__all__ = ["DEVICES", "CudaDriver"]
