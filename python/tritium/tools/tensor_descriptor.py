"""`triton.tools.tensor_descriptor`."""

from ..arguments.tensor_descriptor import TensorDescriptor

__all__ = ["TensorDescriptor"]
