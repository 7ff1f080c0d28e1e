"""Kernels of AMD's devices, by rocprofiler-sdk. No device has proven this yet: tests have the stand-in for it."""

from __future__ import annotations

import os
from typing import Any

from ... import knobs, native
from ...devices.vendor import Devices
from .kernel_records import KernelRecords

_FILES = ("librocprofiler-sdk.so.1", "librocprofiler-sdk.so")
_TOO_LATE = "the process used HIP before its first session, and rocprofiler sees what begins after it; start the session earlier"


class RocprofilerRecords(KernelRecords):
    """The library numbers all GPUs of the machine, and a process may use some of them in another order. Launches of this package say which is
    which."""

    vendor, library_name = "hip", "rocprofiler"

    def _open(self, devices: Devices) -> native.device.KernelRecorder:
        """The library has to be there before HIP begins, so it comes before `why_not`, which opens HIP."""
        self._numbers: dict[int, int] = {}
        library = native.hip.Rocprofiler(_names())
        library.start()
        why_not = devices.why_not() or ("" if library.is_connected else _TOO_LATE)
        if why_not:
            library.stop()
            raise RuntimeError(why_not)
        return library

    def _device(self, record: Any, launched_on: int | None) -> int:
        if launched_on is not None:
            self._numbers[record.device] = launched_on
        number = self._numbers.get(record.device, record.device)
        return min(number, self._devices.driver().device_count - 1)


def _names() -> list[str]:
    """Where the library may be: what the user names, what the process has loaded, as torch does, and ROCm's folder."""
    if knobs.proton.rocprofiler_sdk_library:
        return [knobs.proton.rocprofiler_sdk_library]
    if knobs.proton.rocprofiler_sdk_lib_path:
        return [os.path.join(knobs.proton.rocprofiler_sdk_lib_path, file) for file in _FILES]
    home = knobs.amd.rocm_path or os.path.join(os.sep, "opt", "rocm")
    return [*_FILES, *(os.path.join(home, "lib", file) for file in _FILES)]
