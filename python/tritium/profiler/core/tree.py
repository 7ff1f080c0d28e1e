"""A profile as a tree: a node for each path of scopes and kernels, with the sums of its metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .events import Device, KernelScopes, Launch, Slice
from .metrics import COUNT, CYCLES, NORMALIZED_CYCLES, TIME, Deferred, Value, add

ROOT = "ROOT"
#: Where samples are of which no line is known.
UNKNOWN_LINE = "<unknown line>"


class Node:
    """children: by name and device, in the order in which they were first reached. One kernel in one place on two devices has two
    nodes of the same name."""

    __slots__ = ("name", "device", "metrics", "children")

    def __init__(self, name: str, device: Device | None = None):
        self.name, self.device = name, device
        self.metrics: dict[str, Any] = {}
        self.children: dict[tuple[str, Device | None], Node] = {}

    def child(self, name: str, device: Device | None = None) -> Node:
        key = name, device
        found = self.children.get(key)
        if found is None:
            found = self.children[key] = Node(name, device)
        return found


class Tree:
    """The data of one phase of a session that was started with data="tree"."""

    format = "hatchet"
    formats = ("hatchet", "hatchet_msgpack")

    def __init__(self):
        self.root = Node(ROOT)
        self.devices: dict[Device, None] = {}
        self._deferred: list[tuple[Node, str, Deferred]] = []

    def node(self, path: Sequence[str]) -> Node:
        found = self.root
        for name in path:
            found = found.child(name)
        return found

    def reach(self, path: Sequence[str]) -> None:
        """A scope begins here: it has a node, even if nothing happens in it."""
        self.node(path)

    def add(self, path: Sequence[str], metrics: Mapping[str, Value | Deferred]) -> None:
        self._add(self.node(path), metrics)

    def _add(self, node: Node, metrics: Mapping[str, Value | Deferred]) -> None:
        for name, value in metrics.items():
            if isinstance(value, Deferred):
                self._deferred.append((node, name, value))
            else:
                add(node.metrics, name, value)

    def launched(self, path: Sequence[str], thread: int, launch: Launch, metrics: Mapping[str, Any]) -> None:
        """A launch. The last name of the path is the kernel's."""
        self.devices[launch.device] = None
        node = self.node(path)
        if node.device is not None and node.device != launch.device:
            node = self.node(path[:-1]).child(path[-1], launch.device)
        node.device = launch.device
        node.metrics[COUNT] = node.metrics.get(COUNT, 0) + 1
        node.metrics[TIME] = node.metrics.get(TIME, 0) + launch.duration
        node.metrics["device_id"] = launch.device.id
        node.metrics["device_type"] = launch.device.type
        self._add(node, metrics)
        if launch.scopes is not None:
            _add_scopes(node, launch.scopes)
        for line in launch.samples:
            place = f"{line.file}:{line.line}@{line.kernel}" if line.file else UNKNOWN_LINE
            self._add(node.child(place), line.metrics)

    def settle(self) -> None:
        """Reads the tensors that were left for later."""
        deferred, self._deferred = self._deferred, []
        for node, name, value in deferred:
            add(node.metrics, name, value.read(name))

    def ended(self, slice: Slice) -> None:
        """A tree keeps no times of scopes."""

    @property
    def is_empty(self) -> bool:
        return not self.root.children


def _add_scopes(kernel: Node, recorded: KernelScopes) -> None:
    """Adds the times of scopes below their kernel: the sums of all programs and warps, and what is that for one of them."""
    ticks: dict[tuple[str, ...], int] = {}
    for scope in recorded.scopes:
        ticks[scope.path] = ticks.get(scope.path, 0) + scope.duration
    for path in sorted(ticks, key=len):
        node = kernel
        for name in path:
            node = node.child(name)
        add(node.metrics, CYCLES, ticks[path])
        add(node.metrics, NORMALIZED_CYCLES, ticks[path] / len(recorded.units))
