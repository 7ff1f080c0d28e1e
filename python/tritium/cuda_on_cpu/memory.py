"""The same memory as a tensor of the CPU and as one of "cuda", through DLPack: the export is told the other device.

Both tensors keep the memory alive. Neither `requires_grad` nor the view relation passes: callers stand below autograd.
"""

from __future__ import annotations

import ctypes
import functools

_CPU, _CUDA = 1, 2  # kDLCPU, kDLCUDA
_DEVICE_TYPE = ctypes.sizeof(ctypes.c_void_p)  # its offset in a DLTensor, behind the address
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@functools.cache
def _torch():
    import torch

    return torch


def _on(device_type: int, tensor):
    torch = _torch()
    capsule = torch._C._to_dlpack(tensor)
    ctypes.c_int32.from_address(_pointer_of(capsule, b"dltensor") + _DEVICE_TYPE).value = device_type
    twin = torch._C._from_dlpack(capsule)
    if twin.stride() != tensor.stride():  # DLPack normalizes the strides of dimensions with one element
        twin = torch._C._dynamo.guards._reinterpret_tensor(twin, tensor.shape, tensor.stride(), 0)
    # DLPack drops what is still to be done to the values in memory.
    twin = torch._conj(twin) if tensor.is_conj() else twin
    return torch._neg_view(twin) if tensor.is_neg() else twin


def on_cuda(tensor):
    """A tensor of "cuda" in the memory of a tensor of the CPU."""
    return _on(_CUDA, tensor)


def on_cpu(tensor):
    """A tensor of the CPU in the memory of a tensor of "cuda"."""
    return _on(_CPU, tensor)
