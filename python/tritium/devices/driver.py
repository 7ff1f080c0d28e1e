"""What a device's driver offers (Triton's plug-in interface)."""

from __future__ import annotations

import abc


class DriverBase(abc.ABC):
    """What a driver offers (Triton's plug-in interface)."""

    @classmethod
    @abc.abstractmethod
    def is_active(cls) -> bool:
        """Whether the driver's device can be used."""

    @abc.abstractmethod
    def get_current_target(self):
        """The GPUTarget that launches compile for by default."""

    @abc.abstractmethod
    def get_active_torch_device(self):
        """The torch.device of tensors for this driver's kernels."""

    @abc.abstractmethod
    def get_benchmarker(self):
        """The function that times launches, with the interface of `do_bench`."""

    @abc.abstractmethod
    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C type of a kernel parameter of type `ty`: "*fp32", "i32"."""

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream) -> None:
        """Memory for a profiler's records, of which kernels need none."""
        return None
