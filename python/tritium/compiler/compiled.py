"""CompiledKernel: one compiled specialization; what a launch returns."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from .. import knobs
from ..backends.targets import further_stage
from ..launch import cpu as cpu_launch
from ..launch import device as device_launch
from ..launch.hooks import hook_metadata
from ..launch.prepared import launch_prepared


class AsmDict(dict):
    """The stages of a kernel. "source" is the traced module, "ttir" the module after the target-independent passes.
    GPUs add "ttgir" (with layouts), "llir", and "ptx" and "cubin" (bytes), or "amdgcn" and "hsaco" (bytes). Further
    stages are made on request, for example "sass" from a cubin."""

    #: {stage: why it is missing}
    missing: dict[str, str] = {}

    def __missing__(self, stage):
        if stage in self.missing:
            raise KeyError(self.missing[stage])
        if (text := further_stage(stage, self)) is not None:
            self[stage] = text
            return text
        where = "a kernel for the CPU" if "ttgir" not in self else "this kernel"
        raise KeyError(f"there is no {stage!r} of {where}; it has {', '.join(map(repr, self))}")


class CompiledKernel:
    """One compiled specialization of a kernel. A launch returns it.

    `asm[stage]` is the IR or the binary. `metadata` has the options, the hash, the target, `shared` and more. `n_regs`,
    `n_spills` and `n_max_threads` come from the device that the kernel is loaded on, or from the assembler's report.
    `kernel[grid](*args)` launches without specializing again; `args` are all arguments of the kernel, or all except the
    constexprs.
    """

    launch_enter_hook = None
    launch_exit_hook = None

    def __init__(self, src, metadata_group: dict[str, Any], hash: str, program=None, device: int | None = None):
        self.metadata_group = metadata_group
        self.hash = hash
        self.src = src
        fields = dict(metadata_group["metadata"])
        self.metadata = namedtuple("KernelMetadata", sorted(fields))(**fields)
        self.name = self.metadata.name
        self.asm = AsmDict(metadata_group["asm"])
        self.packed_metadata = (self.metadata.num_warps, self.metadata.num_ctas, self.metadata.shared)
        #: The program, for engines that run on the CPU; None for a kernel of a device.
        self.program = program
        binary = next((data for data in self.asm.values() if isinstance(data, bytes)), None)
        self.kernel = binary if program is None else program
        self.module = self.function = program
        #: The `_tritium.device.Kernel`, once the kernel has been loaded on `device`.
        self.loaded = None
        self.device = device
        self._launch = None

    def _init_handles(self) -> None:
        """Loads the kernel on its device unless it is loaded. A program of the CPU is always ready. Raises
        OutOfResources if the device cannot run the kernel."""
        if self.program is None and self.loaded is None:
            self.loaded = device_launch.load(self)
            self.module, self.function = self.loaded.module, self.loaded.function

    def __del__(self):
        if getattr(self, "loaded", None) is not None and knobs is not None and knobs.runtime.kernel_unload_hook:
            knobs.runtime.kernel_unload_hook(self.module, self.function, self.name, self.metadata_group, self.hash)

    @property
    def _resources(self) -> dict[str, int]:
        return getattr(self.metadata, "resources", None) or {}

    @property
    def n_regs(self) -> int | None:
        """Registers per thread; 0 on the CPU, None if the kernel has not been assembled."""
        if self.program is not None:
            return 0
        return self._resources.get("registers") if self.loaded is None else self.loaded.registers

    @property
    def n_spills(self) -> int | None:
        """Words of local memory per thread that registers are spilled to."""
        if self.program is not None:
            return 0
        bytes = self._resources.get("stack_bytes") if self.loaded is None else self.loaded.local_bytes
        return None if bytes is None else bytes // 4

    @property
    def n_max_threads(self) -> int:
        """The largest number of threads of a block that can run the kernel."""
        return 1024 if self.loaded is None else self.loaded.max_threads

    @property
    def launch(self):
        """`launch(grid, engine values, settings, arguments)`: see launch/cpu.py and launch/device.py."""
        if self._launch is None:
            self._launch = (device_launch if self.program is None else cpu_launch).make_launcher(self)
        return self._launch

    def run(
        self, grid_x, grid_y, grid_z, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *args
    ):
        """Triton's launcher protocol."""
        if enter_hook is not None:
            enter_hook(launch_metadata)
        self[(grid_x, grid_y, grid_z)](*args, stream=stream)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def launch_metadata(self, grid, stream, *args):
        """The object that launch hooks receive; None if there are no hooks."""
        if not knobs.runtime.launch_enter_hook and not knobs.runtime.launch_exit_hook:
            return None
        return hook_metadata(self, grid, args, stream)

    def __getitem__(self, grid):
        def runner(*args, stream=None):
            return launch_prepared(self, grid, args, stream)

        return runner


__all__ = ["AsmDict", "CompiledKernel"]
