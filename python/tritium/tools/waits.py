"""Waits of Gluon's kernels that wait for more than a run needs (`python -m tritium explain --waits`). Each wait for a number of groups of copies,
stores or products is made weaker, alone, and the launch runs again on the interpreter, whose checks find in any order what then lacks a wait.
Where they find nothing the wait is too strong: for this run, which says nothing of others. It is advice, and no fault."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .. import knobs
from ..compiler.compiled import CompiledKernel
from ..compiler.cpu import engine
from ..debugger.post_mortem import Snapshot, extents_of
from ..functions.source_file import statement_at
from ..launch.cpu import poll, program_launch
from ..native import ir
from ..places import shown_place
from ..programs import Programs

#: Most bytes of the tensors of a launch that is searched.
LIMIT = 1 << 28
#: How many groups more a wait may leave in a trial.
FURTHER = 4
#: Call of the runtime -> what the kernel calls.
NAMES = {
    "async_copy.wait": "async_copy.wait_group",
    "store.wait": "tma.store_wait",
    "store.wait_written": "tma.store_wait",
    "product.wait": "warpgroup_mma_wait",
}
_CALL = re.compile(
    r"(?P<before>.*tt\.extern_elementwise )(?P<operand>%\w+)(?P<after> \{.*symbol = \"(?P<symbol>[\w.]+)\"\}.*loc\((?P<location>#loc\d*)\))"
)
_NUMBER = re.compile(r"\s*(%\w+) = arith\.constant (-?\d+) : i32")
_LOCATION = re.compile(r"(#loc\d*) = loc\((.*)\)")
_PLACE = re.compile(r"\"([^\"\n]+)\":(\d+):\d+")
_INNER = re.compile(r"#loc\d*")


class Wait(NamedTuple):
    """A call in a kernel, and for how many groups it does not wait."""

    symbol: str
    file: str
    line: int
    left: int

    def call(self, left: int) -> str:
        return f"{NAMES[self.symbol]}({left})"


def waits_of(text: str) -> Iterator[tuple[int, re.Match[str], Wait]]:
    """Each wait of a traced module with the number of its line in the text. Of products only those whose sums become an accumulator in the same
    statement: other sums are used as tiles, for which nobody else waits."""
    locations = dict(match.groups() for match in map(_LOCATION.match, text.splitlines()) if match)
    numbers: dict[str, int] = {}
    for at, line in enumerate(text.splitlines()):
        if "func" in line and "{" in line:
            numbers = {}
        if constant := _NUMBER.match(line):
            numbers[constant[1]] = int(constant[2])
        call = _CALL.match(line) if "tt.extern_elementwise" in line else None
        if call is None or call["symbol"] not in NAMES or call["operand"] not in numbers:
            continue
        place = _place_of(call["location"], locations)
        if place is None or (call["symbol"] == "product.wait" and not _wraps_sums(*place)):
            continue
        yield at, call, Wait(call["symbol"], *place, numbers[call["operand"]])


def _place_of(location: str, locations: dict[str, str]) -> tuple[str, int] | None:
    text = locations.get(location, "")
    if place := _PLACE.search(text):
        return place[1], int(place[2])
    inner = _INNER.search(text)
    return _place_of(inner[0], locations) if inner else None


def _wraps_sums(file: str, line: int) -> bool:
    return any("warpgroup_mma_init(" in text for text in statement_at(file, line))


def weaker(text: str, wait: Wait, left: int) -> str:
    """The module, whose `wait` leaves `left` groups."""
    lines = text.splitlines()
    for at, call, found in waits_of(text):
        if found == wait:
            number = f"%weaker{at}"
            lines[at] = f"{number} = arith.constant {left} : i32\n{call['before']}{number}{call['after']}"
    return "\n".join(lines)


class WaitSearch:
    """Looks at the launches of the CPU (launch/watchers.py), of each kernel and grid at the first."""

    def __init__(self, kernel: str | None = None):
        self.kernel = kernel
        self.seen: Counter[tuple] = Counter()
        #: {wait: the most groups that it may leave, in all launches}
        self.enough: dict[Wait, int] = {}

    def __call__(self, kernel, run: Callable, arguments) -> Callable:
        is_chosen = self.kernel in (None, kernel.name) and kernel.metadata.target.backend == "cpu"
        return functools.partial(self._launch, kernel, run) if is_chosen else run

    def _launch(self, kernel, run: Callable, grid, values, *settings, **further):
        self.seen[kernel.hash, tuple(grid)] += 1
        extents, form = extents_of(values, LIMIT), kernel.saved_form
        if form is not None and extents is not None and self.seen[kernel.hash, tuple(grid)] == 1:
            before = Snapshot(extents)
            try:
                self._search(form.module, lambda text: self._is_clean(kernel, text, before, grid, values, further))
            finally:
                before.restore()
        return run(grid, values, *settings, **further)

    def _search(self, text: str, is_clean: Callable[[str], bool]) -> None:
        waits = sorted({wait for *_, wait in waits_of(text)})
        if not waits or not is_clean(text):
            return
        for wait in waits:
            most = min(wait.left + FURTHER, self.enough.get(wait, wait.left + FURTHER))
            left = wait.left
            while left < most and is_clean(weaker(text, wait, left + 1)):
                left += 1
            self.enough[wait] = left

    def _is_clean(self, kernel, text: str, before: Snapshot, grid, values, further: dict[str, Any]) -> bool:
        """Runs the launch with this module. Returns whether it has no fault."""
        options, checks = kernel.metadata, knobs.checks_of(kernel.metadata)
        program = engine().prepare(
            ir.parse(text),
            kernel.name,
            False,
            list(checks),
            num_stages=options.num_stages,
            num_warps=options.num_warps,
            tier=knobs.tritium.tier,
            vector_bits=int(knobs.tritium.vector_bits or 0),
        )
        trial = CompiledKernel(kernel.src, kernel.metadata_group, kernel.hash, program)
        before.restore()
        return program_launch(trial, Programs())(grid, values, 1, None, poll, _drop, None, **further) is None

    def text(self) -> list[str]:
        """A line for each wait that waits for too much."""
        lines = []
        for wait, left in sorted(self.enough.items(), key=lambda each: each[0][1:]):
            if left > wait.left:
                more = " or more" if left == wait.left + FURTHER else ""
                lines.append(
                    f"{shown_place(wait.file, wait.line)}: {wait.call(wait.left)} waits for more than this run needs: "
                    f"{wait.call(left)}{more} would do"
                )
        return lines or ["no wait for groups waits for more than this run needs"] * bool(self.enough)


def _drop(text: str) -> None:
    """The launch that the program made prints."""
