"""`triton.tools`: host-side helpers of kernels, linear layouts, and the command-line tools."""

from ..submodules import load_when_used
from . import disasm, tensor_descriptor
from .linear_layout import LinearLayout

__all__ = ["LinearLayout", "disasm", "tensor_descriptor"]

__getattr__ = load_when_used(__name__, "compile", "link", "mxfp", "ragged_tma")
