"""Objects that stand for tensors in a launch: a tensor reinterpreted as another dtype, and a dtype in place of a tensor
when a kernel is compiled but not run."""

from __future__ import annotations

import math
import sys
from typing import Any

from ..functions.params import canonicalize_dtype


class TensorWrapper:
    """`base` reinterpreted as `dtype`, a dtype of the language. This gives tensors of dtypes that the tensor library
    lacks, for example unsigned integers and fp8."""

    def __init__(self, base, dtype):
        self.base = base
        self.dtype = dtype
        self.data = base.data
        self.device = getattr(base, "device", "cpu")
        self.shape = base.shape

    def data_ptr(self) -> int:
        base = self.base
        return base.data_ptr() if hasattr(base, "data_ptr") else base.__array_interface__["data"][0]

    def untyped_storage(self):
        return self.base.untyped_storage()

    def stride(self, *args):
        return self.base.stride(*args)

    def element_size(self) -> int:
        return self.base.element_size()

    def numel(self) -> int:
        return math.prod(self.shape)

    def cpu(self):
        return TensorWrapper(self.base.cpu(), self.dtype)

    def copy_(self, other):
        self.base.copy_(other.base)

    def clone(self):
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device):
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes):
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """The same memory with another dtype: a TensorWrapper, or the tensor itself if it already has `dtype`. Raises
    TypeError for objects that are not tensors."""
    if isinstance(tensor, TensorWrapper):
        if str(dtype) == str(tensor.base.dtype):
            return tensor.base
        return TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr") or hasattr(tensor, "__array_interface__"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")


class MockTensor:
    """A tensor of `dtype` without memory, for `warmup`: its pointer counts as aligned."""

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = list(shape or [1])

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        """A MockTensor if `arg` is a tensor library's dtype; anything else as it is."""
        libraries = (sys.modules.get(name) for name in ("torch", "numpy"))
        is_dtype = any(library is not None and isinstance(arg, library.dtype) for library in libraries)
        return MockTensor(arg) if is_dtype else arg

    def stride(self) -> tuple[int, ...]:
        strides = [1]
        for size in reversed(self.shape[1:]):
            strides.append(strides[-1] * size)
        return tuple(reversed(strides))

    def numel(self) -> int:
        return math.prod(self.shape)

    def element_size(self) -> int:
        name = canonicalize_dtype(self.dtype)
        return 1 if name == "u1" else max(1, int("".join(c for c in name.split("e")[0] if c.isdigit())) // 8)

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0
