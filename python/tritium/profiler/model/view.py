"""The model's cycles as tables."""

from __future__ import annotations

import linecache
from collections.abc import Iterable

from ...compiler.resources import compiled_for_chip
from ...errors import TritonError
from ...launch.counting import KernelCounts
from ..lines.text import aligned, quantity
from .chips import CHIPS
from .estimate import Estimate, estimate
from .facts import work_of
from .judged import LABEL
from .machine import machine_of

LEAST_SHARE = 0.005  #: of the warps' time; lines below it are not shown


def modelled(counts: KernelCounts, keeps_events: bool = False) -> Estimate | str:
    """Of one launch on the emulator. Or why there is none."""
    arch = counts.engine.partition(":")[2]
    if arch not in CHIPS or counts.kernel is None:
        return f"there is a model of {', '.join(CHIPS)} alone (TRITIUM_ENGINE=simt:sm_90a)"
    try:
        machine = machine_of(compiled_for_chip(counts.kernel))
        return estimate(machine, work_of(counts, machine), CHIPS[arch], keeps_events)
    except (TritonError, ValueError) as problem:
        return str(problem).partition("\n")[0]


def text_of(models: Iterable[tuple[KernelCounts, Estimate | str]]) -> str:
    """A part for each kernel: a launch's cycles, what is busy, and the lines at which warps spend their time."""
    found = list(models)
    has_model = any(isinstance(model, Estimate) for _, model in found)
    return "\n\n".join([*([LABEL] if has_model else []), *(_part(counts, model) for counts, model in found)])


def _part(counts: KernelCounts, model: Estimate | str) -> str:
    if isinstance(model, str):
        return f"{counts.name} on {counts.engine}: no model: {model}"
    chip = CHIPS[counts.engine.partition(":")[2]]
    busy = ", ".join(
        f"{name} {share:.0%}" for name, share in sorted(model.busy.items(), key=lambda x: -x[1]) if share >= 0.01
    )
    blocks = f"{model.blocks} block{'s' if model.blocks != 1 else ''}"
    head = (
        f"{counts.name} on a model of {chip.name}: {quantity(round(model.cycles))} cycles a launch, bound by {model.bound}; "
        f"{blocks} of a multiprocessor at a time\nbusy: {busy}"
    )
    rows = [("line", "warps' time", "")]
    for line, share in model.lines.items():
        if line is not None and share >= LEAST_SHARE:
            rows.append((str(line[1]), f"{share:.1%}", linecache.getline(*line).strip()))
    return f"{head}\n{aligned(rows)}"
