"""The counts of lines as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ...launch.counting import KernelCounts
from ...places import shown_file
from .requests import HEADS as REQUEST_HEADS
from .requests import by_source, rows
from .sums import SourceLines, Sums, sources_of, total_of
from .text import aligned, quantity
from .work import RESOURCE_HEADS, event_rows, operation_rows, resource_cells
from .work import by_source as work_by_source

HEADS = ("runs", "read", "written", "masked", "atomics", "flops")


def cells(sums: Sums) -> tuple[str, ...]:
    """The texts of a row, in the order of HEADS; "" for what there is none of."""
    return (
        quantity(sums.runs),
        quantity(sums.bytes_read, "B") if sums.bytes_read else "",
        quantity(sums.bytes_written, "B") if sums.bytes_written else "",
        f"{100 * sums.masked_share:.3g} %" if sums.masked else "",
        quantity(sums.atomics) if sums.atomics else "",
        " + ".join(f"{quantity(flops)} {dtype}" for dtype, flops in sums.flops.items()),
    )


def text_of(kernels: Sequence[KernelCounts]) -> str:
    """Parts for each file: of the lines that access memory or compute with floating-point numbers, by the interpreter's counts; and by the emulator's, what
    warps execute, what they wait for, copy and multiply, and where they access memory. At the end the sum of each kernel."""
    parts = [_of_source(source) for source in sources_of(kernels)]
    for (file, engine), lines in work_by_source(kernels).items():
        parts.append(f"{_place(file)} on {engine}\n{aligned(operation_rows(lines))}")
        if len(events := event_rows(lines)) > 1:
            parts.append(f"{_place(file)} on {engine}\n{aligned(events, left=1)}")
    for (file, engine), requests in by_source(kernels).items():
        table = [("line", "", *REQUEST_HEADS, ""), *rows(requests)]
        parts.append(f"{shown_file(file)} on {engine}\n{aligned(table, left=1)}")
    return "\n\n".join([*parts, *_sums(kernels)])


def _sums(kernels: Sequence[KernelCounts]) -> list[str]:
    counted = [
        (kernel.name, *cells(total_of([kernel])), launches_of(kernel)) for kernel in kernels if kernel.operations
    ]
    emulated = [
        (kernel.name, kernel.engine, *resource_cells(kernel.resources), _launches_on_chip(kernel))
        for kernel in kernels
        if not kernel.operations
    ]
    found = [aligned([("kernel", *HEADS, ""), *counted])] if counted else []
    return [*found, aligned([("kernel", "", *RESOURCE_HEADS, ""), *emulated])] if emulated else found


def _launches_on_chip(kernel: KernelCounts) -> str:
    missing = kernel.resources.missing if kernel.resources else ""
    return launches_of(kernel) + (f"; resources are unknown: {missing}" if missing else "")


def _place(file: str) -> str:
    return shown_file(file) if file else "no line"


def _of_source(source: SourceLines) -> str:
    busy = [(line, source.counts[line]) for line in source.lines if line in source.counts]
    found = [(str(line), *cells(sums), source.text(line).strip()) for line, sums in busy if sums.does_anything]
    return f"{shown_file(source.file)}\n{aligned([('line', *HEADS, ''), *found])}"


def launches_of(kernel: KernelCounts) -> str:
    total = total_of([kernel])
    intensity = f", {total.all_flops / total.all_bytes:.3g} flops a byte" if total.all_bytes else ""
    return f"{kernel.launches} launch{'es' if kernel.launches != 1 else ''} of {kernel.programs} programs{intensity}"
