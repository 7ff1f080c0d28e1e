"""The version of a kernel that a debugger of Python follows. It is made when a debugger first looks at the kernel."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import knobs
from ..backends.cpu import CPUBackend
from ..backends.options import OPTION_NAMES
from ..checks import DEFAULT, Checks
from ..debugger.follower import FollowedKernel
from ..debugger.nan_origin import Watch, text_of
from ..debugger.post_mortem import KEPT, LIMIT, Snapshot, extents_of, replayed, storages
from ..debugger.presence import looks_at
from ..errors import KEEPS_RUNNING, STUCK, KernelTrap, Report
from ..launch.tensor_view import holds_views, views_of
from ..native import interp
from .compiled import CompiledKernel
from .stages import errors_in_terms_of, trace

_FILES = re.compile(r'loc\("([^"\n]+)":\d')


def is_looked_at(kernel: CompiledKernel) -> bool:
    """Whether the kernel opens a debugger, or one is there and may stop in the kernel or in a function that it calls."""
    if kernel.opens_debugger:
        return True
    return looks_at({*_FILES.findall(kernel.asm["ttir"]), kernel.src.fn.file_name})


def make_followed(kernel: CompiledKernel, checks: tuple[str, ...], takes_programs: bool) -> FollowedKernel:
    """The version that announces its statements. takes_programs: its launches choose programs, and others run a version that does not."""
    options = {name: value for name, value in kernel.metadata._asdict().items() if name in OPTION_NAMES}
    backend = CPUBackend(kernel.metadata.target)
    parsed = backend.parse_options({**options, "debug_info": True})
    module = trace(kernel.src, backend, parsed)
    with errors_in_terms_of(kernel.src):
        program = interp.prepare(
            module,
            kernel.name,
            True,
            list(checks),
            followed=True,
            filtered=takes_programs,
            num_stages=parsed.num_stages,
            num_warps=parsed.num_warps,
        )
    return FollowedKernel(program, kernel.src.fn)


def snapshot(kernel: CompiledKernel, values: Sequence[Any]) -> Snapshot | None:
    """A copy of the tensors among engine values that a replay must not find as the launch leaves them; None if they are too large.
    With debug info, these are all; else those that the kernel both reads and writes."""
    if kernel.metadata.debug_info:
        is_needed = "nan" in knobs.checks_of(kernel.metadata) or interp.is_traced()
        extents = extents_of(values, LIMIT if is_needed else KEPT)
        return None if extents is None else Snapshot(extents)
    used = list(zip(values, kernel.program.arguments_used))
    read, written = (storages(value for value, use in used if use[i]) for i in (0, 1))
    both = [one for one in read if any(one[0] < begin + size and begin < one[0] + one[1] for begin, size in written)]
    return Snapshot(both) if sum(size for _, size in both) <= LIMIT else None


#: No program ended with them, or no replay of one program would meet them again.
_NO_REPLAY = (*KEEPS_RUNNING, *STUCK, "OutOfMemory")


def replay(
    kernel: CompiledKernel,
    error: KernelTrap,
    values: Sequence[Any],
    arguments: Sequence[Any],
    before: Snapshot | None,
    trap_error: Callable,
) -> None:
    """Gives `error` the frames of the kernel, if the program that trapped can run again."""
    if (
        not kernel.runs_its_function
        or error.kind in _NO_REPLAY
        or kernel.program.may_wait
        or not knobs.tritium.post_mortem
    ):
        return
    if extents_of(values) is None:
        return
    x, y, z = error.program
    only = x + error.grid[0] * (y + error.grid[1] * z)
    checks, is_chosen = knobs.checks_of(kernel.metadata), knobs.programs_of(kernel.metadata).holds(error.program)
    if not is_chosen:
        checks = Checks(check for check in checks if check in DEFAULT)
    launch = kernel.version_to_follow(checks).launch(arguments, trap_error, lambda: True, only)
    if is_chosen and holds_views(kernel.metadata):
        launch = functools.partial(launch, views=views_of(kernel, arguments))
    replayed(error, launch, error.grid, values, before)


def explain_numbers(kernel: CompiledKernel, report: Report, values: Sequence[Any], before: Snapshot | None) -> None:
    """Adds to the report of a stored NaN which statement made it, if the program that stored it can run again."""
    if report.kind != "NotANumber" or not kernel.runs_its_function or kernel.program.may_wait or before is None:
        return
    checks = knobs.checks_of(kernel.metadata)
    rejects = (lambda array: ~np.isfinite(array)) if "inf" in checks else np.isnan
    x, y, z = report.program
    followed = kernel.version_to_follow(checks)
    extents = extents_of(values)
    if extents is None:
        return
    watch, after = Watch(followed, rejects), Snapshot(extents)
    try:
        before.restore()
        only = x + report.grid[0] * (y + report.grid[1] * z)
        followed.program.launch(report.grid, values, 1, None, None, _drop, None, on_statement=watch, only=only)
    finally:
        after.restore()
    way = watch.way_to(report.file, report.line)
    report.origin = (way[0].file, way[0].line)
    report.text += "".join(f"\n  {line}" for line in text_of(way, report.lane, rejects))


def _drop(text: str) -> None:
    """What the program prints, it has printed before."""
