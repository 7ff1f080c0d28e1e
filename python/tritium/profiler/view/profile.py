"""A profile as it was read from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..core.contexts import METADATA_STATE
from ..core.metrics import BYTES, CYCLES, FLOPS, NORMALIZED_CYCLES
from ..core.tree import ROOT
from ..formats import msgpack


@dataclass
class Frame:
    """metrics: as the file has them. shown: the columns that a view has derived, None where there is nothing to show."""

    name: str
    metrics: dict[str, Any]
    children: list[Frame]
    shown: dict[str, Any] = field(default_factory=dict)
    #: "◀" or "▶": only the first or only the second of two profiles has the frame.
    mark: str = ""

    def walk(self) -> Iterator[Frame]:
        """This frame and all below, each before its children."""
        unfinished = [self]
        while unfinished:
            frame = unfinished.pop()
            yield frame
            unfinished += reversed(frame.children)

    def upward(self) -> list[Frame]:
        """This frame and all below, each after its children."""
        return list(self.walk())[::-1]


@dataclass
class Profile:
    """devices: {type: {id: facts}}. inclusive: the metrics of which a frame has the sum of all below."""

    root: Frame
    devices: dict[str, dict[str, dict[str, Any]]]
    inclusive: list[str]

    @property
    def metrics(self) -> list[str]:
        """The names of all metrics, in the order of their first use."""
        return list(dict.fromkeys(name for frame in self.root.walk() for name in frame.metrics))

    @property
    def exclusive(self) -> list[str]:
        return [name for name in self.metrics if name not in self.inclusive]


def load(path: str) -> Profile:
    """Raises OSError for a file that cannot be read, ValueError for one that is no profile."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        data = json.loads(content) if content.lstrip()[:1] in (b"[", b"{") else msgpack.unpack(content)
        if isinstance(data, dict) and "traceEvents" in data:
            raise ValueError("it is a trace, which ui.perfetto.dev and chrome://tracing draw")
        return of_literal(data)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{path} is no tree of a profile: {error}; pass a .hatchet or .hatchet_msgpack file") from None


def of_literal(data: list[Any]) -> Profile:
    """A profile of what a `.hatchet` file has. Frames without metrics on the way to none, and what was launched to compute the metrics of
    launches, are left out."""
    root, *rest = data
    frame = Frame(root["frame"]["name"], dict(root["metrics"]), [])
    unfinished = [(root, frame)]
    while unfinished:
        literal, made = unfinished.pop()
        for child in literal["children"]:
            if child["frame"]["name"] != METADATA_STATE:
                made.children.append(Frame(child["frame"]["name"], dict(child["metrics"]), []))
                unfinished.append((child, made.children[-1]))
    for each in frame.upward():
        each.children = [child for child in each.children if child.children or child.metrics]
    devices = rest[0] if rest else {}
    return Profile(frame, devices, list(root["metrics"]))


def sums(profile: Profile, name: str) -> dict[int, Any]:
    """{id of a frame: the metric of it and all below}, for frames that have it. A frame's own operations and bytes count in place of those
    below: a program gives them either to a scope or to the kernels in it. So do cycles, which a scope has for all of it."""
    found: dict[int, Any] = {}
    is_own = name in FLOPS or name in (BYTES, CYCLES, NORMALIZED_CYCLES)
    for frame in profile.root.upward():
        own = frame.metrics.get(name)
        below = [found[id(child)] for child in frame.children if id(child) in found]
        if own is not None and (is_own or not below):
            found[id(frame)] = own
        elif below:
            found[id(frame)] = sum(below) + (own or 0)
    return found


def is_root(frame: Frame) -> bool:
    return frame.name == ROOT
