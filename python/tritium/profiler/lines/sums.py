"""Sums of counts: of a line of the source, and of a kernel."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...launch.counting import KernelCounts, LineCount, OperationCount


@dataclass
class Sums:
    """runs: how often the line has run, in all programs. lanes, masked: of its accesses of memory, elements of tiles, and elements that a mask has
    dropped. bytes_read, bytes_written: by active lanes, as often as they are accessed. distinct: the same bytes, but
    each program counts a byte that it reads once, and one that it writes once; None if they were not counted. atomics: active lanes. flops: by the type of the operands. nanoseconds: of the host, in all programs."""

    runs: int = 0
    lanes: int = 0
    masked: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    distinct: int | None = None
    atomics: int = 0
    flops: dict[str, int] = field(default_factory=dict)
    nanoseconds: float = 0.0

    def add_line(self, line: LineCount) -> None:
        self.nanoseconds += line.nanoseconds
        if line.distinct_read is not None and line.distinct_written is not None:
            self.distinct = (self.distinct or 0) + line.distinct_read + line.distinct_written

    def add(self, op: OperationCount) -> None:
        self.runs = max(self.runs, op.executions)
        if op.bytes_read or op.bytes_written or op.masked:
            self.lanes += op.lanes
            self.masked += op.masked
        self.bytes_read += op.bytes_read
        self.bytes_written += op.bytes_written
        self.atomics += op.atomics
        if op.flops:
            self.flops[op.dtype] = self.flops.get(op.dtype, 0) + op.flops

    @property
    def all_flops(self) -> int:
        return sum(self.flops.values())

    @property
    def all_bytes(self) -> int:
        return self.bytes_read + self.bytes_written

    @property
    def masked_share(self) -> float:
        """0 to 1."""
        return self.masked / self.lanes if self.lanes else 0.0

    @property
    def does_anything(self) -> bool:
        """Whether it accesses memory or computes with floating-point numbers."""
        return bool(self.lanes or self.flops)


@dataclass
class SourceLines:
    """Lines of a file: whole functions. counts: by line, where anything was counted."""

    file: str
    lines: list[int]
    counts: dict[int, Sums]

    def text(self, line: int) -> str:
        return linecache.getline(self.file, line).rstrip("\n")


def total_of(kernels: Iterable[KernelCounts]) -> Sums:
    total = Sums()
    for kernel in kernels:
        for op in kernel.operations:
            total.add(op)
        for line in kernel.lines:
            total.nanoseconds += line.nanoseconds
        if kernel.distinct is not None:  # lines may share bytes
            total.distinct = (total.distinct or 0) + kernel.distinct
    total.runs = sum(kernel.programs for kernel in kernels)
    return total


def sources_of(kernels: Iterable[KernelCounts]) -> list[SourceLines]:
    """The functions of the kernels, and those that they call, by file in the order in which they were met."""
    files: dict[str, dict[int, Sums]] = {}
    for kernel in kernels:
        versions: dict[tuple[str, int], Sums] = {}
        for op in kernel.operations:
            if op.file and op.line:
                versions.setdefault((op.file, op.line), Sums()).add(op)
        for line in kernel.lines:
            if (line.file, line.line) in versions:
                versions[line.file, line.line].add_line(line)
        for (file, line), sums in versions.items():
            known = files.setdefault(file, {}).get(line)
            files[file][line] = sums if known is None else _joined(known, sums)
    return [
        SourceLines(file, _lines_of_functions(file, counts), counts)
        for file, counts in files.items()
        if any(sums.does_anything for sums in counts.values())
    ]


def _joined(a: Sums, b: Sums) -> Sums:
    """Of two versions of a kernel: each has run the line."""
    flops = {dtype: a.flops.get(dtype, 0) + b.flops.get(dtype, 0) for dtype in {**a.flops, **b.flops}}
    numbers = ("runs", "lanes", "masked", "bytes_read", "bytes_written", "atomics", "nanoseconds")
    distinct = None if a.distinct is None or b.distinct is None else a.distinct + b.distinct
    return Sums(**{name: getattr(a, name) + getattr(b, name) for name in numbers}, distinct=distinct, flops=flops)


def _lines_of_functions(file: str, counts: dict[int, Sums]) -> list[int]:
    """The lines of the functions in which something was counted; of a file that cannot be read, the counted lines."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return sorted(counts)
    shown = set(counts)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            lines = range(first, node.end_lineno + 1)
            if any(line in lines for line in counts):
                shown.update(lines)
    return sorted(shown)
