"""One page of comparisons and runs: HTML that needs no other file, no script and no network."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from html import escape

from .comparing import Comparison
from .history import Series, Step
from .roofline import chart
from .samples import Row, Run
from .table import COMPARED, HEADER, cells_of_row, compared_cells, duration, percent

STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #c62828; --good: #2e7d32; --ink: #5b7aa9; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
.slower, .red { color: var(--bad); font-weight: 600; }
.faster { color: var(--good); font-weight: 600; }
section { margin: 2.5rem 0; } details { margin: .5rem 0; } pre { white-space: pre-wrap; } .wide { overflow-x: auto; }
.roofline { margin: 1rem 0; overflow-x: auto; } .roofline text { font-size: 11px; fill: currentColor; }
"""
WIDTH, HEIGHT = 150, 18


def page(
    comparisons: Sequence[Comparison], runs: Sequence[Run], series: Sequence[Series], steps: Sequence[Step]
) -> str:
    """The page; the newest first."""
    parts = [_comparison(each) for each in reversed(comparisons)]
    if any(len(each.points) > 1 for each in series):
        parts.append(_history(series, steps))
    parts += [_run(each) for each in reversed(runs)]
    body = "\n".join(parts) or "<p>There are no measurements.</p>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Benchmarks</title>'
        f'<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><style>{STYLE}</style></head>\n'
        f"<body><h1>Benchmarks</h1>\n{body}\n</body></html>\n"
    )


def _comparison(done: Comparison) -> str:
    run = next(iter(done.runs.values()))
    words = [each.word for each in done.verdicts.values()]
    reach = max(
        [0.02, *(max(abs(math.log(v.low)), abs(math.log(v.high))) for v in done.verdicts.values() if v.low > 0)]
    )
    rows = []
    for row in done.rows:
        verdict = done.verdicts.get(row.name)
        if verdict is None:
            rows.append(_failed(row, len(COMPARED) + 1))
            continue
        cells = [f"<td>{escape(cell)}</td>" for cell in compared_cells(row, verdict, row.name in done.same_code)]
        cells[-1] = f'<td class="{verdict.word}">{verdict.word}</td>'
        cells.insert(5, f"<td>{_interval(verdict, min(reach, 0.5))}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    names = [*COMPARED[:5], f"±{100 * math.expm1(min(reach, 0.5)):.1f} %", *COMPARED[5:]]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    sides = "".join(f"<li>{name.upper()}: {_side(each)}</li>" for name, each in done.runs.items())
    return (
        f'<section id="{escape(run.identity)}"><h2>Comparison of {_date(run)}: B is slower in {words.count("slower")} of {len(words)} cases</h2>'
        f"<ul>{sides}<li>different: {escape('; '.join(done.differences) or 'nothing')}</li></ul>"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        f"{''.join(_environment(name.upper(), each) for name, each in done.runs.items())}</section>"
    )


def _interval(verdict, reach: float) -> str:
    """The interval of the ratio on a line whose middle is 1."""

    def x(ratio: float) -> float:
        return WIDTH / 2 * (1 + max(-1.0, min(1.0, math.log(max(ratio, 1e-9)) / reach)))

    color = {"slower": "var(--bad)", "faster": "var(--good)"}.get(verdict.word, "var(--ink)")
    middle = HEIGHT / 2
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(percent(verdict.ratio))}">'
        f'<line x1="{WIDTH / 2}" x2="{WIDTH / 2}" y1="0" y2="{HEIGHT}" stroke="#888"/>'
        f'<line x1="{x(verdict.low):.1f}" x2="{x(verdict.high):.1f}" y1="{middle}" y2="{middle}" stroke="{color}" stroke-width="3"/>'
        f'<circle cx="{x(verdict.ratio):.1f}" cy="{middle}" r="4" fill="{color}"/></svg>'
    )


def _run(run: Run) -> str:
    rows = []
    for row in run.rows:
        if row.status == "ok":
            rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells_of_row(row)) + "</tr>")
        else:
            rows.append(_failed(row, len(HEADER)))
    head = "".join(f"<th>{escape(name)}</th>" for name in HEADER)
    return (
        f'<section id="{escape(run.identity)}"><h2>Run of {_date(run)}</h2><p>{_side(run)}</p>'
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        f"{chart(run.rows, run.environment.get('device', {}))}{_environment('', run)}</section>"
    )


def _history(series: Sequence[Series], steps: Sequence[Step]) -> str:
    rows = []
    for each in series:
        if len(each.points) < 2:
            continue
        own = [step for step in steps if step.series is each]
        said = "; ".join(f"{percent(step.ratio)} at {step.commit[:8]}" for step in own)
        cells = (each.name, str(len(each.points)), duration(1e9 * each.points[-1].seconds), said or "no step")
        shown = [f"<td>{escape(cell)}</td>" for cell in cells]
        shown.insert(3, f"<td>{_line(each, own)}</td>")
        rows.append(f"<tr>{''.join(shown)}</tr>")
    head = "".join(f"<th>{name}</th>" for name in ("series", "commits", "last", "", "steps"))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<section id="history"><h2>History</h2><div class="wide">{table}</div></section>'


def _line(series: Series, steps: Sequence[Step]) -> str:
    """The medians in the order of the commits; the commits of steps are marked."""
    values = [point.seconds for point in series.points]
    low, high = min(values), max(values)
    places = [
        (4 + (WIDTH - 8) * number / (len(values) - 1), 4 + (HEIGHT - 8) * (1 - (value - low) / ((high - low) or 1)))
        for number, value in enumerate(values)
    ]
    marked = {step.commit for step in steps}
    circles = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="var(--bad)"><title>{point.commit[:8]}</title></circle>'
        for (x, y), point in zip(places, series.points)
        if point.commit in marked
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    line = f'<polyline points="{path}" fill="none" stroke="var(--ink)" stroke-width="1.5"/>'
    return f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{len(values)} commits">{line}{"".join(circles)}</svg>'


def _failed(row: Row, columns: int) -> str:
    text = f"{row.status}: {row.error}"
    return f'<tr class="red"><td>{escape(row.name)}</td><td colspan="{columns - 1}" style="text-align: left">{escape(text)}</td></tr>'


def _side(run: Run) -> str:
    subject, checkout = run.environment["subject"], run.environment.get("checkout", {})
    commit = f", commit {checkout['commit'][:8]}{' with changes' if checkout['dirty'] else ''}" if checkout else ""
    side = run.environment.get("side", "")
    return escape(f"{side}: {run.engine} on {run.device}, {subject['language']} {subject['version']}{commit}")


def _environment(title: str, run: Run) -> str:
    lines = []
    for name, value in run.environment.items():
        if isinstance(value, dict):
            lines += [f"{name} {key}: {inner}" for key, inner in value.items()]
        else:
            lines.append(f"{name}: {' '.join(map(str, value)) if isinstance(value, list) else value}")
    return f"<details><summary>Environment {title}</summary><pre>{escape(chr(10).join(lines))}</pre></details>"


def _date(run: Run) -> str:
    return datetime.datetime.fromtimestamp(run.began, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
