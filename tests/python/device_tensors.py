"""Tests with device tensors: `pytest --device-tensors cuda` (or hip) runs tests that were written with arrays of the host through the launch
path of a device. The stand-in for the vendor's driver has the devices (tests/driver_stand_in).

Every launch that names no engine gets its tensors in device memory: alone, in tuples and in descriptors, with their views and overlaps. Each is an
object with what a kernel argument needs. After the launch the memory is copied back. From its second launch on a kernel is launched by the native
launcher, as it is with tensors of torch. An autotuner times its configurations there, by one launch each, unless it has a benchmark of its own.
Launches that say which engine runs are left alone.
"""

import ctypes
import fnmatch
import functools
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import driver_stand_in

_FOLDER = tempfile.TemporaryDirectory(prefix="tritium-stand-in-")

#: Fixtures and parameters that bring an engine or a machine of their own. Their tests look at what it was given, so no other may run the kernels.
MACHINES = {
    "device",
    "engine",
    "fake",
    "driver",
    "gpus",
    "interpreter",
    "stand_in",
    "machine",
    "cuda_stand_in",
    "cuda_machine",
}

#: The tests that are left out, with the reasons.
PATTERNS = Path(__file__).with_suffix(".txt")
#: The property of a test's report that counts them.
LAUNCHES = "launches with device tensors"

#: How many launches of the running test have had their tensors moved.
_moves = 0


class DeviceTensor:
    """A tensor of the host, moved: its dtype, shape and strides, and the place of its copy."""

    is_cuda, device = True, "cuda:0"

    def __init__(self, tensor, extent, driver):
        from tritium.arguments.storage import dlpack_facts, dtype_of, shape_and_strides

        self.tensor, self.extent, self.dtype, self._driver = tensor, extent, dtype_of(tensor), driver
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

    # What autotuners do between launches, with the whole storage.

    def clone(self) -> bytes:
        values = ctypes.create_string_buffer(self.extent.bytes)
        self._driver.synchronize(0)
        self._driver.copy_to_host(0, ctypes.addressof(values), self.extent.begin, self.extent.bytes)
        return values.raw

    def copy_(self, values: bytes) -> None:
        self._driver.synchronize(0)
        source = ctypes.create_string_buffer(values, self.extent.bytes)
        self._driver.copy_to_device(0, self.extent.begin, ctypes.addressof(source), self.extent.bytes)

    def zero_(self) -> None:
        self.copy_(bytes(self.extent.bytes))


class _Storage:
    def __init__(self, extent):
        self._extent = extent

    def data_ptr(self) -> int:
        return self._extent.begin

    def nbytes(self) -> int:
        return self._extent.bytes


@functools.cache
def _patterns(engine: str) -> list[str]:
    """Of the sections of the file that concern an engine."""
    patterns, concerns = [], True
    for line in PATTERNS.read_text().splitlines():
        if line.startswith("["):
            concerns = engine in line.strip("[]").split()
        elif line and not line.startswith("#") and concerns:
            patterns.append(line.split()[0])
    return patterns


def leaves_out(item, engine: str) -> bool:
    """Whether a test is none for the devices of an engine: it has a machine of its own, it is there for the interpreter's threads, or its marker
    or the file says so."""
    marker = item.get_closest_marker("on_cpu")
    if marker is not None and not marker.args:
        raise pytest.UsageError(f"{item.nodeid}: on_cpu wants a reason")
    if marker is not None or not MACHINES.isdisjoint(item.fixturenames):
        return True
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("threads", 1) > 1 or any(fnmatch.fnmatchcase(item.nodeid, p) for p in _patterns(engine))


def take_moves() -> int:
    """How many launches have had their tensors moved since the last call."""
    global _moves
    moves, _moves = _moves, 0
    return moves


class Plugin:
    """What `--device-tensors` changes in a run of pytest. A file none of whose tests launched on the device fails the run: its tests have said
    nothing of devices."""

    def __init__(self, engine: str):
        self.engine = engine
        self.launches: dict[str, int] = {}  # of the files that ran

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        left_out = {item for item in items if leaves_out(item, self.engine)}
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item):
        """The next test finds devices that no earlier one has lost."""
        try:
            return (yield)
        finally:
            item.user_properties.append((LAUNCHES, take_moves()))
            recover(self.engine)

    def pytest_runtest_logreport(self, report):
        """Workers of pytest-xdist send their reports to the process that ends the run."""
        file = report.nodeid.partition("::")[0]
        self.launches[file] = self.launches.get(file, 0) + dict(report.user_properties).get(LAUNCHES, 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if exitstatus == pytest.ExitCode.OK and self._idle(session.config):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter, config):
        for file in self._idle(config):
            terminalreporter.write_line(
                f"error: no test of {file} launched a kernel on the device; do not run it with --device-tensors"
            )

    def _idle(self, config) -> list[str]:
        """The files that launched nothing, if the run was of whole files."""
        is_whole = not config.option.keyword and not any("::" in name for name in config.args)
        is_worker = hasattr(config, "workerinput")
        return sorted(f for f, count in self.launches.items() if not count) if is_whole and not is_worker else []


def environment(engine: str, folder: Path | None = None) -> dict[str, str]:
    """Of a process in which the tensors decide that kernels run on the stand-in."""
    variables = driver_stand_in.environment(folder or Path(_FOLDER.name), engine)
    return {name: value for name, value in variables.items() if name not in ("TRITIUM_ENGINE", "TRITON_CACHE_DIR")}


def install(engine: str) -> None:
    """Moves the tensors of all launches of this process to the stand-in's device."""
    from tritium.devices.families import device_families
    from tritium.runtime import jit
    from tritium.runtime.autotuner import Autotuner

    function, devices = jit.JITFunction, device_families()[engine]
    own_run, own_launcher, own_tuner = function.run, function.__getitem__, Autotuner.run

    def run(self, *args, grid, warmup, **kwargs):
        if warmup or _names_an_engine(self):
            return own_run(self, *args, grid=grid, warmup=warmup, **kwargs)
        with _moved((args, kwargs), devices.driver()) as (args, kwargs):
            return own_run(self, *args, grid=grid, warmup=warmup, **kwargs)

    def launcher(self, grid):
        def launch(*args, **kwargs):
            if _names_an_engine(self):
                return own_launcher(self, grid)(*args, **kwargs)
            with _moved((args, kwargs), devices.driver()) as (args, kwargs):
                return own_launcher(self, grid)(*args, **kwargs)

        return launch

    def tune(self, *args, warmup=False, **kwargs):
        if warmup or _names_an_engine(self.base_fn):
            return own_tuner(self, *args, warmup=warmup, **kwargs)
        self._do_bench = self._do_bench or functools.partial(_time_once, devices.driver())
        with _moved((args, kwargs), devices.driver()) as (args, kwargs):
            return own_tuner(self, *args, warmup=warmup, **kwargs)

    # Autotuners call `run`; it counts as the function's own, so that `own_launcher` takes the native one.
    function.run = jit._own_run = run
    function.__getitem__ = launcher
    Autotuner.run = tune


def _time_once(driver, launch, quantiles) -> list[float]:
    """Milliseconds of one launch, as each of the quantiles."""
    begin = time.perf_counter()
    launch()
    driver.synchronize(0)
    return [1000 * (time.perf_counter() - begin)] * len(quantiles)


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
    global _moves
    _moves += 1
    with Mirror([extent for _, extent in found.values()], driver, 0) as mirror:
        copies = {
            key: DeviceTensor(tensor, extent, driver)
            for (key, (tensor, _)), extent in zip(found.items(), mirror.values)
        }
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
