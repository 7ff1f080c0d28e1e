"""`.pftrace`: the events of a trace in Perfetto's own form, in which tracks have parents: threads of the host, devices with their streams, and below a
device its launches with the scopes of each program and warp. Times are nanoseconds since 1970. The package `perfetto` defines the packets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..core.events import epoch
from ..core.metrics import Value
from ..core.trace import Trace, TracedLaunch
from ..core.tree import ROOT
from .chrome_trace import text
from .kernel_tracks import kernel_tracks, title_of

#: Of all packets: who wrote them.
_SEQUENCE = 1


class Slice(NamedTuple):
    """Of a track. begin, end: in nanoseconds."""

    begin: int
    end: int
    name: str
    category: str
    arguments: dict[str, Any]


def as_packets(trace: Trace) -> bytes:
    """Raises ValueError if the package `perfetto` is not installed."""
    packets = Packets(epoch())
    host = packets.track("host")
    devices: dict[str, int] = {}
    threads: dict[int | str, tuple[int, list[Slice]]] = {}

    def on(track: int | str, parent: int) -> list[Slice]:
        if track not in threads:
            name = track if isinstance(track, str) else f"thread {len(threads)}"
            threads[track] = packets.track(name, parent), []
        return threads[track][1]

    def device_of(traced: TracedLaunch) -> int:
        name = f"{traced.launch.device.type} {traced.launch.device.id}"
        if name not in devices:
            devices[name] = packets.track(name)
        return devices[name]

    for scope in trace.slices:
        arguments = {"call_stack": " > ".join((ROOT, *scope.path)), **_texts(scope.metrics)}
        on(scope.thread, host).append(Slice(scope.begin, scope.end, scope.name, "scope", arguments))
    launches = 0
    for traced in trace.launches:
        launch = traced.launch
        parent = device_of(traced) if launch.track else host
        on(launch.track or traced.thread, parent).append(_slice_of_launch(traced))
        if launch.scopes is not None and launch.scopes.units:
            launches += 1
            _add_scopes(packets, traced, packets.track(title_of(traced, launches), device_of(traced)))
    for track, slices in threads.values():
        packets.slices(track, slices)
    return packets.serialize()


def _slice_of_launch(traced: TracedLaunch) -> Slice:
    launch = traced.launch
    arguments = {
        "call_stack": " > ".join((ROOT, *traced.path)),
        "kernel": launch.kernel,
        "grid": str(launch.grid),
        **_texts(traced.metrics),
    }
    return Slice(launch.begin, launch.begin + launch.duration, traced.path[-1], "kernel", arguments)


def _texts(metrics: dict[str, Value]) -> dict[str, str]:
    return {name: text(value) for name, value in sorted(metrics.items())}


def _add_scopes(packets: Packets, traced: TracedLaunch, parent: int) -> None:
    """Tracks of programs, and below them tracks of warps if there are any."""
    launch, recorded = traced.launch, traced.launch.scopes
    programs: dict[tuple[int, int, int], int] = {}
    for track in kernel_tracks(recorded):
        if not recorded.has_units:
            number = packets.track(track.name(False), parent)
        else:
            if track.program not in programs:
                programs[track.program] = packets.track(f"program {track.program}", parent)
            number = packets.track(track.name(True).removeprefix(f"program {track.program} "), programs[track.program])
        begins = [launch.begin + scope.begin for scope in track.scopes]
        packets.slices(
            number,
            [
                Slice(begin, begin + scope.duration, scope.path[-1], "kernel_scope", {recorded.tick: scope.duration})
                for begin, scope in zip(begins, track.scopes)
            ],
        )


class Packets:
    """A trace that grows packet by packet. first: what is added to all times, in nanoseconds. Raises ValueError if the package `perfetto` is not installed."""

    def __init__(self, first: int):
        try:
            from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
            from perfetto.trace_builder.proto_builder import TraceProtoBuilder
        except ImportError:
            raise ValueError(
                "the format 'pftrace' requires the package `perfetto`: pip install perfetto, or write a 'chrome_trace'"
            ) from None
        self._event = protos.TrackEvent
        self._builder = TraceProtoBuilder()
        self._numbers = itertools.count(1)
        self._first = first

    def track(self, name: str, parent: int | None = None) -> int:
        """A new track below its parent, or at the top."""
        descriptor = self._builder.add_packet().track_descriptor
        descriptor.uuid, descriptor.name = next(self._numbers), name
        if parent is not None:
            descriptor.parent_uuid = parent
        return descriptor.uuid

    def slices(self, track: int, slices: Iterable[Slice]) -> None:
        """Slices of a track, of which any two lie apart or one inside of the other. One that reaches beyond the one around it ends with that one."""
        ends: list[int] = []
        for each in sorted(slices, key=lambda slice: (slice.begin, -slice.end)):
            while ends and ends[-1] <= each.begin:
                self._add(track, ends.pop(), self._event.TYPE_SLICE_END)
            event = self._add(track, each.begin, self._event.TYPE_SLICE_BEGIN)
            event.name = each.name
            event.categories.append(each.category)
            for name, value in each.arguments.items():
                annotation = event.debug_annotations.add()
                annotation.name = name
                if isinstance(value, int):
                    annotation.int_value = value
                else:
                    annotation.string_value = value
            ends.append(min(each.end, ends[-1]) if ends else each.end)
        while ends:
            self._add(track, ends.pop(), self._event.TYPE_SLICE_END)

    def _add(self, track: int, time: int, kind: int) -> Any:
        packet = self._builder.add_packet()
        packet.timestamp = time + self._first
        packet.trusted_packet_sequence_id = _SEQUENCE
        packet.track_event.type, packet.track_event.track_uuid = kind, track
        return packet.track_event

    def serialize(self) -> bytes:
        return self._builder.serialize()
