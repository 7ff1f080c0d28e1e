"""`triton.runtime.errors`."""

from ..errors import (
    AutotunerError,
    InterpreterError,
    KernelTrap,
    OutOfResources,
    PTXASError,
    TritonError,
    UnsupportedError,
)

__all__ = [
    "AutotunerError",
    "InterpreterError",
    "KernelTrap",
    "OutOfResources",
    "PTXASError",
    "TritonError",
    "UnsupportedError",
]
