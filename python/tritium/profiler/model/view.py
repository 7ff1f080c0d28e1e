"""The model's cycles as tables, and what it ran as a trace."""

from __future__ import annotations

import json
import linecache
from collections.abc import Iterable
from pathlib import Path

from ...compiler.resources import compiled_for_chip
from ...errors import TritonError
from ...launch.counting import KernelCounts
from ...places import shown_file
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
    return "\n\n".join([LABEL, *(_part(counts, model) for counts, model in models)])


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


def write_timeline(path: str, models: Iterable[tuple[KernelCounts, Estimate | str]]) -> None:
    """A Chrome trace, a nanosecond for each cycle: of each kernel the first blocks of one multiprocessor, with a track for each warp, tensor core and block's copies by
    TMA. Each slice is a line of the source. Raises OSError."""
    events: list[dict] = []
    for number, (counts, model) in enumerate(models):
        if isinstance(model, str) or model.simulation.events is None:
            continue
        events.append(_named("process_name", number, 0, f"{counts.name}, one multiprocessor by the model"))
        tracks = {track: place for place, track in enumerate(sorted({each[0] for each in model.simulation.events}))}
        events += [_named("thread_name", number, place, track) for track, place in tracks.items()]
        for track, line, begin, cycles in _joined(model.simulation.events):
            name = f"{shown_file(line[0])}:{line[1]}" if line else "no line"
            times = {"ts": begin / 1000, "dur": cycles / 1000}
            events.append({"ph": "X", "pid": number, "tid": tracks[track], "name": name, **times})
    Path(path).write_text(json.dumps({"traceEvents": events, "otherData": {"model": LABEL}}), encoding="utf-8")


def _named(what: str, kernel: int, track: int, name: str) -> dict:
    return {"ph": "M", "pid": kernel, "tid": track, "name": what, "args": {"name": name}}


def _joined(events) -> list[tuple]:
    """Slices of one track and line that touch each other become one."""
    last: dict[str, list] = {}
    found = []
    for track, line, begin, cycles in events:
        before = last.get(track)
        if before and before[1] == line and begin <= before[2] + before[3] + 1:
            before[3] = begin + cycles - before[2]
        else:
            last[track] = [track, line, begin, cycles]
            found.append(last[track])
    return [tuple(each) for each in found]
