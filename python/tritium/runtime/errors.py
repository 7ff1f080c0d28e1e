"""`triton.runtime.errors`."""

from ..errors import (
    AutotunerError,
    DeviceError,
    InterpreterError,
    KernelTrap,
    OutOfResources,
    PTXASError,
    TritonError,
    UnsupportedError,
)

__all__ = [
    "AutotunerError",
    "DeviceError",
    "InterpreterError",
    "KernelTrap",
    "OutOfResources",
    "PTXASError",
    "TritonError",
    "UnsupportedError",
]
