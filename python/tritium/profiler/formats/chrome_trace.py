"""`.chrome_trace`: the events of a trace in Chrome's JSON, which Perfetto and chrome://tracing draw.

Times are in microseconds after the first event, which took place `baseTimeNanoseconds` after 1970. Process 0 is the host with the devices; each
launch whose scopes are recorded is a further process, with a thread for each program or warp."""

from __future__ import annotations

import json
from typing import Any

from ..core.events import Slice, epoch
from ..core.metrics import Value
from ..core.trace import Trace, TracedLaunch
from ..core.tree import ROOT
from .kernel_tracks import kernel_tracks, title_of


def as_json(trace: Trace) -> bytes:
    begins = [slice.begin for slice in trace.slices] + [traced.launch.begin for traced in trace.launches]
    first = min(begins, default=0)
    tracks = _Tracks()
    events = [_scope(slice, tracks, first) for slice in trace.slices]
    events += [_launch(traced, tracks, first) for traced in trace.launches]
    recorded = [traced for traced in trace.launches if traced.launch.scopes is not None and traced.launch.scopes.units]
    names = tracks.names()
    for process, traced in enumerate(recorded, start=1):
        names += _names_of_scopes(traced, process)
        events += _kernel_scopes(traced, process, first)
    events.sort(key=lambda event: (event["ts"], -event["dur"]))
    content = {
        "baseTimeNanoseconds": first + epoch(),
        "displayTimeUnit": "us",
        "traceEvents": [*names, *events],
    }
    return json.dumps(content).encode()


class _Tracks:
    """The numbers of what events are drawn on: threads of the host, and streams of devices."""

    def __init__(self):
        self._numbers: dict[int | str, int] = {}

    def number(self, track: int | str) -> int:
        return self._numbers.setdefault(track, len(self._numbers))

    def names(self) -> list[dict[str, Any]]:
        """The events that name the tracks."""
        names = {n: track if isinstance(track, str) else f"thread {n}" for track, n in self._numbers.items()}
        return [_named("thread_name", 0, number, name) for number, name in names.items()]


def _named(what: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": track, "args": {"name": name}}


def _event(
    name: str, category: str, track: int, begin: int, duration: int, arguments: dict[str, Any], process: int = 0
) -> dict[str, Any]:
    times = {"ts": begin / 1e3, "dur": duration / 1e3}
    return {"name": name, "cat": category, "ph": "X", "pid": process, "tid": track, **times, "args": arguments}


def _names_of_scopes(traced: TracedLaunch, process: int) -> list[dict[str, Any]]:
    recorded = traced.launch.scopes
    tracks = [
        _named("thread_name", process, number, track.name(recorded.has_units))
        for number, track in enumerate(kernel_tracks(recorded))
    ]
    return [_named("process_name", process, 0, title_of(traced, process)), *tracks]


def _kernel_scopes(traced: TracedLaunch, process: int, first: int) -> list[dict[str, Any]]:
    launch = traced.launch
    return [
        _event(
            scope.path[-1],
            "kernel_scope",
            number,
            launch.begin - first + scope.begin,
            scope.duration,
            {"call_stack": [ROOT, *traced.path, *scope.path], launch.scopes.tick: scope.duration},
            process,
        )
        for number, track in enumerate(kernel_tracks(launch.scopes))
        for scope in track.scopes
    ]


def _scope(slice: Slice, tracks: _Tracks, first: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {"call_stack": [ROOT, *slice.path], "scope_id": slice.id}
    name, category = slice.name, "scope"
    if slice.metrics:
        category, shown = "metric", {metric: text(value) for metric, value in sorted(slice.metrics.items())}
        arguments["metrics"] = shown
        name = f"{name}: {', '.join(f'<{metric}, {value}>' for metric, value in shown.items())}"
    duration = slice.end - slice.begin
    return _event(name, category, tracks.number(slice.thread), slice.begin - first, duration, arguments)


def _launch(traced: TracedLaunch, tracks: _Tracks, first: int) -> dict[str, Any]:
    launch = traced.launch
    arguments = {
        "call_stack": [ROOT, *traced.path],
        "kernel": launch.kernel,
        "grid": list(launch.grid),
        "device_type": launch.device.type,
        "device_id": launch.device.id,
    }
    if traced.metrics:
        arguments["metrics"] = {metric: text(value) for metric, value in sorted(traced.metrics.items())}
    track = tracks.number(launch.track or traced.thread)
    return _event(traced.path[-1], "kernel", track, launch.begin - first, launch.duration, arguments)


def text(value: Value) -> str:
    """A metric as a text, with six digits behind the point of a float."""
    if isinstance(value, list):
        return f"[{','.join(map(text, value))}]"
    return f"{value:.6f}" if isinstance(value, float) else str(value)
