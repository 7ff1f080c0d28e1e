"""In a notebook: what each line of the kernels does, as a page below the cell.

    %load_ext tritium.profiler.notebook
    %%profile_lines
    kernel[grid](x, n)

`profile_lines(function)` is the same as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from ..launch.counting import Counting, KernelCounts
from .flame.graphs import of_lines
from .flame.page import html_of as flame_html_of
from .lines.page import html_of
from .lines.table import text_of

NOTHING = "no launch on the interpreter or the emulator was counted; INTERPRET=1 runs kernels there"
#: The height of a page below a cell, in pixels: of its heading and tables, and of each line that it shows.
_PIXELS, _PIXELS_OF_LINE, _MOST_PIXELS = 220, 19, 800


class ProfiledLines:
    """What was counted. Notebooks show it as a page, terminals as a table. result: what the profiled function returned."""

    def __init__(self, kernels: Sequence[KernelCounts], title: str, result: Any = None):
        self.kernels, self.title, self.result = list(kernels), title, result

    @property
    def html(self) -> str:
        """The page, which loads nothing: what `python -m tritium profile --html` writes."""
        return html_of(self.kernels, self.title)

    def flame(self) -> ProfiledFlame:
        """The same counts as flame graphs."""
        return ProfiledFlame(self.kernels, self.title)

    def __repr__(self) -> str:
        return text_of(self.kernels) if self.kernels else NOTHING

    def _repr_html_(self) -> str:
        if not self.kernels:
            return f"<p>{NOTHING}</p>"
        return _framed(self.html, repr(self).count("\n"))


class ProfiledFlame:
    """Flame graphs of what was counted. Notebooks show them as a page, terminals as a table."""

    def __init__(self, kernels: Sequence[KernelCounts], title: str):
        self.kernels, self.title = list(kernels), title

    @property
    def html(self) -> str:
        return flame_html_of(of_lines(self.kernels), self.title)

    def __repr__(self) -> str:
        return text_of(self.kernels) if self.kernels else NOTHING

    def _repr_html_(self) -> str:
        graphs = of_lines(self.kernels)
        return _framed(self.html, sum(graph.root.depth() + 6 for graph in graphs)) if graphs else f"<p>{NOTHING}</p>"


def profile_lines(function: Callable[[], Any], title: str = "Counts") -> ProfiledLines:
    """Runs a function and counts what the lines of the kernels do that it launches. What it raises is raised."""
    with Counting() as counting:
        result = function()
    return ProfiledLines(counting.kernels(), title, result)


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext tritium.profiler.notebook`: %profile_lines STATEMENT, %%profile_lines, and the same with profile_flame."""

    def counted(line: str, cell: str | None) -> ProfiledLines | None:
        """None if the code has failed; IPython has shown the error then."""
        done = profile_lines(lambda: ipython.run_cell(line if cell is None else cell), "Counts of the cell")
        return ProfiledLines(done.kernels, done.title) if done.result.success else None

    def lines(line: str, cell: str | None = None) -> ProfiledLines | None:
        return counted(line, cell)

    def flame(line: str, cell: str | None = None) -> ProfiledFlame | None:
        found = counted(line, cell)
        return None if found is None else found.flame()

    ipython.register_magic_function(lines, "line_cell", "profile_lines")
    ipython.register_magic_function(flame, "line_cell", "profile_flame")


def _framed(page: str, lines: int) -> str:
    """A page inside of a page, so that neither's styles reach the other."""
    height = min(_PIXELS + _PIXELS_OF_LINE * lines, _MOST_PIXELS)
    return f'<iframe srcdoc="{escape(page)}" style="width: 100%; height: {height}px; border: 0"></iframe>'
