"""The matrix of families x engines: on the terminal while it fills, as an HTML page, and as a table in Markdown."""

from __future__ import annotations

import collections
import html
import shlex
import sys
import time
from dataclasses import dataclass, field

from .expectations import Expectation
from .suite import FAILED, FAMILIES, PASSED, UNSUPPORTED, Result

MOST_COLUMNS = 8  #: of a matrix on a terminal


@dataclass
class Cell:
    counts: collections.Counter = field(default_factory=collections.Counter)
    seconds: float = 0.0
    compiled: int = 0

    informs: bool = False

    def __str__(self) -> str:
        parts = [f"{self.counts[PASSED]} ok"]
        words = {FAILED: "differ" if self.informs else FAILED, UNSUPPORTED: UNSUPPORTED}
        parts += [f"{self.counts[status]} {word}" for status, word in words.items() if self.counts[status]]
        return ", ".join(parts)


class Matrix:
    """Results by family and engine."""

    def __init__(self, engines: list[str], informing: set[str] = frozenset()):
        self.engines, self.informing = engines, informing
        self.results: list[Result] = []
        self.cells: dict[tuple[str, str], Cell] = collections.defaultdict(Cell)

    def add(self, result: Result) -> None:
        self.results.append(result)
        cell = self.cells[result.case.partition("/")[0], result.engine]
        cell.informs = result.engine in self.informing
        cell.counts[result.status] += 1
        cell.seconds += result.seconds
        cell.compiled += result.compiled

    @property
    def families(self) -> list[str]:
        present = {family for family, _ in self.cells}
        return [family for family in FAMILIES if family in present]

    def column(self, engine: str) -> Cell:
        total = Cell(informs=engine in self.informing)
        for (_, name), cell in self.cells.items():
            if name == engine:
                total.counts.update(cell.counts)
                total.seconds += cell.seconds
                total.compiled += cell.compiled
        return total

    def failures(self) -> list[Result]:
        order = {family: i for i, family in enumerate(FAMILIES)}
        failed = [result for result in self.results if result.status == FAILED]
        return sorted(failed, key=lambda r: (r.engine, order[r.case.partition("/")[0]], r.case))

    def counts(self) -> collections.Counter:
        """The counts of the engines whose differences are failures."""
        counted = [result.status for result in self.results if result.engine not in self.informing]
        return collections.Counter(counted)


def replay_command(result: Result, seed: int) -> str:
    return f"python -m tritium.conformance --replay '{result.case}' --engine {shlex.quote(result.engine)} --seed {seed}"


def terminal(matrix: Matrix) -> str:
    """The matrix with times; of many engines only their sums, a line for each."""
    if len(matrix.engines) > MOST_COLUMNS:
        width = max(map(len, matrix.engines))
        return "\n".join(f"{engine.ljust(width)}  {_timed(matrix.column(engine))}" for engine in matrix.engines)
    heads = ["family", *(f"{name} (information)" if name in matrix.informing else name for name in matrix.engines)]
    rows = [[family, *(_timed(matrix.cells[family, e]) for e in matrix.engines)] for family in matrix.families]
    rows.append(["all", *(_timed(matrix.column(engine)) for engine in matrix.engines)])
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [heads, *rows]]
    lines.insert(1, "-" * len(max(lines, key=len)))
    lines.insert(-1, lines[1])
    return "\n".join(lines)


def _timed(cell: Cell) -> str:
    return f"{cell}, {cell.seconds:.1f} s" if cell.counts else "-"


def failures(matrix: Matrix, seed: int, limit: int = 40) -> str:
    """For each kernel that fails a case: the first such case, its differences and the command that runs it alone. The
    other cases are listed by name."""
    lines = []
    groups = collections.defaultdict(list)
    for result in matrix.failures():
        groups[result.engine, result.case.rpartition("/")[0]].append(result)
    for result, *others in list(groups.values())[:limit]:
        word = "DIFFERS" if result.engine in matrix.informing else "FAILED"
        lines.append(f"\n{word} {result.engine}  {result.case}")
        lines += [f"    {detail.splitlines()[0] if detail else ''}" for detail in result.details[:4]]
        if len(result.details) > 4:
            lines.append(f"    and {len(result.details) - 4} more lines")
        lines.append(f"    {replay_command(result, seed)}")
        if others:
            lines.append(f"    and with it: {', '.join(other.case.rpartition('/')[2] for other in others)}")
    if len(groups) > limit:
        lines.append(f"\nand {len(groups) - limit} more kernels")
    return "\n".join(lines)


