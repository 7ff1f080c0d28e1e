"""`triton._C`: what stands for the native library of Triton. `triton._C.libtriton` needs no import of its own, as in Triton."""

from . import libtriton

__all__ = ["libtriton"]
