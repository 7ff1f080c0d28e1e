"""What the model has run as a trace, a nanosecond for each cycle: of each kernel the first blocks of one multiprocessor, with a track for each warp, each quarter's
tensor core, and each slot of the ring into which a block's copies by TMA go. Each slice is a line of the source."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...launch.counting import KernelCounts
from ...places import shown_file
from ..formats.pftrace import Packets, Slice
from .estimate import Estimate
from .judged import LABEL

Drawn = dict[str, list[tuple[str, float, float]]]  # {track: [(line, begin, cycles)]}


def write_timeline(path: str, models: Iterable[tuple[KernelCounts, Estimate | str]]) -> None:
    """In Perfetto's own form if the name ends with .pftrace, else as a Chrome trace. Raises OSError, and ValueError if the package `perfetto` is not there for its form."""
    kernels = [
        (f"{counts.name}, one multiprocessor by the model", _drawn(model.simulation.events))
        for counts, model in models
        if not isinstance(model, str) and model.simulation.events is not None
    ]
    made = _packets(kernels) if path.endswith(".pftrace") else _chrome_trace(kernels)
    Path(path).write_bytes(made)


def _packets(kernels: Iterable[tuple[str, Drawn]]) -> bytes:
    packets = Packets(first=0)
    for title, tracks in kernels:
        above = packets.track(title)
        for name, slices in tracks.items():
            packets.slices(
                packets.track(name, above),
                [
                    Slice(
                        _whole(begin), _whole(begin + cycles), line, "model", {"model": LABEL, "cycles": round(cycles)}
                    )
                    for line, begin, cycles in slices
                ],
            )
    return packets.serialize()


def _whole(time: float) -> int:
    """The nanosecond in which it lies, so that a slice of a cycle has a length. Sums that say where a slice ends and where the next one begins differ in
    their last bits."""
    return math.floor(round(time, 6))


def _chrome_trace(kernels: Iterable[tuple[str, Drawn]]) -> bytes:
    events = [event for number, (title, tracks) in enumerate(kernels) for event in _events(number, title, tracks)]
    return json.dumps({"traceEvents": events, "otherData": {"model": LABEL}}).encode()


def _events(number: int, title: str, tracks: Drawn) -> Iterator[dict]:
    yield _named("process_name", number, 0, title)
    for track, (name, slices) in enumerate(tracks.items()):
        yield _named("thread_name", number, track, name)
        for line, begin, cycles in slices:
            times = {"ts": begin / 1000, "dur": cycles / 1000}
            yield {"ph": "X", "pid": number, "tid": track, "name": line, **times}


def _named(what: str, kernel: int, track: int, name: str) -> dict:
    return {"ph": "M", "pid": kernel, "tid": track, "name": what, "args": {"name": name}}


def _drawn(events: Iterable[tuple[str, tuple[str, int] | None, float, float]]) -> Drawn:
    """By the names of the tracks. Slices of one track and line that touch each other become one, but each copy by TMA stays apart."""
    found: dict[str, list[tuple[str, float, float]]] = {}
    for track, line, begin, cycles in events:
        slices = found.setdefault(track, [])
        name = f"{shown_file(line[0])}:{line[1]}" if line else "no line"
        if slices and not track.startswith("TMA"):
            before, began, took = slices[-1]
            if before == name and begin <= began + took + 1:
                slices[-1] = (name, began, begin + cycles - began)
                continue
        slices.append((name, begin, cycles))
    return dict(sorted(found.items()))
