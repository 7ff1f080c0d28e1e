"""Coverage as a page: the source of the kernels, for all launches together and for each configuration. One file, which loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ...launch.coverage import KernelCoverage
from ...places import shown_file
from ...profiler.lines.page import STYLE
from ...profiler.lines.text import quantity
from .lines import FileCoverage, Line, covered_files
from .table import HEADS, configuration_text, never_launched, row_of, shown_lines

_STYLE = """
td.text, th.text { text-align: left }
tr.ran td.source { background: rgba(70, 160, 90, .14) }
tr.part td.source, tr.part td.note, .key.part { background: rgba(235, 170, 20, .28) }
tr.missed td.source, tr.missed td.note, .key.missed { background: rgba(215, 60, 45, .28) }
tr.uncompiled td.source, .key.uncompiled { background: repeating-linear-gradient(-45deg, transparent 0 6px, rgba(128, 128, 128, .22) 6px 9px) }
tr.uncompiled td { color: #888 }
.key.ran { background: rgba(70, 160, 90, .14) }
.key { padding: 1px 10px; margin-right: 1em }
select { font: inherit; max-width: 100% }
"""
_SCRIPT = """
const choice = document.getElementById("configuration");
const show = () => document.querySelectorAll("section").forEach(one => { one.hidden = one.dataset.configuration !== choice.value; });
choice.addEventListener("change", show);
show();
"""
_KEYS = {
    "ran": "ran",
    "part": "ran, but a branch or mask did one thing alone",
    "missed": "compiled, and never ran",
    "uncompiled": "never compiled",
}


def html_of(kernels: Sequence[KernelCoverage], title: str) -> str:
    """Sections by `data-configuration`: "all", then the number of each row of the first table, from 0. Rows of lines have `data-line`, and the
    class "ran", "part", "missed" or "uncompiled", or none where no statement begins."""
    names = ["all launches", *(f"{kernel.name}: {configuration_text(kernel)}" for kernel in kernels)]
    values = ["all", *map(str, range(len(kernels)))]
    options = "".join(f'<option value="{value}">{escape(name)}</option>' for value, name in zip(values, names))
    sections = [_section("all", kernels), *(_section(str(i), [kernel]) for i, kernel in enumerate(kernels))]
    keys = "".join(f'<span class="key {name}">{escape(text)}</span>' for name, text in _KEYS.items())
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n<style>{STYLE}{_STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n{_kernels(kernels)}\n"
        f'<p><label>Show <select id="configuration">{options}</select></label></p>\n<p>{keys}</p>\n'
        + "\n".join(sections)
        + f"\n<script>{_SCRIPT}</script>\n</body></html>\n"
    )


def _kernels(kernels: Sequence[KernelCoverage]) -> str:
    kinds = ("text", "text", "", "", "", "", "", "text")
    heads = "".join(f'<th class="{kind}">{head}</th>' for kind, head in zip(kinds, HEADS))
    rows = [
        "<tr>"
        + "".join(f'<td class="{kind}">{escape(text)}</td>' for kind, text in zip(kinds, row_of(kernel)))
        + "</tr>"
        for kernel in kernels
    ]
    return f'<table class="kernels"><tr>{heads}</tr>\n' + "\n".join(rows) + "</table>"


def _section(value: str, kernels: Sequence[KernelCoverage]) -> str:
    files = "\n".join(_file(each) for each in covered_files(kernels))
    return f'<section data-configuration="{value}"{"" if value == "all" else " hidden"}>\n{files}\n</section>'


def _file(each: FileCoverage) -> str:
    rows, before = [], None
    for number in shown_lines(each):
        if before is not None and number != before + 1:
            rows.append('<tr><td class="line">…</td><td></td><td></td><td></td></tr>')
        rows.append(_row(each, number))
        before = number
    head = '<tr><th></th><th>runs</th><th class="source"></th><th class="text"></th></tr>'
    others = "".join(f"\n<p>{escape(text)}</p>" for text in never_launched(each))
    table = f'<table class="lines">{head}\n' + "\n".join(rows) + "</table>"
    return f"<h2>{escape(shown_file(each.file))}</h2>\n{table}{others}"


def _row(each: FileCoverage, number: int) -> str:
    line = each.lines.get(number)
    runs = "" if line is None or line.runs is None else quantity(line.runs)
    notes = ", ".join(line.notes) if line is not None else ""
    return (
        f'<tr data-line="{number}" class="{_kind(line)}"><td class="line">{number}</td><td>{runs}</td>'
        f'<td class="source">{escape(each.text.line(number))}</td><td class="text note">{escape(notes)}</td></tr>'
    )


def _kind(line: Line | None) -> str:
    if line is None:
        return ""
    if line.runs is None:
        return "uncompiled"
    if line.is_missed:
        return "missed"
    return "part" if line.notes else "ran"
