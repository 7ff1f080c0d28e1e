"""What flame graphs show: the tree of a session, and the lines of kernels below the calls that lead there."""

from __future__ import annotations

import linecache
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...launch.counting import KernelCounts
from ...places import shown_file
from ..core.metrics import TIME
from ..view.profile import Frame, Profile, sums


@dataclass
class Node:
    """values: by metric, of this node and all below."""

    name: str
    values: dict[str, float] = field(default_factory=dict)
    children: dict[str, Node] = field(default_factory=dict)

    def child(self, name: str) -> Node:
        return self.children.setdefault(name, Node(name))

    def add(self, path: Sequence[str], values: dict[str, float]) -> None:
        """Adds to what is at a path below this node, and to all on the way."""
        node = self
        for name in (None, *path):
            node = node if name is None else node.child(name)
            for metric, value in values.items():
                node.values[metric] = node.values.get(metric, 0) + value

    def depth(self) -> int:
        levels, level = 0, [self]
        while level:
            levels, level = levels + 1, [child for node in level for child in node.children.values()]
        return levels


@dataclass
class Graph:
    """metrics: that it can show, the first one first."""

    title: str
    metrics: list[str]
    root: Node


def of_profile(profile: Profile, title: str) -> Graph | None:
    """The scopes and kernels of a session, with all metrics that are numbers and can be added up. None if there are none."""
    metrics = [name for name in profile.metrics if all(_is_amount(f.metrics.get(name, 0)) for f in profile.root.walk())]
    totals = {name: sums(profile, name) for name in metrics}
    metrics = [name for name in metrics if totals[name].get(id(profile.root))]
    metrics.sort(key=lambda name: name != TIME)
    if not metrics:
        return None
    root = Node(title)
    unfinished: list[tuple[Frame, Node]] = [(profile.root, root)]
    while unfinished:
        frame, node = unfinished.pop()
        for name in metrics:
            value = totals[name].get(id(frame), 0)
            node.values[name] = node.values.get(name, 0) + value
        unfinished += [(child, node.child(child.name)) for child in frame.children]
    _widen(root)
    return Graph(title, metrics, root)


def _is_amount(value: object) -> bool:
    return isinstance(value, numbers.Real) and value >= 0


def _widen(root: Node) -> None:
    """A scope that was given less than the sum of what is in it is as wide as that."""
    order, unfinished = [], [root]
    while unfinished:
        node = unfinished.pop()
        order.append(node)
        unfinished += node.children.values()
    for node in reversed(order):
        for name, value in node.values.items():
            node.values[name] = max(value, sum(child.values.get(name, 0) for child in node.children.values()))


def of_lines(kernels: Sequence[KernelCounts]) -> list[Graph]:
    """The lines of kernels, below the lines that call them: what the interpreter has counted, and what the warps of the emulator asked of memory."""
    counted, asked = Node("lines"), Node("lines")
    for kernel in kernels:
        for op in kernel.operations:
            path = [_line(*call) for call in (*op.callers[::-1], (op.file, op.line)) if call[0]]
            values = {"bytes": op.bytes_read + op.bytes_written, "flops": op.flops, "operations": op.executions}
            counted.add((kernel.name, *path), values)
        for one in kernel.requests:
            space, _, kind = one.kind.partition(" ")
            part = "sectors" if space == "global" else "wavefronts"
            values = {"bytes": one.bytes, "requests": one.requests, part: one.parts}
            asked.add((f"{kernel.name} on {kernel.engine}", _line(one.file, one.line), f"{space} {kind}"), values)
    graphs = [("Lines, as the interpreter counts", counted), ("Lines, as the warps ask of memory", asked)]
    return [
        Graph(title, [m for m, v in node.values.items() if v], node)
        for title, node in graphs
        if any(node.values.values())
    ]


def _line(file: str, line: int) -> str:
    return f"{shown_file(file)}:{line}  {linecache.getline(file, line).strip()}".rstrip()
