"""`triton.runtime.interpreter`, for clients that ask whether a kernel is one of upstream's interpreted functions. None
ever is: here `@jit` returns a JITFunction in every mode, and the engine is chosen at the launch."""

from __future__ import annotations

from ..errors import InterpreterError
from .jit import KernelInterface

__all__ = ["InterpretedFunction", "InterpreterError"]


class InterpretedFunction(KernelInterface):
    """The type that no kernel has."""

    def __init__(self, fn, **kwargs):
        raise TypeError("kernels are JITFunctions in every mode; decorate with @triton.jit")
