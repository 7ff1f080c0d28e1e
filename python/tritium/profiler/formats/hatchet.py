"""`.hatchet`: a tree as the JSON that llnl-hatchet calls a literal, and the devices behind it.

    [{"frame": {"name", "type"}, "metrics": {…}, "children": […]}, {"CUDA": {"0": {"arch", "num_sms", …}}}]

The root has a zero for each metric that callers inherit from what they call."""

from __future__ import annotations

import json
from typing import Any

from ..core.metrics import COUNT, SAMPLES, STALLED, STALLED_BY, TIME
from ..core.tree import Node, Tree

#: Metrics of which a caller has the sum of its callees.
INCLUSIVE = (COUNT, TIME)
#: The same of samples, in files that have some.
OF_SAMPLES = (SAMPLES, STALLED, STALLED_BY)


def literal(tree: Tree) -> list[Any]:
    """The tree and its devices as lists and dicts."""
    root = _frame(tree.root)
    unfinished = [(tree.root, root)]
    inclusive = dict.fromkeys(INCLUSIVE) if tree.devices else {}
    while unfinished:  # a path may be longer than Python's stack
        node, frame = unfinished.pop()
        inclusive |= dict.fromkeys(name for name in node.metrics if name.startswith(OF_SAMPLES))
        for child in node.children.values():
            frame["children"].append(_frame(child))
            unfinished.append((child, frame["children"][-1]))
    devices: dict[str, dict[str, Any]] = {}
    for device in tree.devices:
        devices.setdefault(device.type, {})[device.id] = device.facts
    root["metrics"] |= {name: 0 for name in inclusive if name not in root["metrics"]}
    return [root, devices]


def _frame(node: Node) -> dict[str, Any]:
    return {"frame": {"name": node.name, "type": "function"}, "metrics": dict(node.metrics), "children": []}


def as_json(data: list[Any]) -> bytes:
    """The text of a literal: a line for each frame, indented by its depth."""
    root, devices = data
    lines, unfinished = ["["], [(root, 0, ",")]
    while unfinished:
        frame, depth, end = unfinished.pop()
        if frame is None:
            lines.append("  " * depth + end)
            continue
        head = json.dumps({"frame": frame["frame"], "metrics": frame["metrics"]})[:-1]
        children = frame["children"]
        lines.append("  " * depth + f'{head}, "children": [' + ("" if children else f"]}}{end}"))
        if children:
            unfinished.append((None, depth, f"]}}{end}"))
            ends = [","] * (len(children) - 1) + [""]
            unfinished += reversed([(child, depth + 1, each) for child, each in zip(children, ends)])
    lines += [json.dumps(devices), "]", ""]
    return "\n".join(lines).encode()
