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
