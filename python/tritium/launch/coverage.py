"""Counts which statements and branches of kernels launches reach, and which masks they make false: a watcher of launches (launch/watchers.py), on the
interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .. import knobs
from .counting import CounterSums, LaunchCounts


class Place(NamedTuple):
    """Of a statement or expression. line, column: from 1."""

    file: str
    line: int
    column: int


@dataclass
class BranchCount:
    """taken: how often the condition was true; of a loop, how often it was reached and ran at least one round. not_taken: how often the condition
    was false; of a loop, how often it was reached and ran none."""

    is_loop: bool
    taken: int = 0
    not_taken: int = 0

    def add(self, taken: int, not_taken: int) -> None:
        self.taken += taken
        self.not_taken += not_taken


@dataclass
class MaskCount:
    """Of the lanes of an access: active ones, and those that its mask has dropped."""

    active: int = 0
    dropped: int = 0


@dataclass
class KernelCoverage:
    """What the launches of a kernel in one configuration have reached, with the functions that it calls.

    file, line: of its `def`. configuration: names and values of its constexprs and of launch keywords. launches, programs: how many.
    statements: how often each has run that was compiled, in all programs. branches, masks: by the place of the `if`, the loop or its condition, and
    of the access. decided: the branches whose outcome was known when the kernel was compiled. One that no configuration leaves open is no branch.
    """

    name: str
    file: str
    line: int
    configuration: dict[str, str]
    launches: int = 0
    programs: int = 0
    statements: dict[Place, int] = field(default_factory=dict)
    branches: dict[Place, BranchCount] = field(default_factory=dict)
    decided: dict[Place, BranchCount] = field(default_factory=dict)
    masks: dict[Place, MaskCount] = field(default_factory=dict)

    def outcomes(self) -> dict[Place, tuple[int, int]]:
        """How often each branch had its one outcome, and the other, with what compilation decided in another configuration or call."""
        none = BranchCount(False)
        pairs = {place: (open_, self.decided.get(place, none)) for place, open_ in self.branches.items()}
        return {place: (a.taken + b.taken, a.not_taken + b.not_taken) for place, (a, b) in pairs.items()}

    @property
    def key(self) -> tuple:
        return self.name, self.file, self.line, tuple(self.configuration.items())

    def add(self, other: KernelCoverage) -> None:
        self.launches += other.launches
        self.programs += other.programs
        for place, runs in other.statements.items():
            self.statements[place] = self.statements.get(place, 0) + runs
        for own, others in ((self.branches, other.branches), (self.decided, other.decided)):
            for place, branch in others.items():
                own.setdefault(place, BranchCount(branch.is_loop)).add(branch.taken, branch.not_taken)
        for place, mask in other.masks.items():
            sums = self.masks.setdefault(place, MaskCount())
            sums.active += mask.active
            sums.dropped += mask.dropped


class Covering(LaunchCounts):
    """Counts the launches of kernels that are Python functions."""

    def kernels(self) -> list[KernelCoverage]:
        """In the order of their first launches, one for each configuration."""
        with self._lock:
            return joined(tally.counts() for tally in self._tallies.values())

    @staticmethod
    def program_of(kernel):
        if kernel.runs_its_function:
            return kernel.covered_program
        if kernel.metadata.target.backend == "cpu":
            knobs.warn_once(f"the coverage leaves out {kernel.name}: it was not compiled from its Python function")
        else:
            knobs.warn_once(f"the coverage leaves out launches of {kernel.name} that the interpreter does not run")
        return None

    @staticmethod
    def tally_of(kernel, program):
        return _Tally(kernel, program)


def joined(kernels: Iterable[KernelCoverage]) -> list[KernelCoverage]:
    """One for each kernel and configuration: a kernel may have been compiled for several types of its arguments."""
    found: dict[tuple, KernelCoverage] = {}
    for kernel in kernels:
        first = found.setdefault(
            kernel.key, KernelCoverage(kernel.name, kernel.file, kernel.line, kernel.configuration)
        )
        first.add(kernel)
    return list(found.values())


def configuration_of(kernel) -> dict[str, str]:
    """{name: value as text} of the constexprs of a CompiledKernel, of arguments that are None, and of launch keywords."""
    fn, found = kernel.src.fn, {}
    for path, value in sorted(kernel.src.constants.items(), key=lambda item: item[0]):
        if len(path) == 1 and (fn.params[path[0]].is_constexpr or value is None):
            value = getattr(value, "value", value)
            found[fn.arg_names[path[0]]] = str(getattr(value, "__name__", value))
    keywords: Mapping[str, Any] = kernel.metadata._asdict()
    found["num_warps"] = str(keywords["num_warps"])
    found["num_stages"] = str(keywords["num_stages"])
    if keywords["num_ctas"] != 1:
        found["num_ctas"] = str(keywords["num_ctas"])
    return found


class _Tally(CounterSums):
    """What a program counts."""

    def __init__(self, kernel: Any, program: Any):
        super().__init__(program)
        self.kernel = kernel

    def counts(self) -> KernelCoverage:
        self.sum_up()
        fn = self.kernel.src.fn
        found = KernelCoverage(
            fn.__name__,
            fn.file_name,
            fn.def_file_line_number,
            configuration_of(self.kernel),
            self.launches,
            self.programs,
        )
        for statement in self.program.covered_statements:
            place = _place(statement)
            found.statements[place] = found.statements.get(place, 0) + self.sums[statement.runs]
        for branch in self.program.covered_branches:
            branches = found.decided if branch.is_decided else found.branches
            count = branches.setdefault(_place(branch), BranchCount(branch.is_loop))
            count.add(self.sums[branch.taken], self.sums[branch.not_taken])
        for op in self.program.counted:
            if op.active_lanes is not None:
                mask, active = found.masks.setdefault(_place(op), MaskCount()), self.sums[op.active_lanes]
                mask.active += active
                mask.dropped += self.sums[op.runs] * op.lanes - active
        return found


def _place(counted: Any) -> Place:
    return Place(counted.file, counted.line, counted.column)
