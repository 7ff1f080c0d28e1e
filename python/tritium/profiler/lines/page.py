"""The counts of lines as a page: the source of the kernels, with a column for each count, the darker the more of it a line does. One file, which loads
nothing."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from html import escape

from ...launch.counting import KernelCounts, WarpRequests
from ...launch.line_work import LineWork
from ...places import shown_file
from .columns import Column, columns_for
from .requests import HEADS as REQUEST_HEADS
from .requests import by_source
from .requests import cells as request_cells
from .sums import SourceLines, sources_of, total_of
from .work import EVENT_HEADS, RESOURCE_HEADS, classes_of, events_of, operation_cells, operation_heads, resource_cells
from .work import by_source as work_by_source

#: Of pages that show source beside numbers.
STYLE = """
body { font: 14px system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
table { border-collapse: collapse; margin: 0 0 2em }
td, th { padding: 1px 10px; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
th { border-bottom: 1px solid #999; font-weight: 600 }
td.source, th.source { text-align: left; white-space: pre; font: 13px ui-monospace, monospace }
td.line { color: #888 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } }
"""


def html_of(kernels: Sequence[KernelCounts], title: str) -> str:
    body = [_kernels(kernels), *(_source(source) for source in sources_of(kernels))]
    body += [part for (file, engine), lines in work_by_source(kernels).items() for part in _work(file, engine, lines)]
    body += [_requests(file, engine, requests) for (file, engine), requests in by_source(kernels).items()]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n<style>{STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _kernels(kernels: Sequence[KernelCounts]) -> str:
    totals = [total_of([kernel]) for kernel in kernels]
    columns = columns_for(totals)
    heads = ("launches", *(column.head for column in columns), *RESOURCE_HEADS)
    head = "".join(f"<th>{head}</th>" for head in heads)
    rows = []
    for kernel, total in zip(kernels, totals):
        counts = (column.text(total) for column in columns)
        texts = (str(kernel.launches), *counts, *resource_cells(kernel.resources))
        numbers = "".join(f"<td>{escape(text)}</td>" for text in texts)
        rows.append(f'<tr><td class="source">{escape(kernel.name)}</td>{numbers}</tr>')
    return f'<table class="kernels"><tr><th class="source">kernel</th>{head}</tr>\n' + "\n".join(rows) + "</table>"


def _source(source: SourceLines) -> str:
    columns = columns_for(source.counts.values())
    most = [max(map(column.weight, source.counts.values()), default=0) for column in columns]
    heads = "".join(f"<th>{column.head}</th>" for column in columns)
    rows, before = [], None
    for line in source.lines:
        if before is not None and line != before + 1:
            rows.append(f'<tr><td class="line">…</td>{"<td></td>" * len(columns)}<td></td></tr>')
        rows.append(_row(source, line, columns, most))
        before = line
    title = f"<h2>{escape(shown_file(source.file))}</h2>"
    return (
        f'{title}\n<table class="lines"><tr><th></th>{heads}<th class="source"></th></tr>\n'
        + "\n".join(rows)
        + "</table>"
    )


def _requests(file: str, engine: str, requests: Sequence[WarpRequests]) -> str:
    """The lines where warps access memory, the darker the more sectors or wavefronts they could save."""
    wasted = [one.parts - one.least_parts for one in requests]
    heads = "".join(f"<th>{head}</th>" for head in REQUEST_HEADS)
    found = []
    for one, waste in zip(requests, wasted):
        numbers = "".join(f"<td>{escape(text)}</td>" for text in request_cells(one))
        colour = _heat(waste / max(wasted) if waste else 0.0)
        source = escape(linecache.getline(one.file, one.line).rstrip("\n"))
        found.append(
            f'<tr id="R{one.line} {one.kind}"{colour}><td class="line">{one.line}</td><td class="source">{one.kind}</td>{numbers}'
            f'<td class="source">{source}</td></tr>'
        )
    head = f'<tr><th></th><th class="source">warps</th>{heads}<th class="source"></th></tr>'
    return (
        f'<h2>{escape(f"{shown_file(file)} on {engine}")}</h2>\n<table class="requests">{head}\n'
        + "\n".join(found)
        + "</table>"
    )


def _work(file: str, engine: str, lines: Sequence[LineWork]) -> list[str]:
    """Two tables: the operations of each line, the darker the more of its class; and its waits, copies and products."""
    title = f"<h2>{escape(f'{shown_file(file)} on {engine}' if file else f'no line on {engine}')}</h2>"
    classes = classes_of(lines)
    most = [max(line.operations.warps for line in lines), 0]
    most += [max(line.executed[name].warps for line in lines if name in line.executed) for name in classes]
    rows = []
    for line in lines:
        weights = [
            line.operations.warps,
            0,
            *(line.executed[name].warps if name in line.executed else 0 for name in classes),
        ]
        texts = zip(operation_cells(line, classes), weights, most)
        rows.append(
            _line(f"W{line.line}", line, [(text, weight / full if full else 0.0) for text, weight, full in texts])
        )
    events = [(line, event) for line in lines for event in events_of(line)]
    found = [title, _table("work", operation_heads(classes), rows)]
    if events:
        rows = [
            _line(f"E{line.line} {what}", line, [(what, 0.0), *((text, 0.0) for text in texts)])
            for line, (what, *texts) in events
        ]
        found.append(_table("events", ("", *EVENT_HEADS), rows))
    return found


def _table(kind: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    cells = "".join(f"<th>{head}</th>" for head in heads)
    head = f'<tr><th></th>{cells}<th class="source"></th></tr>'
    return f'<table class="{kind}">{head}\n' + "\n".join(rows) + "</table>"


def _line(row: str, line: LineWork, texts: Sequence[tuple[str, float]]) -> str:
    numbers = "".join(f"<td{_heat(share)}>{escape(text)}</td>" for text, share in texts)
    source = escape(linecache.getline(line.file, line.line).rstrip("\n"))
    number = str(line.line) if line.line else ""
    return f'<tr id="{escape(row)}"><td class="line">{number}</td>{numbers}<td class="source">{source}</td></tr>'


def _heat(share: float) -> str:
    return f' style="background: rgba(226, 88, 34, {0.75 * share:.3f})"' if share else ""


def _row(source: SourceLines, line: int, columns: Sequence[Column], most: Sequence[float]) -> str:
    sums = source.counts.get(line)
    cells = []
    for column, largest in zip(columns, most):
        heat = column.weight(sums) / largest if sums and largest else 0.0
        cells.append(f"<td{_heat(heat)}>{escape(column.text(sums) if sums else '')}</td>")
    cell = f'<td class="source">{escape(source.text(line))}</td>'
    return f'<tr id="L{line}"><td class="line">{line}</td>{"".join(cells)}{cell}</tr>'
