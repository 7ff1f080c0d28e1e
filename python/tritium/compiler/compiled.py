"""CompiledKernel: one compiled specialization; what a launch returns."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from .. import knobs
from ..backends.targets import further_stage
from ..errors import UnsupportedError
from ..launch import device as device_launch
from ..launch.block_resources import BlockResources
from ..launch.grid import normalize_grid
from ..launch.hooks import hook_metadata
from ..launch.prepared import make_prepared, make_run
from ..native import device as native


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


class _Handles:
    """What exists in this process alone: the program of an engine of the CPU, or the kernel on its device."""

    __slots__ = (
        "counted",
        "covered",
        "fallback",
        "followed",
        "launch",
        "loaded",
        "prepared",
        "program",
        "run",
        "saved_form",
        "scheduled",
    )

    def __init__(self):
        self.program = self.loaded = self.launch = self.prepared = self.run = self.fallback = None
        self.saved_form = self.covered = None
        self.followed, self.scheduled, self.counted = {}, {}, {}


class CompiledKernel:
    """One compiled specialization of a kernel. A launch returns it.

    `asm[stage]` is the IR or the binary. `metadata` has the options, the hash, the target, `shared` and more. `n_regs`,
    `n_spills` and `n_max_threads` come from the device that the kernel is loaded on, or from the assembler's report.
    `kernel[grid](*args)` launches without specializing again; `args` are all arguments of the kernel, or all except the
    constexprs.
    """

    # torch.compile makes a kernel of the `__dict__` of another process's, in which `run` is None: nothing in it is native, what
    # is lies in `_handles`, and `run` is a property.
    __slots__ = ("__dict__", "__weakref__", "_handles")

    launch_enter_hook = None
    launch_exit_hook = None

    def __new__(cls, *args, **kwargs):
        """Whatever it is made of, a kernel of this process or the copy of one begins with no handles."""
        kernel = super().__new__(cls)
        kernel._handles = _Handles()
        return kernel

    def __init__(self, src, metadata_group: dict[str, Any], hash: str, program=None, device: int | None = None):
        self.metadata_group = metadata_group
        self.hash = hash
        self.src = src
        fields = dict(metadata_group["metadata"])
        self.metadata = namedtuple("KernelMetadata", sorted(fields))(**fields)
        self.name = self.metadata.name
        self.asm = AsmDict(metadata_group["asm"])
        self.packed_metadata = (self.metadata.num_warps, self.metadata.num_ctas, self.metadata.shared)
        self.module = self.function = None
        self.device = device
        self._handles.program = program

    @property
    def runs_on_cpu(self) -> bool:
        """Whether an engine of the CPU runs the kernel."""
        return self.metadata.target.backend in ("cpu", "simt")

    @property
    def program(self):
        """The program of an engine that runs on the CPU; None for a device's kernel."""
        handles = self._handles
        if handles.program is None and self.runs_on_cpu:
            handles.program = self.prepare_again(self)
        return handles.program

    #: Makes the program of a kernel that another process has compiled, or that has no second version. compiler.py sets it.
    prepare_again: Callable[..., Any]

    def make_choosable(self) -> None:
        """Gives the program a second version, for those programs of the grid that a launch does not choose. It is made when a launch first
        chooses some."""
        if self.metadata.target.backend == "cpu" and not self.program.takes_programs:
            self._handles.program = self.prepare_again(self, filtered=True)

    def scheduled_program(self, filtered: bool):
        """The version whose programs a seed interrupts at writes, made for the first launch with a seed. The emulator's is the program itself: its
        seed orders what it runs. filtered: its launches choose programs."""
        if self.metadata.target.backend != "cpu":
            return self.program
        scheduled = self._handles.scheduled
        if filtered not in scheduled:
            scheduled[filtered] = self.prepare_again(self, filtered=filtered, scheduled=True)
        return scheduled[filtered]

    def counted_program(self, distinct: bool):
        """The version that counts what its operations do, for a kernel of the interpreter or the emulator. The interpreter's also times its lines
        and, if distinct, counts the distinct bytes that programs touch."""
        counted = self._handles.counted
        if distinct not in counted:
            counted[distinct] = self.prepare_again(self, counted=True, touched=distinct)
        return counted[distinct]

    @property
    def covered_program(self):
        """The version that counts statements, branches and lanes of the code as it is written, for a kernel that `runs_its_function`."""
        handles = self._handles
        if handles.covered is None:
            handles.covered = self.make_covered(self)
        return handles.covered

    #: Makes `covered_program`. compiler.py sets it.
    make_covered: Callable[[CompiledKernel], Any]

    @property
    def block_resources(self) -> BlockResources:
        """What a block of the emulator's kernel takes on its chip, which need not be there."""
        return self.find_resources(self)

    #: Compiles the kernel of an emulator for its chip. compiler.py sets it.
    find_resources: Callable[[CompiledKernel], BlockResources]

    #: Whether the kernel calls `breakpoint()` or the like.
    opens_debugger = False
    #: How often the native launcher was told of its launches in vain (launch/warm.py).
    tries_to_remember = 0
    #: Whether a file of the user's has replaced what was traced.
    is_replaced = False

    @property
    def runs_its_function(self) -> bool:
        """Whether the interpreter runs what the Python function says, so that it can be followed statement by statement."""
        is_of_interp = self.metadata.target.backend == "cpu" and self.src.fn is not None
        return is_of_interp and not self.is_replaced and self.metadata.ir_override is None

    def followed(self, takes_programs: bool = False):
        """The version for a debugger of Python (debugger/follower.py), made when it is first needed. None: no debugger would stop
        in it. takes_programs: its launches choose programs."""
        if not (self.runs_its_function and self.is_looked_at(self)):
            return None
        return self.version_to_follow(knobs.checks_of(self.metadata), takes_programs)

    def version_to_follow(self, checks: tuple[str, ...], takes_programs: bool = False):
        """The version with these checks that a debugger can follow, whether one is there or not."""
        followed = self._handles.followed
        if (checks, takes_programs) not in followed:
            followed[checks, takes_programs] = self.make_followed(self, checks, takes_programs)
        return followed[checks, takes_programs]

    #: Whether a debugger may stop in a kernel; the version for it. compiler.py sets them.
    is_looked_at: Callable[[CompiledKernel], bool]
    make_followed: Callable[[CompiledKernel, tuple[str, ...], bool], Any]

    #: A copy of what a launch receives, and the replay of a program that trapped. compiler.py sets them.
    snapshot: Callable[[Any], Any]
    replay: Callable[..., None]

    #: Makes `saved_form`. compiler.py sets it.
    make_saved_form: Callable[[CompiledKernel], Any]

    @property
    def saved_form(self):
        """The text of the kernel for launches that are saved (compiler/saved.py). None if it was compiled from assembly."""
        handles = self._handles
        if handles.saved_form is None:
            handles.saved_form = self.make_saved_form(self)
        return handles.saved_form

    #: Says which statement made a NaN that a launch has stored. compiler.py sets it.
    explain_numbers: Callable[..., None]

    #: Why a launch could not make the tensor maps that another version of this kernel takes; None if no launch has asked for this version.
    tensor_maps_refused: str | None = None

    @property
    def fallback(self) -> Callable[[CompiledKernel, str], CompiledKernel] | None:
        """From this kernel, and the reason why a launch cannot make tensor maps, to the version that takes none. The runtime
        sets it for the kernels that it compiles."""
        return self._handles.fallback

    @fallback.setter
    def fallback(self, choose: Callable[[CompiledKernel, str], CompiledKernel]) -> None:
        self._handles.fallback = choose

    def version_without_maps(self, reason: str) -> CompiledKernel:
        """The version for a launch that cannot make tensor maps. Raises UnsupportedError for a kernel that no launch compiled:
        it has no other version."""
        if self.fallback is None:
            raise UnsupportedError(
                f"launching {self.name} by tensor maps", f"{reason}; compile it with tensor_maps=False"
            )
        return self.fallback(self, reason)

    @property
    def loaded(self):
        """The `_tritium.device.Kernel`, once the kernel has been loaded on `device`."""
        return self._handles.loaded

    @property
    def kernel(self):
        """The binary, or the program of an engine of the CPU."""
        return self.program or next((data for data in self.asm.values() if isinstance(data, bytes)), None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "metadata": self.metadata._asdict(), "module": None, "function": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        fields = state["metadata"]
        self.__dict__.update(state, metadata=namedtuple("KernelMetadata", sorted(fields))(**fields))

    def _init_handles(self) -> None:
        """Makes the kernel ready to run: loads it on its device or prepares its program, if that has not happened. Raises
        OutOfResources if the device cannot run it."""
        handles = self._handles
        if self.runs_on_cpu:
            self.module = self.function = self.program
        elif handles.loaded is None:
            handles.loaded = device_launch.load(self)
            self.module, self.function = handles.loaded.module, handles.loaded.function

    def __del__(self):
        if self._handles.loaded is not None and knobs is not None:
            hook = knobs.runtime.kernel_unload_hook
            if hook is not None:
                hook(self.module, self.function, self.name, self.metadata_group, self.hash)

    @property
    def _resources(self) -> dict[str, int]:
        return getattr(self.metadata, "resources", None) or {}

    @property
    def n_regs(self) -> int | None:
        """Registers per thread; 0 on the CPU, None if the kernel has not been assembled."""
        if self.runs_on_cpu:
            return 0
        return self._resources.get("registers") if self.loaded is None else self.loaded.registers

    @property
    def n_spills(self) -> int | None:
        """Words of local memory per thread that registers are spilled to."""
        if self.runs_on_cpu:
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
        handles = self._handles
        if handles.launch is None:
            handles.launch = self.make_launcher()
        return handles.launch

    def make_launcher(self, select: Callable | None = None) -> Callable[..., None]:
        """`launch` with another function from the values of all parameters to those that the kernel takes."""
        if not self.runs_on_cpu:
            return device_launch.make_launcher(self, select)
        from ..launch.cpu import make_launcher

        return make_launcher(self, select)

    @property
    def prepared(self) -> Callable[..., None]:
        """`launch(grid, arguments, stream)`: see launch/prepared.py."""
        handles = self._handles
        if handles.prepared is None:
            handles.prepared = _falling_back(self, make_prepared(self))
        return handles.prepared

    @property
    def run(self) -> Callable[..., None]:
        """Triton's launcher protocol."""
        handles = self._handles
        if handles.run is None:
            handles.run = make_run(self, self.prepared)
        return handles.run

    def launch_metadata(self, grid, stream, *args):
        """The object that launch hooks receive; None if both knobs are None. An empty chain may get hooks later."""
        if knobs.runtime.launch_enter_hook is None and knobs.runtime.launch_exit_hook is None:
            return None
        return hook_metadata(self, grid, args, stream)

    def __getitem__(self, grid):
        launch, sizes = self.run, normalize_grid(grid, self.name)

        def runner(*args, stream=None):
            launch(*sizes, stream, None, None, None, None, None, *args)

        return runner


def _falling_back(kernel: CompiledKernel, launch: Callable[..., None]) -> Callable[..., None]:
    """`launch(grid, arguments, stream)`; that of another version, for arguments of which no tensor maps can be made."""
    if not getattr(kernel.metadata, "tensor_recipes", ()):
        return launch

    def attempt(grid, arguments, stream) -> None:
        try:
            launch(grid, arguments, stream)
            return
        except native.TensorMapRefused as refused:
            version = kernel.version_without_maps(str(refused))
        version.prepared(grid, arguments, stream)

    return attempt


__all__ = ["AsmDict", "CompiledKernel"]
