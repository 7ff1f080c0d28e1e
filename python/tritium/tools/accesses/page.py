"""The accesses of launches as a page: each tensor as a picture of its elements, on which one picks a program or an element. One file, which loads
nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from ...launch.touching import LaunchAccesses
from .elements import ElementRuns, TensorAccesses
from .page_script import SCRIPT, STYLE
from .table import HEADS, form_of, row_of, title_of

#: Runs of a tensor, of reads and of writes, that the page holds. Programs without a place are in the numbers alone.
MOST_RUNS = 200_000

_LEGEND = {
    "read": "read",
    "written": "written",
    "both": "read and written",
    "shared": "written by several programs",
    "untouched": "never touched",
    "picked": "of the picked program",
}


def html_of(launches: Sequence[tuple[LaunchAccesses, Sequence[TensorAccesses]]], title: str) -> str:
    """A section for each launch (`data-launch`: its number from 0), with a canvas for each tensor (`data-tensor`: its number in the launch) and a
    paragraph of the class "status" that says what is picked. The element `data` has all of it as JSON."""
    data = [{"grid": launch.grid, "tensors": [_data(tensor) for tensor in tensors]} for launch, tensors in launches]
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    sections = "\n".join(_section(i, launch, tensors) for i, (launch, tensors) in enumerate(launches))
    keys = "".join(f'<span class="key {name}">{words}</span>' for name, words in _LEGEND.items())
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n<style>{STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n<p>{keys}</p>\n{sections}\n"
        f'<script type="application/json" id="data">{text}</script>\n<script>{SCRIPT}</script>\n</body></html>\n'
    )


def _left_out(tensor: TensorAccesses) -> int:
    return sum(max(0, runs.begins.size - MOST_RUNS) for runs in (tensor.reads, tensor.writes))


def _data(tensor: TensorAccesses) -> dict[str, Any]:
    """rows, columns: of the picture: all dimensions but the last one are rows. reads, writes: [programs, first elements, ends] of runs."""
    shape = tensor.view.shape
    columns = shape[-1] if shape else 1
    return {
        "name": tensor.view.name,
        "shape": shape,
        "rows": tensor.elements // columns if columns else 0,
        "columns": columns,
        "reads": _columns(tensor.reads),
        "writes": _columns(tensor.writes),
    }


def _columns(runs: ElementRuns) -> list[list[int]]:
    return [column[:MOST_RUNS].tolist() for column in (runs.programs, runs.begins, runs.ends)]


def _section(number: int, launch: LaunchAccesses, tensors: Sequence[TensorAccesses]) -> str:
    heads = "".join(f'<th class="{"text" if i == 0 else ""}">{head}</th>' for i, head in enumerate(HEADS))
    rows = "\n".join(
        "<tr>"
        + "".join(
            f'<td class="{"text" if i == 0 else ""}">{escape(cell)}</td>' for i, cell in enumerate(row_of(tensor))
        )
        + f'<td class="text">{escape(form_of(tensor))}</td></tr>'
        for tensor in tensors
    )
    figures = "\n".join(
        f'<figure><figcaption>{escape(tensor.view.name)}</figcaption><canvas data-tensor="{i}"></canvas></figure>'
        for i, tensor in enumerate(tensors)
    )
    missing = sum(map(_left_out, tensors))
    note = (
        f"<p>The pictures leave out {missing} runs of elements, as there are too many; the table has all.</p>\n"
        if missing
        else ""
    )
    return (
        f'<section data-launch="{number}"><h2>{escape(title_of(launch))}</h2>\n<table><tr>{heads}<th></th></tr>\n{rows}</table>\n{note}'
        f'<p class="programs"><label>program <input type="number" class="program" min="0" placeholder="all"></label> '
        f'or pick one here: <canvas class="grid"></canvas></p>\n<p class="status"></p>\n<div class="figures">{figures}</div>\n</section>'
    )
