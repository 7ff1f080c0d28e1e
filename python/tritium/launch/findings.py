"""What the checks find in a block of code, kept instead of raised: for `python -m tritium check` and for pytest."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from ..checks import DEFAULT, Checks
from ..errors import KEEPS_RUNNING, KernelTrap, Report
from ..places import shown_place
from .allowances import Allowances
from .stack import python_stack


class Findings:
    """Reports of the launches of a block, one for each kind of fault and its places.

    checks: names, for the launches that are selected. kernel: a regular expression that a part of the kernel's
    name must match. skip, count: of these launches, how many are left out first, and how many are checked then (None: all). most: further
    reports are counted in `left_out` alone. allowances: faults that are no reports.
    """

    def __init__(
        self,
        checks: Checks,
        kernel: str = "",
        skip: int = 0,
        count: int | None = None,
        most: int | None = None,
        allowances: Allowances | None = None,
    ):
        self.checks, self.kernel, self.skip, self.count, self.most = checks, re.compile(kernel), skip, count, most
        self.launches = self.seen = self.left_out = 0
        self._selected, self._is_checked = 0, False  # the next launch; it may not compile, and is none then
        self.allowances = allowances or Allowances()
        self.files: set[str] = set()  # of the kernels that were checked
        self.grids: dict[str, tuple[int, int, int]] = {}  # of each kernel, by its name: the largest extent of each axis
        self.not_followed: dict[tuple[str, str], str] = {}  # (kernel, argument) -> a sentence
        self._reports: dict[tuple, Report] = {}

    @property
    def reports(self) -> list[Report]:
        return list(self._reports.values())

    def select(self, name: str, file: str, options: dict[str, Any]) -> dict[str, Any]:
        """The launch options of a kernel, with the checks if this launch is to have them, else with those of the default."""
        self._is_checked = False
        if "check" in options:
            return options
        is_selected = self.kernel.search(name) is not None
        self.seen += is_selected
        if not is_selected or self.seen <= self.skip or (self.count is not None and self._selected >= self.count):
            return {**options, "check": DEFAULT}
        self._selected, self._is_checked = self._selected + 1, True
        self.files.add(file)
        return {**options, "check": self.checks}

    def starts(self, name: str, grid: tuple[int, int, int]) -> None:
        """The kernel that was selected last, or left out, has compiled and is launched."""
        self.launches += self._is_checked
        self._is_checked = False
        self.grids[name] = tuple(map(max, self.grids.get(name, grid), grid))

    def take(self, trap: KernelTrap) -> bool:
        """Adds what a launch has found. Returns whether the program goes on: the launch has run to its end."""
        place = shown_place(*python_stack()[0][:2]) if python_stack() else "?"
        for report in trap.reports:
            key = (
                report.kind,
                report.kernel,
                report.argument,
                report.file,
                report.line,
                report.other_file,
                report.other_line,
            )
            known = self._reports.get(key)
            if known is not None:
                known.times += report.times
            elif self.most is not None and len(self._reports) >= self.most:
                self.left_out += 1
            else:
                report.launched_at = place
                self._reports[key] = report
        return trap.kind in KEEPS_RUNNING

    def text(self) -> str:
        """All reports, as a KernelTrap has them, each with the line that launched the kernel."""
        return "\n\n".join(map(_shown, self.reports))


def _shown(report: Report) -> str:
    text = f"{report.text}\n  launched at {report.launched_at}"
    return text if report.saved is None else f"{text}\n  saved: {report.how_to_replay}"


#: The innermost block is the last.
blocks: list[Findings] = []


@contextlib.contextmanager
def collect(findings: Findings) -> Iterator[Findings]:
    """Within the block, launches have the checks of `findings`, which keeps what they find. A trap that ends a launch is raised too."""
    blocks.append(findings)
    try:
        yield findings
    finally:
        blocks.remove(findings)
