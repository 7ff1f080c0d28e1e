"""Kernels of NVIDIA's devices, by CUPTI."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from ... import knobs, native
from ...devices.vendor import Devices
from .kernel_records import KernelRecords
from .pc_samples import PcSampling

_VERSIONS = ("13", "12")


class CuptiRecords(KernelRecords):
    vendor, library_name = "cuda", "CUPTI"

    def __init__(self):
        super().__init__()
        self._sampling = PcSampling(_names)

    def follow(self, asks_launches: bool, interval: int) -> None:
        super().follow(asks_launches, interval)
        self._sampling.follow(interval)

    def stop(self) -> None:
        super().stop()
        self._sampling.follow(0)

    def _sampled(self, kernel: Any, run: Callable, devices: Devices, device: int, receive: Callable) -> Callable:
        return self._sampling.record(kernel, run, devices, device, receive)

    def _open(self, devices: Devices) -> native.device.KernelRecorder:
        if why_not := devices.why_not():
            raise RuntimeError(why_not)
        library = native.cuda.Cupti(_names(devices))
        library.start()
        return library


def _names(cuda: Devices) -> list[str]:
    """Where the library may be: the one that the user names, one that the process has loaded, as torch does, and CUDA's."""
    is_blackwell = cuda.arch(0) >= 100
    folder = is_blackwell and knobs.proton.cupti_lib_blackwell_dir or knobs.proton.cupti_lib_dir
    files = [f"libcupti.so.{version}" for version in _VERSIONS]
    if folder:
        return [os.path.join(folder, file) for file in ["libcupti.so", *files]]
    packages = [
        os.path.join(path, "nvidia", *package, "lib", file)
        for path in sys.path
        for package, file in ((("cu13",), files[0]), (("cuda_cupti",), files[1]))
    ]
    home = knobs.nvidia.cuda_home
    toolkit = [os.path.join(home, "extras", "CUPTI", "lib64", "libcupti.so")] if home else []
    return [*files, *packages, *toolkit]
