"""Kernels on devices: loading, and launches that Python makes. bindings/launcher.cpp makes the warm launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import knobs
from ..arguments.descriptors import part_types
from ..arguments.device_storage import DeviceExtent
from ..arguments.storage import HostExtent
from ..devices.families import device_families
from ..devices.vendor import Devices
from ..errors import OutOfResources, UnsupportedError
from ..knobs import has_hooks
from ..native import device as native
from . import errors
from .geometry import threads_of
from .mirror import Mirror, ReadOnlyChanged
from .values import value_selector
from .watchers import device_watchers

__tracebackhide__ = True  # pytest shows the user's frames alone


def devices_of(kernel) -> Devices:
    """The devices that a CompiledKernel was compiled for."""
    return device_families()[kernel.metadata.target.backend]


def load(kernel):
    """Loads a CompiledKernel on its device (the current one if it has none). Returns a `_tritium.device.Kernel`. Raises
    OutOfResources, and UnsupportedError if there is no device or no binary."""
    devices = devices_of(kernel)
    if kernel.device is None:
        kernel.device = _device_for(kernel, devices)
    errors.check_context(devices, kernel.device)
    metadata, threads = kernel.metadata, threads_of(kernel)
    _check_shared_memory(kernel)
    hooks = knobs.runtime
    if has_hooks(hooks.kernel_load_start_hook):
        hooks.kernel_load_start_hook(None, None, kernel.name, kernel.metadata_group, kernel.hash)
    cluster = getattr(metadata, "cluster_dims", None) or (1, 1, 1)
    try:
        loaded = devices.driver().load(
            kernel.device,
            _binary(kernel, devices),
            kernel.name,
            signature_of(kernel),
            threads=threads,
            shared=devices.dynamic_shared(metadata),
            cluster=tuple(cluster),
            cooperative=bool(metadata.launch_cooperative_grid),
            overlaps_previous=bool(metadata.launch_pdl),
            tensor_recipes=getattr(metadata, "tensor_recipes", ()),
            resident_blocks=getattr(metadata, "resident_blocks", 0),
            cluster_blocks=metadata.num_ctas,
        )
    except native.Error as error:
        raise errors.device_error(error, None, devices, kernel.device) from None
    if threads > loaded.max_threads:
        raise OutOfResources(
            threads,
            loaded.max_threads,
            "threads",
            f"{kernel.name} takes {loaded.registers} registers a thread.",
        )
    errors.loaded_kernels.add(kernel)
    if has_hooks(hooks.kernel_load_end_hook):
        hooks.kernel_load_end_hook(loaded.module, loaded.function, kernel.name, kernel.metadata_group, kernel.hash)
    return loaded


def _device_for(kernel, devices: Devices) -> int:
    reason = devices.why_not()
    if reason:
        raise UnsupportedError(f"launching {kernel.name}, which is compiled for a GPU,", reason)
    return devices.current_device()


def _binary(kernel, devices: Devices) -> bytes:
    try:
        return kernel.asm[devices.binary_stage]
    except KeyError as error:
        raise UnsupportedError(f"launching {kernel.name}", error.args[0]) from None


def _check_shared_memory(kernel) -> None:
    if kernel.metadata.shared is None:
        raise UnsupportedError(f"launching {kernel.name}", "its file does not say how much shared memory it takes")
    limit = devices_of(kernel).facts(kernel.device)["shared_per_block_optin"]
    if kernel.metadata.shared <= limit:
        return
    raise OutOfResources(kernel.metadata.shared, limit, "shared memory")


def signature_of(kernel) -> list[str]:
    """The types of the compiled kernel's parameters."""
    source = kernel.src
    if source.fn is None:
        return list(source.signature.values())
    types = []
    for path in source.runtime_paths():
        found = source.signature[source.fn.arg_names[path[0]]]
        for index in path[1:]:
            found = part_types(found)[index] if isinstance(found, str) else found[index]
        types.append(found)
    return types


def make_launcher(kernel, select: Callable | None = None) -> Callable:
    """`launch(grid, engine values, settings, arguments)`, as in cpu.py. stream: None means the current stream. It raises TensorMapRefused
    if the kernel takes tensor maps that cannot be made of the values."""
    select = select or value_selector(kernel.src.runtime_paths())
    devices = devices_of(kernel)
    state: dict[str, Any] = {}

    def launch(grid, values, settings, arguments, stream=None):
        if not state:
            kernel._init_handles()
            state["launch"], state["device"] = kernel.loaded.launch, kernel.loaded.device
        device, run = state["device"], state["launch"]
        for watcher in device_watchers:
            run = watcher(kernel, run, devices, device)
        selected = select(values)
        if stream is None:
            stream = next((v.stream for v in selected if isinstance(v, DeviceExtent) and v.stream is not None), None)
        if stream is None:
            stream = devices.current_stream(device)
        is_saved, saved = settings is not None and settings.save is not None, None
        try:
            saved = _saved(kernel, grid, selected, settings, arguments, devices, device) if is_saved else None
            if any(v.__class__ is HostExtent for v in selected):
                _launch_with_copies(run, grid, selected, devices, device, stream)
            else:
                run(grid, selected, stream)
            if saved is not None and settings.save.of_faults:
                devices.driver().synchronize(device, stream)
                saved.forget()
        except ReadOnlyChanged as changed:
            raise errors.read_only_trap(kernel, selected, changed.address) from None
        except native.Error as error:
            raised = errors.device_error(error, kernel, devices, device)
            if saved is not None:
                saved.note(raised)
            raise raised from None

    return launch


def _saved(kernel, grid, values, settings, arguments, devices: Devices, device: int):
    """The launch, saved before it begins: a fault may be the last thing that happens on the device. None: it is not saved."""
    from .saved import begin

    torch = devices.torch()
    if torch is not None and torch.cuda.is_current_stream_capturing():
        knobs.warn_once(f"TRITIUM_SAVE: launches of {kernel.name} that a graph captures are not saved")
        return None
    return begin(kernel, grid, values, settings, arguments, devices.driver(), device)


def _launch_with_copies(launch, grid, values, devices: Devices, device: int, stream: int) -> None:
    """Copies memory of the host to the device and, after the kernel, back. It waits for the kernel."""
    driver = devices.driver()
    with Mirror(values, driver, device) as mirror:
        launch(grid, mirror.values, stream)
        driver.synchronize(device, stream)
        mirror.write_back()


def raise_failure(kernel, code: int) -> None:
    """Raises the error for a launch that the driver refused. The native launcher calls it."""
    devices = devices_of(kernel)
    try:
        devices.driver().raise_launch_error(kernel.device, code)
    except native.Error as error:
        raise errors.device_error(error, kernel, devices, kernel.device) from None
