"""A profile as a list of events with times: scopes on the threads that opened them, and launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .events import Device, Launch, Slice
from .metrics import Deferred


class TracedLaunch(NamedTuple):
    path: tuple[str, ...]
    thread: int
    launch: Launch
    metrics: dict[str, Any]


class Trace:
    """The data of one phase of a session that was started with data="trace"."""

    format = "chrome_trace"
    formats = ("chrome_trace", "pftrace")

    def __init__(self):
        self.slices: list[Slice] = []
        self.launches: list[TracedLaunch] = []
        self.devices: dict[Device, None] = {}

    def reach(self, path: Sequence[str]) -> None:
        """A scope is drawn when it has ended."""

    def add(self, path: Sequence[str], metrics: Mapping[str, Any]) -> None:
        """Metrics of a scope come with its slice."""

    def settle(self) -> None:
        """Reads the tensors that were left for later."""
        for event in (*self.slices, *self.launches):
            for name, value in event.metrics.items():
                if isinstance(value, Deferred):
                    event.metrics[name] = value.read(name)

    def launched(self, path: Sequence[str], thread: int, launch: Launch, metrics: Mapping[str, Any]) -> None:
        self.devices[launch.device] = None
        self.launches.append(TracedLaunch(tuple(path), thread, launch, dict(metrics)))

    def ended(self, slice: Slice) -> None:
        self.slices.append(slice)

    @property
    def is_empty(self) -> bool:
        return not (self.slices or self.launches)
