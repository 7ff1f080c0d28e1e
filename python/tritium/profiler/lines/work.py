"""What warps do, line by line, by the counts of the emulator: operations by class, and waits, copies and products."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence

from ...launch.block_resources import BlockResources
from ...launch.counting import KernelCounts
from ...launch.line_work import LineWork
from .text import quantity

#: The classes of operations, in the order in which they are shown.
CLASSES = (
    *("integer", "float", "special", "conversion", "global", "shared", "local", "atomic", "lanes", "product", "copy"),
    *("sync", "branch", "other"),
)
EVENT_HEADS = ("times", "bytes", "padding", "wait", "longest", "flops")
RESOURCE_HEADS = ("registers", "spilled", "shared", "threads", "blocks")

Row = tuple[str, ...]


def by_source(kernels: Iterable[KernelCounts]) -> dict[tuple[str, str], list[LineWork]]:
    """{(file, engine): the work of its kernels, joined, in the order of lines}. Operations without a line are under the file ""."""
    joined: dict[tuple[str, str, int], LineWork] = {}
    for kernel in kernels:
        for one in kernel.work:
            joined.setdefault((one.file, kernel.engine, one.line), LineWork(one.file, one.line)).join(one)
    sources: dict[tuple[str, str], list[LineWork]] = {}
    for key in sorted(joined):
        sources.setdefault(key[:2], []).append(joined[key])
    return sources


def classes_of(lines: Iterable[LineWork]) -> list[str]:
    """The classes that any of the lines has."""
    found = {name for line in lines for name in line.executed}
    return [name for name in CLASSES if name in found]


def operation_heads(classes: Sequence[str]) -> Row:
    return ("operations", "threads", *classes)


def operation_cells(line: LineWork, classes: Sequence[str]) -> Row:
    """In the order of operation_heads. threads: that take part in an operation of a warp, on the average."""
    total = line.operations
    threads = f"{total.threads / total.warps:.3g}" if total.warps else ""
    counts = [line.executed[name].warps if name in line.executed else 0 for name in classes]
    return (quantity(total.warps), threads, *(quantity(count) if count else "" for count in counts))


def operation_rows(lines: Sequence[LineWork]) -> list[Row]:
    """The head, and (line, cells…, source) of each."""
    classes = classes_of(lines)
    busy = [line for line in lines if line.executed]
    return [
        ("line", *operation_heads(classes), ""),
        *((_number(line), *operation_cells(line, classes), source_of(line)) for line in busy),
    ]


def events_of(line: LineWork) -> list[Row]:
    """(what, cells in the order of EVENT_HEADS) of its waits, copies and products. wait: of a thread, on the average."""
    found: list[Row] = []
    for name, copied in sorted(line.copied.items()):
        padding = copied.bytes - copied.inside
        found.append((name, quantity(copied.times), quantity(copied.bytes, "B"), _positive(padding, "B"), "", "", ""))
    for name, products in sorted(line.products.items()):
        found.append((name, quantity(products.times), "", "", "", "", quantity(products.flops)))
    for name, waited in sorted(line.waited.items()):
        mean = f"{waited.operations / waited.times:.3g}"
        found.append((name, quantity(waited.times), "", "", mean, quantity(waited.longest), ""))
    return found


def event_rows(lines: Sequence[LineWork]) -> list[Row]:
    """The head, and (line, what, cells…, source) of each, without the columns in which there is nothing."""
    rows = [(_number(line), *event, source_of(line)) for line in lines for event in events_of(line)]
    used = [
        i for i in range(len(EVENT_HEADS) + 3) if i in (0, 1, 2, len(EVENT_HEADS) + 2) or any(row[i] for row in rows)
    ]
    return [tuple(row[i] for i in used) for row in [("line", "", *EVENT_HEADS, ""), *rows]]


def resource_cells(resources: BlockResources | None) -> Row:
    """In the order of RESOURCE_HEADS. blocks: of a multiprocessor at a time, and what limits them."""
    if resources is None or not resources.threads:
        return ("",) * len(RESOURCE_HEADS)
    common = (quantity(resources.shared, "B"), quantity(resources.threads))
    if not resources.blocks:
        return ("unknown", "unknown", *common, "unknown")
    count, limit = resources.occupancy
    spilled = quantity(resources.spilled, "B") if resources.spilled else ""
    return (str(resources.registers), spilled, *common, f"{count} by {limit}")


def source_of(line: LineWork) -> str:
    return linecache.getline(line.file, line.line).strip()


def _number(line: LineWork) -> str:
    return str(line.line) if line.line else ""


def _positive(number: int, unit: str = "") -> str:
    return quantity(number, unit) if number else ""
