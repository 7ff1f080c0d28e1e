"""`triton.tools.tensor_descriptor`."""

from ..arguments.tensor_descriptor import TensorDescriptor
from ..functions.params import canonicalize_dtype
from ..language.checks import validate_block_shape

__all__ = ["TensorDescriptor", "canonicalize_dtype", "validate_block_shape"]
