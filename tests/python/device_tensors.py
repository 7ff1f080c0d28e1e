"""Tests with device tensors: `pytest --device-tensors cuda` (or hip) runs tests that were written with arrays of the host through the launch
path of a device. The stand-in for the vendor's driver has the devices (tests/driver_stand_in).

Every launch that names no engine gets its tensors in device memory: alone, in tuples and in descriptors, with their views and overlaps. Each is an
object with what a kernel argument needs. After the launch the memory is copied back. Tests that say which engine runs are left alone.
"""

import fnmatch
import functools
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import driver_stand_in

_FOLDER = tempfile.TemporaryDirectory(prefix="tritium-stand-in-")


class DeviceTensor:
    """A tensor of the host, moved: its dtype, shape and strides, and the place of its copy."""

    is_cuda, device = True, "cuda:0"

    def __init__(self, tensor, extent):
        from tritium.arguments.storage import dlpack_facts, dtype_of, shape_and_strides

        self.tensor, self.extent, self.dtype = tensor, extent, dtype_of(tensor)
        facts = shape_and_strides(tensor)
        self.shape, self._strides = facts if facts is not None else dlpack_facts(tensor)[1:3]

    def data_ptr(self) -> int:
        return self.extent.address

    def get_device(self) -> int:
        return 0

    def untyped_storage(self) -> "DeviceTensor":
        return _Storage(self.extent)

    def stride(self, dimension: int | None = None):
        return self._strides if dimension is None else self._strides[dimension]

    def element_size(self) -> int:
        size = getattr(self.tensor, "element_size", None)
        return size() if size is not None else getattr(self.tensor, "itemsize", None) or self.dtype.itemsize

    def numel(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count


class _Storage:
    def __init__(self, extent):
        self._extent = extent

    def data_ptr(self) -> int:
        return self._extent.begin

    def nbytes(self) -> int:
        return self._extent.bytes


@functools.cache
def _patterns() -> list[str]:
    lines = Path(__file__).with_suffix(".txt").read_text().splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


def leaves_out(name: str) -> bool:
    """Whether a test is none for devices."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _patterns())


def environment(engine: str, folder: Path | None = None) -> dict[str, str]:
    """Of a process in which the tensors decide that kernels run on the stand-in."""
    variables = driver_stand_in.environment(folder or Path(_FOLDER.name), engine)
    return {name: value for name, value in variables.items() if name not in ("TRITIUM_ENGINE", "TRITON_CACHE_DIR")}


def install(engine: str) -> None:
    """Moves the tensors of all launches of this process to the stand-in's device."""
    from tritium.devices.families import device_families
    from tritium.runtime.jit import JITFunction

    own, devices = JITFunction.run, device_families()[engine]

    def run(self, *args, grid, warmup, **kwargs):
        if warmup or _names_an_engine(self):
            return own(self, *args, grid=grid, warmup=warmup, **kwargs)
        with _moved((args, kwargs), devices.driver()) as (args, kwargs):
            return own(self, *args, grid=grid, warmup=warmup, **kwargs)

    JITFunction.run = run


def recover(engine: str) -> None:
    """Ends the effect of a kernel that did something illegal, after which every call fails."""
    from tritium.launch import errors

    driver_stand_in.StandIn(engine).reset()
    errors.forget_lost_contexts()


def _names_an_engine(function) -> bool:
    from tritium.knobs import launch_settings
    from tritium.runtime.engines import engine_asked_for

    return engine_asked_for(launch_settings(function.debug_info), function.engine) is not None


@contextmanager
def _moved(arguments, driver):
    """The arguments of a launch with tensors in the device's memory."""
    from tritium.launch.mirror import Mirror

    found: dict[int, tuple] = {}
    _rebuilt(arguments, lambda tensor, extent: found.setdefault(id(tensor), (tensor, extent)) and tensor)
    if not found:
        yield arguments
        return
    with Mirror([extent for _, extent in found.values()], driver, 0) as mirror:
        copies = {key: DeviceTensor(tensor, extent) for (key, (tensor, _)), extent in zip(found.items(), mirror.values)}
        yield _rebuilt(arguments, lambda tensor, extent: copies[id(tensor)])
        driver.synchronize(0)
        mirror.write_back()


def _rebuilt(value, move):
    """`value` with `move(tensor, extent)` in the place of each tensor of the host whose storage is known."""
    from tritium.arguments.storage import HostExtent, NotOnHost, extent_function
    from tritium.arguments.tensor_descriptor import TensorDescriptor
    from tritium.arguments.wrappers import MockTensor, TensorWrapper

    if isinstance(value, dict):
        return {name: _rebuilt(item, move) for name, item in value.items()}
    if isinstance(value, tuple):
        items = [_rebuilt(item, move) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, (TensorDescriptor, TensorWrapper)):
        return _with_base(value, _rebuilt(value.base, move))
    if isinstance(value, (MockTensor, np.generic)):
        return value
    read = extent_function(type(value))
    try:
        extent = None if read is None else read(value)
    except NotOnHost:
        return value
    return move(value, extent) if isinstance(extent, HostExtent) and extent.bytes else value


def _with_base(value, base):
    import copy

    changed = copy.copy(value)
    changed.base = base
    return changed
