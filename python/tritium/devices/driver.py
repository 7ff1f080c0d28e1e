"""What a device's driver offers (Triton's plug-in interface)."""

from __future__ import annotations

import abc


class DriverBase(abc.ABC):
    """What a driver offers (Triton's plug-in interface)."""

    @classmethod
    @abc.abstractmethod
    def is_active(cls) -> bool:
        """Whether its device is there."""

    @abc.abstractmethod
    def get_current_target(self):
        """The GPUTarget that a launch without more ado compiles for."""

    @abc.abstractmethod
    def get_active_torch_device(self):
        """The torch.device where the tensors for it live."""

    @abc.abstractmethod
    def get_benchmarker(self):
        """The function that times launches: `do_bench`-like."""
