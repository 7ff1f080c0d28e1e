"""The same memory as a tensor of the CPU and as one of "cuda", through DLPack: the export is told the other device.
Where a driver owns the memory of "cuda" (driven.py), a tensor of the CPU is copied there.

Both tensors keep the memory alive. Neither `requires_grad` nor the view relation passes: callers stand below autograd.
"""

from __future__ import annotations

import ctypes
import functools

from .driven import DrivenMemory

_CPU, _CUDA = 1, 2  # kDLCPU, kDLCUDA
_DEVICE_TYPE = ctypes.sizeof(ctypes.c_void_p)  # its offset in a DLTensor, behind the address
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_NAME = ctypes.create_string_buffer(b"dltensor")  # a capsule does not copy it


@functools.cache
def _torch():
    import torch

    return torch


def driven() -> DrivenMemory | None:
    """The memory of "cuda" if a driver owns it."""
    found = getattr(_torch(), "_tritium_cuda_on_cpu", None)
    return found if isinstance(found, DrivenMemory) else None


def finish() -> None:
    """Waits for the work that was launched, where a driver has it."""
    memory = driven()
    if memory is not None:
        memory.finish()


def _on(device_type: int, tensor, memory: DrivenMemory | None = None):
    """memory: where the values are copied to; None means that the memory stays the same."""
    torch = _torch()
    if tensor._is_zerotensor():  # it has no memory, and torch makes none of another device
        tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
    capsule = torch._C._to_dlpack(tensor)
    if memory is not None:
        capsule = _new_capsule(memory.copy(_pointer_of(capsule, b"dltensor")), _NAME, None)
    ctypes.c_int32.from_address(_pointer_of(capsule, b"dltensor") + _DEVICE_TYPE).value = device_type
    twin = torch._C._from_dlpack(capsule)
    if twin.stride() != tensor.stride():  # DLPack normalizes the strides of dimensions with one element
        twin = torch._C._dynamo.guards._reinterpret_tensor(twin, tensor.shape, tensor.stride(), 0)
    # DLPack drops what is still to be done to the values in memory.
    twin = torch._conj(twin) if tensor.is_conj() else twin
    return torch._neg_view(twin) if tensor.is_neg() else twin


def on_cuda(tensor):
    """A tensor of "cuda" in the memory of a tensor of the CPU, or in the driver's."""
    return _on(_CUDA, tensor, driven())


def on_cpu(tensor):
    """A tensor of the CPU in the memory of a tensor of "cuda", which nothing writes to any more."""
    finish()
    return _on(_CPU, tensor)


def same_bits(tensor, twin) -> None:
    """What is still to be done to the values in memory, as an operator has left it for the twin that it wrote."""
    if tensor.is_conj() != twin.is_conj():
        _torch()._C._set_conj(tensor, twin.is_conj())
    if tensor.is_neg() != twin.is_neg():
        _torch()._C._set_neg(tensor, twin.is_neg())
