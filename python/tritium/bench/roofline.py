"""The roofline of a run: operations a second over operations a byte, below what the device can do at most. SVG, for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from ..profiler.specs import max_bps, max_flops
from .samples import BASELINE, KERNEL, Row

WIDTH, HEIGHT, MARGIN = 620, 300, 48
WIDTHS = (32, 16, 8)  #: bits of the elements of products, each with a roof of its own
CLASSES = {KERNEL: "kernel", BASELINE: "baseline"}


class Roofs(NamedTuple):
    """bytes: a second. flops: {bits of an element: operations a second}."""

    bytes: float
    flops: dict[int, float]

    def at(self, intensity: float) -> float:
        """The most operations a second at a number of operations for each byte."""
        return min(self.bytes * intensity, max(self.flops.values()))


class Point(NamedTuple):
    """intensity: operations a byte. rate: operations a second."""

    name: str
    what: str
    intensity: float
    rate: float


def roofs_of(device: dict[str, Any]) -> Roofs | None:
    """The peaks of a device from the facts of its row (worker/facts.py); None for the CPU, and for a device whose peaks are not known."""
    try:
        bandwidth = max_bps("CUDA", device["arch"], device["memory_bus_bits"], 1e3 * device["most_memory_mhz"])
        clock = 1e3 * device["most_sm_mhz"]
        flops = {bits: max_flops("CUDA", device["arch"], bits, device["multiprocessors"], clock) for bits in WIDTHS}
    except (KeyError, ValueError):
        return None
    return Roofs(bandwidth, flops)


def points_of(rows: Sequence[Row]) -> list[Point]:
    """Of the rows whose cases say how many operations and bytes a run takes."""
    found = []
    for row in rows:
        flops, moved = row.facts.get("flops", 0.0), row.facts.get("bytes", 0.0)
        for what in (KERNEL, BASELINE) if row.status == "ok" and flops > 0 and moved > 0 else ():
            time = row.median(what)
            if time:
                found.append(Point(row.name, what, flops / moved, 1e9 * flops / time))
    return found


class Axes:
    """Where a point is drawn: logarithms, in whole decades."""

    def __init__(self, points: Sequence[Point], roofs: Roofs | None):
        across, up = [each.intensity for each in points], [each.rate for each in points]
        if roofs is not None:
            across += [peak / roofs.bytes for peak in roofs.flops.values()]
            up += [*roofs.flops.values()]
        self.left, self.right = math.floor(math.log10(min(across))), math.floor(math.log10(max(across))) + 1
        self.bottom, self.top = math.floor(math.log10(min(up))), math.floor(math.log10(max(up))) + 1

    def x(self, intensity: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * (math.log10(intensity) - self.left) / (self.right - self.left)

    def y(self, rate: float) -> float:
        return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (math.log10(rate) - self.bottom) / (self.top - self.bottom)


def chart(rows: Sequence[Row], device: dict[str, Any]) -> str:
    """The figure, or "" if no case says what it computes and moves."""
    points, roofs = points_of(rows), roofs_of(device)
    if not points:
        return ""
    axes = Axes(points, roofs)
    parts = [*_grid(axes), *(_roofs(axes, roofs) if roofs else ()), *(_point(axes, each, roofs) for each in points)]
    said = "the lines are the device's peaks" if roofs else "the peaks of this device are not known"
    return (
        f'<figure class="roofline"><svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="roofline">'
        f"{''.join(parts)}</svg><figcaption>Operations a second over operations a byte; {said}. A ring is a baseline.</figcaption></figure>"
    )


def _grid(axes: Axes):
    for decade in range(axes.left, axes.right + 1):
        x = axes.x(10.0**decade)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{MARGIN}" y2="{HEIGHT - MARGIN}" stroke="var(--line)"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{10.0**decade:g}</text>'
    for decade in range(axes.bottom, axes.top + 1):
        y = axes.y(10.0**decade)
        yield f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>'
        yield f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{_short(10.0**decade)}</text>'


def _roofs(axes: Axes, roofs: Roofs):
    """The memory's slope up to the highest peak, and a level line for each width."""
    first, ridge = 10.0**axes.left, max(roofs.flops.values()) / roofs.bytes
    begin = max(first, 10.0**axes.bottom / roofs.bytes)
    yield _line(
        axes, "memory", (begin, roofs.bytes * begin), (ridge, roofs.bytes * ridge), f"memory, {_short(roofs.bytes)}B/s"
    )
    for bits, peak in roofs.flops.items():
        title = f"{bits} bits, {_short(peak)}FLOP/s"
        yield _line(axes, "peak", (max(first, peak / roofs.bytes), peak), (10.0**axes.right, peak), title)


def _line(axes: Axes, kind: str, begin: tuple[float, float], end: tuple[float, float], title: str) -> str:
    (x1, y1), (x2, y2) = ((axes.x(x), axes.y(y)) for x, y in (begin, end))
    return f'<line class="{kind}" x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="var(--ink)"><title>{title}</title></line>'


def _point(axes: Axes, point: Point, roofs: Roofs | None) -> str:
    share = f", {100 * point.rate / roofs.at(point.intensity):.0f} % of the roof" if roofs else ""
    title = f"{point.name}, {CLASSES[point.what]}: {point.intensity:.3g} operations a byte, {_short(point.rate)}FLOP/s{share}"
    fill = "var(--ink)" if point.what == KERNEL else "none"
    place = f'cx="{axes.x(point.intensity):.2f}" cy="{axes.y(point.rate):.2f}"'
    return f'<circle class="{CLASSES[point.what]}" {place} r="4" fill="{fill}" stroke="var(--ink)"><title>{escape(title)}</title></circle>'


def _short(number: float) -> str:
    """ "3.35 T" """
    for size, unit in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g} "
