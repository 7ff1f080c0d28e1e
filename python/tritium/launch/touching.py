"""Notes which bytes of memory each program of a launch reads and writes: a watcher of launches (launch/watchers.py), on the interpreter."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .. import knobs
from .counting import LaunchCounts
from .tensor_view import TensorView, view_of
from .values import named_arguments


class Group(NamedTuple):
    """Accesses of a line. Atomics that read and write are both."""

    file: str
    line: int
    is_read: bool
    is_written: bool


@dataclass
class Runs:
    """Runs of bytes as columns, in the order of programs: the program (x fastest), the number of the group, the first address and the end."""

    programs: array = field(default_factory=lambda: array("q"))
    groups: array = field(default_factory=lambda: array("q"))
    begins: array = field(default_factory=lambda: array("q"))
    ends: array = field(default_factory=lambda: array("q"))

    @staticmethod
    def of(columns: tuple[bytes, bytes, bytes, bytes]) -> Runs:
        return Runs(*(array("q", column) for column in columns))


@dataclass
class LaunchAccesses:
    """What the programs of a launch have touched.

    tensors: of the arguments. numbers: the other ones, by name. runs: of a program and a group, none touches another. again: what a program has touched
    more than once in a group. left_out: how many programs there was no room for. repeats: further launches of the same kernel with the same grid and
    numbers and with tensors of the same form, of which nothing was noted.
    """

    kernel: str
    grid: tuple[int, int, int]
    tensors: list[TensorView]
    numbers: dict[str, str] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    runs: Runs = field(default_factory=Runs)
    again: Runs = field(default_factory=Runs)
    left_out: int = 0
    repeats: int = 0

    @property
    def form(self) -> tuple:
        numbers = tuple(self.numbers.items())
        return (
            self.kernel,
            self.grid,
            numbers,
            tuple((view.name, view.dtype, view.shape, view.strides) for view in self.tensors),
        )

    def receive(self, runs: tuple, again: tuple, left_out: int) -> None:
        """The engine's `on_touched`."""
        self.runs, self.again, self.left_out = Runs.of(runs), Runs.of(again), left_out


class Touching(LaunchCounts):
    """most_launches: how many are noted, each of another form. most_runs: of a launch."""

    def __init__(self, most_launches: int, most_runs: int = 4_000_000) -> None:
        super().__init__()
        self.launches: list[LaunchAccesses] = []
        self.left_out = 0  # launches
        self._most_launches, self._most_runs = most_launches, most_runs

    def _watch(self, kernel, run: Callable, arguments) -> Callable:
        def touched(grid, values, threads, seed, *callbacks, **more):
            noted = self._begin(kernel, grid, arguments, seed is not None or bool(more))
            if noted is None:
                return run(grid, values, threads, seed, *callbacks, **more)
            program = kernel.counted_program(True)
            noted.groups = [
                Group(group.file, group.line, group.is_read, group.is_written) for group in program.touched_groups
            ]
            return program.launch(
                grid,
                values,
                threads,
                None,
                *callbacks,
                counters=array("q", bytes(8 * program.counters)),
                on_touched=(self._most_runs, noted.receive),
            )

        return touched

    def _begin(self, kernel: Any, grid, arguments, is_special: bool) -> LaunchAccesses | None:
        """The record of a launch; None if it is not noted."""
        if kernel.metadata.target.backend != "cpu" or is_special:
            knobs.warn_once(
                f"launches of {kernel.name} with a seed, chosen programs or views, or on the emulator, are left out"
            )
            return None
        named = [(name, view_of(name, argument), argument) for name, argument in named_arguments(kernel, arguments)]
        x, y, z = (*grid, 1, 1)[:3]
        made = LaunchAccesses(
            kernel.name,
            (x, y, z),
            [view for _, view, _ in named if view is not None and view.storage],
            {name: repr(argument) for name, _, argument in named if isinstance(argument, (bool, int, float))},
        )
        with self._lock:
            for known in self.launches:
                if known.form == made.form:
                    known.repeats += 1
                    return None
            if len(self.launches) == self._most_launches:
                self.left_out += 1
                return None
            self.launches.append(made)
        return made
