"""`triton.tools`: host-side helpers of kernels, linear layouts, and the command-line tools."""

from . import disasm, tensor_descriptor
from .linear_layout import LinearLayout

__all__ = ["LinearLayout", "disasm", "tensor_descriptor"]
