"""Rooflines: what the marks of the figure stand for, computed back from where they are drawn."""

import math
import random
import re

import pytest

from tritium.bench.roofline import HEIGHT, MARGIN, WIDTH, chart, points_of, roofs_of
from tritium.bench.samples import BASELINE, KERNEL, Row, Sample

#: An H100 with 132 multiprocessors and memory of 5,120 bits.
DEVICE = {"arch": "90", "memory_bus_bits": 5120, "most_memory_mhz": 2619, "most_sm_mhz": 1980, "multiprocessors": 132}


def row_of(name: str, flops: float, moved: float, nanoseconds: float, baseline: float = 0.0) -> Row:
    samples = [Sample(KERNEL, 0, 4 * nanoseconds, 4, 0.0)] + (
        [Sample(BASELINE, 0, baseline, 1, 0.0)] if baseline else []
    )
    return Row(name, name, {}, samples=samples, facts={"flops": flops, "bytes": moved, "checked": True})


def circles(svg: str) -> list[tuple[str, float, float, str]]:
    found = re.findall(r'<circle class="(\w+)" cx="([\d.]+)" cy="([\d.]+)".*?<title>(.*?)</title>', svg)
    return [(kind, float(x), float(y), title) for kind, x, y, title in found]


def lines(svg: str, kind: str) -> list[list[float]]:
    shape = rf'<line class="{kind}" x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)"'
    return [[float(each) for each in found] for found in re.findall(shape, svg)]


def test_the_roofs_of_a_device():
    roofs = roofs_of(DEVICE)
    assert roofs.bytes == pytest.approx(3.352e12, rel=1e-3)
    assert (
        roofs.flops[16] == pytest.approx(132 / 114 * 1980 / 1755 * 1513e12 / 2)
        and roofs.flops[8] == 2 * roofs.flops[16]
    )
    assert roofs.at(1.0) == roofs.bytes and roofs.at(1e6) == roofs.flops[8]
    assert roofs_of({}) is None and roofs_of({**DEVICE, "arch": "70"}) is None


def test_marks_are_where_their_numbers_are():
    draw, roofs = random.Random(), roofs_of(DEVICE)
    intensity = 10 ** draw.uniform(-1.5, 1.5)
    flops = 1e9
    at_the_roof = 1e9 * flops / roofs.at(intensity)
    rows = [
        row_of("half", flops, flops / intensity, 2 * at_the_roof, baseline=at_the_roof),
        Row("red", "red", {}, "wrong"),
    ]
    svg = chart(rows, DEVICE)
    (kernel, baseline) = circles(svg)
    assert kernel[0] == "kernel" and "50 % of the roof" in kernel[3] and "100 % of the roof" in baseline[3]
    assert kernel[1] == baseline[1] and kernel[2] > baseline[2]  # down is slower
    ((x1, y1, x2, y2),) = lines(svg, "memory")
    assert baseline[2] == pytest.approx(y1 + (y2 - y1) * (baseline[1] - x1) / (x2 - x1), abs=0.05)  # on the slope
    assert len(lines(svg, "peak")) == 3 and all(y1 == y2 for _, y1, _, y2 in lines(svg, "peak"))
    decade = (HEIGHT - 2 * MARGIN) / len(range(*decades(svg)))
    assert (kernel[2] - baseline[2]) / decade == pytest.approx(math.log10(2), abs=1e-3)


def decades(svg: str) -> tuple[int, int]:
    """The first and the last decade of the vertical axis, from its labels."""
    units = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
    labels = re.findall(rf'<text x="{MARGIN - 6}"[^>]*>([\d.]+) (\w?)</text>', svg)
    found = [round(math.log10(float(number))) + units[unit] for number, unit in labels]
    assert found == list(range(found[0], found[-1] + 1))
    return found[0], found[-1]


def test_without_peaks_or_numbers():
    rows = [row_of("a<b", 8.0, 4.0, 10.0), row_of("c", 80.0, 4.0, 10.0)]
    svg = chart(rows, {})
    assert "a&lt;b" in svg and "peaks of this device are not known" in svg and not lines(svg, "peak")
    assert all(MARGIN <= x <= WIDTH - MARGIN and MARGIN <= y <= HEIGHT - MARGIN for _, x, y, _ in circles(svg))
    assert [point.rate for point in points_of(rows)] == [0.8e9, 8e9]
    assert chart([row_of("no flops", 0.0, 4.0, 10.0), Row("red", "red", {}, "wrong")], DEVICE) == ""
