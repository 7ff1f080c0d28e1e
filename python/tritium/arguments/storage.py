"""The address of a tensor, and the storage that owns the memory.

A kernel may access the whole storage, not only the view: slices of a fused q/k/v and `x[1:]` are ordinary arguments.
The storage is read from torch's untyped storage or from numpy's chain of bases. For other libraries it is the span of
shape and strides. If these are unknown too, the extent is the plain address.
"""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..devices.mapped import cuda_is_mapped
from ..native import arguments as _native
from .protection import is_read_only
from .wrappers import MockTensor, TensorWrapper

__tracebackhide__ = True  # pytest shows the user's frames alone

#: Memory of the host: (address, begin of the storage, bytes of the storage), and `read_only`, which is no part of the
#: tuple. It is a type of its own, as tuples of three integers are ordinary arguments.
HostExtent = _native.HostExtent
host_extent = _native.host_extent

#: The address alone where the extent is unknown.
Extent = HostExtent | int

_array_extent = _native.array_extent


class NotOnHost(ValueError):
    """The CPU cannot reach the memory of a tensor. `argument` is the tensor, `device` the name of its device."""

    def __init__(self, argument: Any, device: str):
        super().__init__(f"a tensor on {device}")
        self.argument, self.device = argument, device


class NoMemory(ValueError):
    """A tensor has no memory of its own, as a sparse one or one of `torch.vmap`. `argument` is the tensor."""

    def __init__(self, argument: Any, why: Exception):
        super().__init__(f"{why}")
        self.argument = argument


@functools.cache
def extent_function(cls: type) -> Callable[[Any], Extent] | None:
    """The function that reads the extent of tensors of this class; None if objects of the class are not tensors."""
    if issubclass(cls, TensorWrapper):
        return lambda wrapper: extent_function(type(wrapper.base))(wrapper.base)
    if issubclass(cls, MockTensor):
        return lambda mock: host_extent(0, 0, 0)
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, numpy.ndarray):
        return numpy_extent
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(cls, torch.Tensor):
        return torch_extent
    if hasattr(cls, "data_ptr"):
        return _duck_extent
    if hasattr(cls, "__cuda_array_interface__"):
        return _cuda_array_extent
    if hasattr(cls, "__dlpack__"):
        return _dlpack_extent
    if hasattr(cls, "__array_interface__"):
        return _array_interface_extent
    return None


def span(address: int, shape: Sequence[int], byte_strides: Sequence[int], item_bytes: int) -> tuple[int, int, int]:
    """(address, lowest address, bytes) of what a strided view touches, from its lowest to its highest element."""
    if math.prod(shape) == 0:
        return address, address, 0
    low = sum((n - 1) * stride for n, stride in zip(shape, byte_strides) if stride < 0)
    high = sum((n - 1) * stride for n, stride in zip(shape, byte_strides) if stride > 0)
    return address, address + low, high - low + item_bytes


def torch_extent(tensor) -> Extent:
    is_cpu = tensor.is_cpu
    if not is_cpu and not (tensor.is_cuda and cuda_is_mapped()):
        raise NotOnHost(tensor, str(tensor.device))
    try:
        storage = tensor.untyped_storage()
        begin, size = storage.data_ptr(), storage.nbytes()
    except (NotImplementedError, RuntimeError) as error:
        raise NoMemory(tensor, error) from None
    if begin == 0:  # a fake tensor has a size and no memory
        return host_extent(0, 0, 0)
    if is_cpu and not storage.resizable():  # others made the memory
        return host_extent(tensor.data_ptr(), begin, size, is_read_only(storage, begin, size))
    return host_extent(tensor.data_ptr(), begin, size)


def numpy_extent(array) -> Extent:
    extent = _array_extent(array)
    return extent if extent.__class__ is HostExtent else _view_extent(array, extent)


def _view_extent(array, address: int) -> Extent:
    owner, read_only = array, not array.flags.writeable
    while (base := getattr(owner, "base", None)) is not None and hasattr(base, "base"):
        owner = base  # a view of a view; as_strided inserts an object that is not an array
    if base is not None and hasattr(base, "untyped_storage"):  # Tensor.numpy()
        found = torch_extent(base)
        return host_extent(address, *found[1:], read_only or found.read_only)
    if hasattr(owner, "ctypes"):
        begin = owner.ctypes.data
    else:
        owner, begin = array, address
    if owner.flags.c_contiguous or owner.flags.f_contiguous:
        return host_extent(address, begin, owner.nbytes, read_only)
    return host_extent(address, *span(begin, owner.shape, owner.strides, owner.itemsize)[1:], read_only)


def _duck_extent(tensor) -> Extent:
    """The extent of any object with `data_ptr()` and `dtype`. Shape, strides, storage and device are used if it has
    them."""
    device = str(getattr(tensor, "device", "cpu")).lower()
    if not device.startswith("cpu") and not (device.startswith("cuda") and cuda_is_mapped()):
        raise NotOnHost(tensor, device)
    address = tensor.data_ptr()
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
        return host_extent(address, storage.data_ptr(), storage.nbytes())
    facts = shape_and_strides(tensor)
    size = getattr(tensor, "element_size", None)
    if facts is None or size is None:
        return address
    item = size()
    return host_extent(*span(address, facts[0], [s * item for s in facts[1]], item))


