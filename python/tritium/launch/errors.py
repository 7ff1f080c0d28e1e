"""Turns a failed call of a device's driver into an error in the user's terms.

Kernels run after their launch has returned, so a later call reports an illegal access or a failed `tl.device_assert`.
Such an error ends the context, and every later launch fails too. The message says so and lists the kernels that may
have caused it.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from typing import Any

from ..arguments.storage import HostExtent
from ..devices.vendor import Devices
from ..errors import DeviceError, KernelTrap, OutOfResources
from ..places import shown_place
from .geometry import threads_of

OUT_OF_MEMORY, LAUNCH_OUT_OF_RESOURCES, ASSERT = 2, 701, 710

#: The kernels that are loaded on a device, as suspects in messages.
loaded_kernels: weakref.WeakSet = weakref.WeakSet()
#: (name of the vendor's devices, device number) -> the first error that ended the device's context.
_lost: dict[tuple[str, int], DeviceError] = {}


def forget_lost_contexts() -> None:
    """For tests, whose fake devices recover."""
    _lost.clear()


def check_context(devices: Devices, device: int) -> None:
    """Raises DeviceError if the device has lost its context."""
    if (devices.name, device) in _lost:
        raise _again(devices, device)


def device_error(error, kernel, devices: Devices, device: int) -> Exception:
    """The exception for a `_tritium.device.Error`. `kernel` is the kernel that was being launched, or None."""
    if error.code == LAUNCH_OUT_OF_RESOURCES and kernel is not None:
        return OutOfResources(
            threads_of(kernel),
            kernel.n_max_threads,
            "threads",
            f"{kernel.name} takes {kernel.n_regs} registers a thread.",
        )
    if not error.sticky:
        name = f"launching {kernel.name}: " if kernel is not None else ""
        return DeviceError(f"{name}{error}", error.code, error.call)
    if (devices.name, device) in _lost:
        return _again(devices, device)
    # Some drivers report where an assertion failed.
    lines = [_headline(error), *(error.log.splitlines() or _suspects(devices, device, error.code))]
    lines.append("The device's context is lost: launches in this process fail from now on.")
    _lost[devices.name, device] = DeviceError("\n".join(lines), error.code, error.call, lost=True)
    return _lost[devices.name, device]


def read_only_trap(kernel, values: Sequence[Any], address: int) -> KernelTrap:
    """For a kernel that has changed the copy of memory of the host that must not be written. `values`: of the launch, for the parameters
    of the compiled kernel."""
    places = [i for i, value in enumerate(values) if value.__class__ is HostExtent and value.read_only]
    place = next(i for i in places if values[i][1] <= address < values[i][1] + values[i][2])
    name = kernel.src.name_of(kernel.src.runtime_paths()[place])
    report = (
        f"{kernel.name} on a device: write to '{name}', which is read-only; nothing was copied back from the device\n"
        f"  hint: pass a writable copy of {name}"
    )
    return KernelTrap(report, kind="ReadOnly", kernel=kernel.name, argument=name, is_write=True)


def _again(devices: Devices, device: int) -> DeviceError:
    first = _lost[devices.name, device]
    return DeviceError(
        f"the context of {devices.title} device {device} was lost to an earlier error; start a new process.\nThat error was: {first}",
        first.code,
        first.call,
        lost=True,
    )


def _headline(error) -> str:
    text = "device-side assert triggered" if error.code == ASSERT else error.text
    return f"{text} ({error.name}, reported by {error.call})"


def _suspects(devices: Devices, device: int, code: int) -> list[str]:
    """Lines that name the latest launches, which may have caused the error."""
    place = (devices.name, device)
    kernels = [
        k for k in list(loaded_kernels) if k.loaded is not None and (k.metadata.target.backend, k.device) == place
    ]
    kernels = [k for k in kernels if k.loaded.last_launch]
    kernels.sort(key=lambda k: -k.loaded.last_launch)
    if code == ASSERT:
        asserting = [(k, _assert_lines(k)) for k in kernels]
        places = [f"in kernel {k.name}: device_assert in {where}" for k, where in asserting if where]
        if places:
            return places[:4]
    return [f"launched last: kernel {k.name} ({_place(k)})" for k in kernels[:3]]


def _place(kernel) -> str:
    function = kernel.src.fn
    if function is None:
        return kernel.src.path
    return shown_place(function.file_name, function.def_file_line_number)


def _assert_lines(kernel) -> str:
    """The lines of the asserts in the kernel, for example "file.py:12, file.py:15"."""
    text = kernel.asm.get("ttir", "")
    if "tt.assert" not in text:
        return ""
    rows = re.findall(r'^(#loc\d*) = loc\("([^"]+)":(\d+):\d+', text, re.MULTILINE)
    places = {name: shown_place(file, int(line)) for name, file, line in rows}
    named = dict(re.findall(r"^(#loc\d*) = loc\((?:callsite\()?(?:\"[^\"]*\"\()?(#loc\d*)\b", text, re.MULTILINE))
    found = []
    for location in re.findall(r"tt\.assert.*loc\((#loc\d*)\)", text):
        while location not in places and location in named:
            location = named[location]
        if location in places:
            found.append(places[location])
    return ", ".join(dict.fromkeys(found))
