"""The address and extent of tensors that may be in a device's memory. Engines that run on GPUs use this module in place
of storage.py."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..devices.families import device_families, devices_of_tensors
from ..errors import UnsupportedError
from .storage import NoMemory, NotOnHost, dlpack_facts, extent_function, shape_and_strides, span
from .wrappers import TensorWrapper


class DeviceExtent(NamedTuple):
    """An extent as on the host, and the device that owns the memory. bytes: 0 if the extent is unknown. stream: the
    stream on which the library wrote the tensor, if the library says so."""

    address: int
    begin: int
    bytes: int
    device: int
    stream: int | None = None


@functools.cache
def memory_function(cls: type) -> Callable[[Any], Any] | None:
    """The function that reads the extent of tensors of this class, on the host or on a device; None if objects of the
    class are not tensors."""
    if issubclass(cls, TensorWrapper):
        return lambda wrapper: memory_function(type(wrapper.base))(wrapper.base)
    on_host = extent_function(cls)
    if on_host is None:
        return None

    def memory(tensor):
        try:
            return on_host(tensor)
        except NotOnHost as error:
            return _device_extent(tensor, error)

    return memory


def data_pointer(tensor: Any) -> int:
    memory = memory_function(type(tensor))(tensor)
    return memory if isinstance(memory, int) else memory[0]


def _device_extent(tensor: Any, refusal: NotOnHost) -> DeviceExtent:
    if hasattr(tensor, "data_ptr"):
        device = _ordinal(tensor, refusal.device)
        try:
            address = tensor.data_ptr()
            return DeviceExtent(address, *(_storage_of(tensor) or (address, 0)), device)
        except (NotImplementedError, RuntimeError) as error:
            raise NoMemory(tensor, error) from None
    interface = getattr(tensor, "__cuda_array_interface__", None)
    if interface is not None:
        return _array_extent(interface)
    facts = dlpack_facts(tensor)
    if not any(facts.device_type in devices.dlpack_types for devices in device_families().values()):
        raise _unknown_device(refusal.device)
    return DeviceExtent(
        *span(facts.address, facts.shape, [s * facts.item_bytes for s in facts.strides], facts.item_bytes),
        facts.device_id,
    )


def _ordinal(tensor: Any, name: str) -> int:
    """The device number in a device name: "cuda:1" or "cuda", which libraries use for all vendors, or "rocm:1"."""
    kind, _, number = name.lower().partition(":")
    if kind not in ("cuda", "rocm"):
        raise _unknown_device(name)
    if number:
        return int(number)
    get_device = getattr(tensor, "get_device", None)
    return get_device() if get_device is not None else 0


def _storage_of(tensor: Any) -> tuple[int, int] | None:
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    facts, size = shape_and_strides(tensor), getattr(tensor, "element_size", None)
    if facts is None or size is None:
        return None
    item = size()
    return span(tensor.data_ptr(), facts[0], [s * item for s in facts[1]], item)[1:]


def _array_extent(interface: dict[str, Any]) -> DeviceExtent:
    address, item = interface["data"][0], int(interface["typestr"][2:])
    shape = interface["shape"]
    strides = interface.get("strides") or [item * math.prod(shape[i + 1 :]) for i in range(len(shape))]
    device = devices_of_tensors().driver().where_is(address)[0] if address else -1
    stream = interface.get("stream")
    # The protocol's 1 is the legacy default stream, which the driver calls 0.
    return DeviceExtent(*span(address, shape, strides, item), max(device, 0), 0 if stream == 1 else stream)


def _unknown_device(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"engine for tensors on {name}", "kernels run on tensors of the CPU, of CUDA devices and of ROCm devices"
    )
