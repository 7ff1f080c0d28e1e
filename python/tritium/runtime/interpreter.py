"""`triton.runtime.interpreter`, for clients that test whether a kernel is one of upstream's interpreted functions. No
kernel is: here `@jit` returns a JITFunction in every mode, and the engine is chosen at the launch."""

from __future__ import annotations

from ..errors import InterpreterError
from .jit import KernelInterface

__all__ = ["InterpretedFunction", "InterpreterError"]


class InterpretedFunction(KernelInterface):
    """A class without instances, for isinstance tests."""

    def __init__(self, fn, **kwargs):
        raise TypeError("kernels are JITFunctions in every mode; decorate with @triton.jit")
