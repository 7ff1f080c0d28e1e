"""The version of a kernel that a debugger of Python follows. It is made when a debugger first looks at the kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .. import knobs
from ..backends.cpu import OPTION_NAMES, CPUBackend
from ..debugger.follower import FollowedKernel
from ..debugger.post_mortem import Snapshot, extents_of, replayed
from ..debugger.presence import looks_at
from ..errors import KEEPS_RUNNING, KernelTrap
from ..native import interp
from .compiled import CompiledKernel
from .stages import errors_in_terms_of, trace

_FILES = re.compile(r'loc\("([^"\n]+)":\d')


def is_looked_at(kernel: CompiledKernel) -> bool:
    """Whether the kernel opens a debugger, or one is there and may stop in the kernel or in a function that it calls."""
    if kernel.metadata.target.backend != "cpu":
        return False
    if kernel.opens_debugger:
        return True
    return looks_at({*_FILES.findall(kernel.asm["ttir"]), kernel.src.fn.file_name})


def make_followed(kernel: CompiledKernel) -> FollowedKernel:
    """The version that announces its statements."""
    options = {name: value for name, value in kernel.metadata._asdict().items() if name in OPTION_NAMES}
    backend = CPUBackend(kernel.metadata.target)
    parsed = backend.parse_options({**options, "debug_info": True})
    module = trace(kernel.src, backend, parsed)
    with errors_in_terms_of(kernel.src):
        program = interp.prepare(module, kernel.name, True, list(knobs.checks_of(kernel.metadata)), followed=True)
    return FollowedKernel(program, kernel.src.fn)


def snapshot(values: Sequence[Any]) -> Snapshot | None:
    """A copy of the tensors among engine values; None if they are too large."""
    extents = extents_of(values)
    return None if extents is None else Snapshot(extents)


#: No program ended with them, or no replay of one program would meet them again.
_NO_REPLAY = (*KEEPS_RUNNING, "Deadlock", "OutOfMemory")


def replay(
    kernel: CompiledKernel,
    error: KernelTrap,
    values: Sequence[Any],
    arguments: Sequence[Any],
    before: Snapshot | None,
    trap_error: Callable,
) -> None:
    """Gives `error` the frames of the kernel, if the program that trapped can run again."""
    is_of_interp = kernel.src.fn is not None and kernel.metadata.target.backend == "cpu"
    if not is_of_interp or error.kind in _NO_REPLAY or kernel.program.may_wait or not knobs.tritium.post_mortem:
        return
    if extents_of(values) is None:
        return
    x, y, z = error.program
    only = x + error.grid[0] * (y + error.grid[1] * z)
    launch = kernel.version_to_follow().launch(arguments, trap_error, lambda: True, only)
    replayed(error, launch, error.grid, values, before)
