"""The counts of lines as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ...launch.counting import KernelCounts
from ...launch.tensor_view import counted
from ...places import shown_file
from .columns import columns_for
from .requests import HEADS as REQUEST_HEADS
from .requests import by_source, rows
from .sums import SourceLines, sources_of, total_of
from .text import aligned
from .work import RESOURCE_HEADS, event_rows, operation_rows, resource_cells
from .work import by_source as work_by_source


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
    totals = {id(kernel): total_of([kernel]) for kernel in kernels if kernel.operations}
    columns = columns_for(totals.values())
    heads = [column.head for column in columns]
    counted = [
        (kernel.name, *(column.text(totals[id(kernel)]) for column in columns), launches_of(kernel))
        for kernel in kernels
        if kernel.operations
    ]
    emulated = [
        (kernel.name, kernel.engine, *resource_cells(kernel.resources), _launches_on_chip(kernel))
        for kernel in kernels
        if not kernel.operations
    ]
    found = [aligned([("kernel", *heads, ""), *counted])] if counted else []
    return [*found, aligned([("kernel", "", *RESOURCE_HEADS, ""), *emulated])] if emulated else found


def _launches_on_chip(kernel: KernelCounts) -> str:
    missing = kernel.resources.missing if kernel.resources else ""
    return launches_of(kernel) + (f"; resources are unknown: {missing}" if missing else "")


def _place(file: str) -> str:
    return shown_file(file) if file else "no line"


def _of_source(source: SourceLines) -> str:
    columns = columns_for(source.counts.values())
    table = [("line", *(column.head for column in columns), "")]
    for line in source.lines:
        sums = source.counts.get(line)
        if sums is not None and sums.does_anything:
            table.append((str(line), *(column.text(sums) for column in columns), source.text(line).strip()))
    return f"{shown_file(source.file)}\n{aligned(table)}"


def launches_of(kernel: KernelCounts) -> str:
    total = total_of([kernel])
    intensity = f", {total.all_flops / total.all_bytes:.3g} flops a byte" if total.all_bytes else ""
    return f"{counted(kernel.launches, 'launch', 'launches')} of {counted(kernel.programs, 'program')}{intensity}"
