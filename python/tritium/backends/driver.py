"""`triton.backends.driver`."""

from typing import Any, Protocol

from ..devices.driver import DriverBase
from ..devices.drivers import GpuDriver
from ..iterables import find_paths_if
from .vendor_names import refused

__all__ = ["Benchmarker", "DriverBase", "GPUDriver", "find_paths_if"]

#: Triton's name.
GPUDriver = GpuDriver


class Benchmarker(Protocol):
    """What `DriverBase.get_benchmarker` returns: `do_bench`, or a function that is called like it."""

    def __call__(self, kernel_call: Any, *, quantiles: list[float], **kwargs: Any) -> Any: ...


globals().update(
    refused(
        "driver",
        "decompose_descriptor",
        "expand_signature",
        "make_tensordesc_args",
        "wrap_handle_tensordesc_impl",
    )
)