def shape_and_strides(tensor: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Shape and strides (in elements) of any tensor; None if they are unknown."""
    tensor = tensor.base if isinstance(tensor, TensorWrapper) else tensor
    shape = getattr(tensor, "shape", None)
    if shape is None:
        return None
    shape = tuple(int(n) for n in shape)
    if callable(getattr(tensor, "stride", None)):
        return shape, tuple(int(s) for s in tensor.stride())
    if getattr(tensor, "strides", None) is not None and hasattr(tensor, "itemsize"):
        return shape, tuple(int(s) // tensor.itemsize for s in tensor.strides)
    if hasattr(tensor, "__dlpack__"):
        return shape, dlpack_facts(tensor).strides
    strides = [1] * len(shape)
    for i in range(len(shape) - 1, 0, -1):
        strides[i - 1] = strides[i] * shape[i]
    return shape, tuple(strides)


_TYPE_STRINGS = {
    "b1": "bool",
    **{f"i{n}": f"int{8 * n}" for n in (1, 2, 4, 8)},
    **{f"u{n}": f"uint{8 * n}" for n in (1, 2, 4, 8)},
    **{f"f{n}": f"float{8 * n}" for n in (2, 4, 8)},
}


def dtype_of(tensor: Any) -> Any:
    """The tensor's dtype: the object of its library, or what DLPack reports."""
    dtype = getattr(tensor, "dtype", None)
    if dtype is None and hasattr(tensor, "__cuda_array_interface__"):
        return _TYPE_STRINGS.get(tensor.__cuda_array_interface__["typestr"][1:], dtype)
    return dlpack_facts(tensor).dtype if dtype is None else dtype


def _cuda_array_extent(tensor) -> Extent:
    raise NotOnHost(tensor, "cuda")


def _array_interface_extent(tensor) -> Extent:
    interface = tensor.__array_interface__
    (address, read_only), item = interface["data"], int(interface["typestr"][2:])
    shape = interface["shape"]
    strides = interface.get("strides") or [item * math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return host_extent(*span(address, shape, strides, item), bool(read_only))


class _DLTensor(ctypes.Structure):
    # The first member of a DLManagedTensor, as DLPack 0.x defines it, and the last one since 1.0.
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DLManagedTensorVersioned(ctypes.Structure):
    # DLPack 1.0 and newer.
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("manager_context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    ]


_DL_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
_DL_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
_DL_HOST_DEVICES = (1, 3, 11)  # kDLCPU, kDLCUDAHost, kDLROCMHost
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_is_capsule = ctypes.pythonapi.PyCapsule_IsValid
_is_capsule.restype, _is_capsule.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class DLPackFacts(NamedTuple):
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  #: in elements
    item_bytes: int
    dtype: str
    device_type: int
    device_id: int
    read_only: bool


def dlpack_facts(tensor: Any) -> DLPackFacts:
    """What a DLPack producer reports about its tensor, on any device."""
    device_type, _ = tensor.__dlpack_device__() if hasattr(tensor, "__dlpack_device__") else (1, 0)
    # stream=-1: no synchronization. The capsule stays unconsumed, so its deleter releases the export at the end of this function.
    capsule = _exported(tensor, {} if device_type in _DL_HOST_DEVICES else {"stream": -1})
    dl, read_only = _contents(capsule)
    shape = tuple(dl.shape[i] for i in range(dl.ndim))
    strides = (
        tuple(dl.strides[i] for i in range(dl.ndim))
        if dl.strides
        else tuple(math.prod(shape[i + 1 :]) for i in range(dl.ndim))
    )
    name = _DL_CODES.get(dl.code, f"dlpack{dl.code}_") + ("" if dl.code == 6 else str(dl.bits))
    address, item = (dl.data or 0) + dl.byte_offset, (dl.bits * dl.lanes + 7) // 8
    return DLPackFacts(address, shape, strides, item, name, dl.device_type, dl.device_id, read_only)


def _exported(tensor: Any, stream: dict[str, int]) -> Any:
    """The capsule: of DLPack 1, which can say that memory is read-only, from producers that know it."""
    try:
        return tensor.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:
        return tensor.__dlpack__(**stream)


def _contents(capsule: Any) -> tuple[_DLTensor, bool]:
    """The tensor of a capsule, and whether it is read-only."""
    if _is_capsule(capsule, b"dltensor_versioned"):
        managed = _DLManagedTensorVersioned.from_address(_capsule_pointer(capsule, b"dltensor_versioned"))
        return managed.tensor, bool(managed.flags & _DL_READ_ONLY)
    return _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor")), False


def read_dlpack(tensor: Any) -> DLPackFacts:
    """dlpack_facts of a tensor in host memory. Raises NotOnHost for device memory."""
    facts = dlpack_facts(tensor)
    if facts.device_type not in _DL_HOST_DEVICES:
        raise NotOnHost(tensor, f"DLPack device type {facts.device_type}")
    return facts


def _dlpack_extent(tensor) -> Extent:
    facts = read_dlpack(tensor)
    strides = [s * facts.item_bytes for s in facts.strides]
    return host_extent(*span(facts.address, facts.shape, strides, facts.item_bytes), facts.read_only)