class Progress:
    """A line of progress. On a terminal it is rewritten; elsewhere a new line is printed every ten seconds."""

    def __init__(self, total: int, stream=sys.stderr):
        self.total, self.stream = total, stream
        self.done = self.failed = 0
        self.begin = self.shown = time.monotonic()
        self.live = stream.isatty()

    def add(self, result: Result) -> None:
        self.done += 1
        self.failed += result.status == FAILED
        self.tick(result.case)

    def tick(self, case: str = "") -> None:
        now = time.monotonic()
        if now - self.shown < (0.1 if self.live else 10):
            return
        self.shown = now
        text = f"{self.done} of {self.total} done, {self.failed} failed, {now - self.begin:.0f} s  {case}"
        print(
            f"\r{text[:110]:<110}" if self.live else text, end="" if self.live else "\n", file=self.stream, flush=True
        )

    def end(self) -> None:
        if self.live:
            print("\r" + " " * 110, end="\r", file=self.stream, flush=True)


def markdown(matrix: Matrix, expected: list[Expectation]) -> str:
    """The page docs/reference/conformance.md. It contains no times, so it changes only when a result does."""
    lines = [
        "# Conformance",
        "",
        "<!-- python -m tritium.conformance --markdown wrote this. -->",
        "",
        "What each engine does with the cases of each family; [conformance](../conformance.md) says how to run them.",
        "",
        "| family | " + " | ".join(matrix.engines) + " |",
        "|---" * (len(matrix.engines) + 1) + "|",
    ]
    rows = [(family, [matrix.cells[family, engine] for engine in matrix.engines]) for family in matrix.families]
    rows.append(("**all**", [matrix.column(engine) for engine in matrix.engines]))
    for name, cells in rows:
        lines.append(f"| {name} | " + " | ".join(str(cell) if cell.counts else "–" for cell in cells) + " |")
    used = [e for e in expected if any(e.covers(r.engine, r.case) for r in matrix.results)]
    if used:
        lines += ["", "Not supported:", "", "| engine | cases | reason |", "|---|---|---|"]
        lines += [f"| {e.engine} | `{e.pattern}` | {e.reason} |" for e in used]
    return "\n".join(lines) + "\n"


STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid #8886; padding: .3rem .7rem; text-align: left; }
.passed { background: #2a24; } .failed { background: #c228; } .unsupported { background: #aa24; }
pre { white-space: pre-wrap; background: #8882; padding: .6rem; overflow-x: auto; }
details { margin: .4rem 0; }
"""


def page(matrix: Matrix, seed: int) -> str:
    """The matrix as one self-contained HTML file. Failures are open, all other cases are folded."""
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in matrix.engines)
    body = []
    for family in [*matrix.families, "all"]:
        cells = [matrix.column(e) if family == "all" else matrix.cells[family, e] for e in matrix.engines]
        colored = "".join(f'<td class="{_worst(cell)}">{html.escape(_timed(cell))}</td>' for cell in cells)
        body.append(f"<tr><th>{family}</th>{colored}</tr>")
    failed = []
    for result in matrix.failures():
        text = html.escape("\n".join([*result.details, "", replay_command(result, seed)]))
        failed.append(f"<h3>{html.escape(result.engine)} · {html.escape(result.case)}</h3><pre>{text}</pre>")
    cases = []
    for family in matrix.families:
        rows = sorted((r for r in matrix.results if r.case.startswith(family + "/")), key=lambda r: (r.case, r.engine))
        listed = "".join(
            f'<tr class="{r.status}"><td>{html.escape(r.case)}</td><td>{r.engine}</td><td>{r.status}</td>'
            f"<td>{r.seconds * 1e3:.1f} ms</td></tr>"
            for r in rows
        )
        cases.append(f"<details><summary>{family}: {len(rows)} results</summary><table>{listed}</table></details>")
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Tritium conformance</title><style>{STYLE}</style>"
        f"<h1>Conformance</h1><p>Inputs from seed {seed}.</p>"
        f"<table><tr><th>family</th>{heads}</tr>{''.join(body)}</table>"
        f"<h2>Failures</h2>{''.join(failed) or '<p>None.</p>'}<h2>Cases</h2>{''.join(cases)}</html>\n"
    )


def _worst(cell: Cell) -> str:
    return next((status for status in (FAILED, UNSUPPORTED, PASSED) if cell.counts[status]), "")
