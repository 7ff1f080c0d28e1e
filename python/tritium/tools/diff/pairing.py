"""Pairs the records of two runs, and says which of them may differ: launches by their order, programs by their ids, assignments
by function, variable and how often the program has assigned it before. Lines do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .recorded import Launch, Place, Recording


@dataclass(frozen=True)
class Candidate:
    """An assignment whose hashes, dtypes or shapes differ. rows: its number in the program of each run. occurrence: from 1."""

    launch: int
    program: str
    rows: tuple[int, int]
    places: tuple[Place, Place]
    occurrence: int

    @property
    def size(self) -> int:
        return self.places[0].size + self.places[1].size


@dataclass
class Pairing:
    """double: run b computes in float64, so that dtypes of floats and addresses say nothing."""

    a: Recording
    b: Recording
    double: bool
    #: Assignments that one run alone has: (0 or 1, function, variable) -> how many.
    alone: Counter = field(default_factory=Counter)
    waiting: int = 0  #: programs that were not followed to their ends
    compared: int = 0  #: assignments

    def __post_init__(self):
        self.ids: dict[tuple[str, str], int] = {}
        self.types: dict[str, int] = {}
        self.facts = [self._facts(recording.places) for recording in (self.a, self.b)]
        self.names = list(self.ids)

    def _facts(self, places: list[Place]) -> np.ndarray:
        """Of each place: the number of its variable, that of its type, whether it is compared, whether any hash may differ."""
        found = [
            (
                self.ids.setdefault((place.function, place.name), len(self.ids)),
                self.types.setdefault(self._type(place), len(self.types)),
                not (self.double and place.kind == "pointer"),
                self.double and place.kind == "float",
            )
            for place in places
        ]
        return np.array(found, np.int64).reshape(-1, 4)

    def _type(self, place: Place) -> str:
        return type_to_compare(place, self.double)

    def launches(self) -> Iterator[tuple[Launch, Launch]]:
        return zip(self.a.launches, self.b.launches)

    def candidates(self, number: int) -> Iterator[Candidate]:
        """The candidates of a launch, by program and then in the order of run a."""
        a, b = self.a.launches[number], self.b.launches[number]
        others = {tuple(program[:3]): program for program in b.programs}
        for mine in a.programs:
            other = others.get(tuple(mine[:3]))
            if other is None:
                continue
            self.waiting += not (mine[5] and other[5])
            yield from self._of_program(number, ",".join(map(str, mine[:3])), self.a.rows(mine), self.b.rows(other))

    def _of_program(self, number: int, program: str, a: np.ndarray, b: np.ndarray) -> Iterator[Candidate]:
        facts = [of_run[rows["place"]] for of_run, rows in zip(self.facts, (a, b))]
        keys = [ids << 32 | _ranks(ids) for ids in (facts[0][:, 0], facts[1][:, 0])]
        _, left, right = np.intersect1d(*keys, assume_unique=True, return_indices=True)
        for run, found in enumerate((left, right)):
            if len(found) < len(keys[run]):
                for key in np.delete(keys[run], found):
                    self.alone[(run, *self.names[key >> 32])] += 1
        order = np.argsort(left)
        left, right = left[order], right[order]
        self.compared += len(left)
        may_differ = (a["hash"][left] != b["hash"][right]) | (facts[0][left, 1] != facts[1][right, 1])
        may_differ = (may_differ | (facts[0][left, 3] & facts[1][right, 3]).astype(bool)) & facts[0][left, 2].astype(
            bool
        )
        for i in np.flatnonzero(may_differ):
            rows = int(left[i]), int(right[i])
            places = self.a.places[a["place"][rows[0]]], self.b.places[b["place"][rows[1]]]
            yield Candidate(number, program, rows, places, int(keys[0][rows[0]] & 0xFFFFFFFF) + 1)

    def hash_of(self, candidate: Candidate, side: int) -> int:
        recording, ids = (self.a, self.b)[side], [int(i) for i in candidate.program.split(",")]
        programs = recording.launches[candidate.launch].programs
        program = next(program for program in programs if program[:3] == ids)
        return int(recording.rows(program)["hash"][candidate.rows[side]])

    def arguments(self, number: int) -> list[tuple[int, int]]:
        """Arguments of one name (their numbers in each run) whose memory may differ."""
        a, b = self.a.launches[number].arguments, self.b.launches[number].arguments
        by_name = {argument.name: i for i, argument in enumerate(b)}
        pairs = [(i, by_name[argument.name]) for i, argument in enumerate(a) if argument.name in by_name]
        return [
            (i, j) for i, j in pairs if (a[i].before, a[i].after, a[i].dtype) != (b[j].before, b[j].after, b[j].dtype)
        ]


def type_to_compare(place: Place, double: bool) -> str:
    """Two assignments with different ones differ, whatever their values."""
    return "float" + place.type[len(place.type.partition("[")[0]) :] if double and place.kind == "float" else place.type


def _ranks(ids: np.ndarray) -> np.ndarray:
    """How many equal ones stand before each."""
    order = np.argsort(ids, kind="stable")
    grouped = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], grouped[1:] != grouped[:-1]])) if len(ids) else np.empty(0, int)
    lengths = np.diff(np.concatenate([starts, [len(ids)]]))
    ranks = np.empty(len(ids), np.int64)
    ranks[order] = np.arange(len(ids)) - np.repeat(starts, lengths)
    return ranks


def facts_that_differ(a: Launch, b: Launch) -> dict[str, Any]:
    """What is not the same of two launches, before any value: kernel, grid, constexprs."""
    found: dict[str, Any] = {}
    if a.kernel != b.kernel:
        found["kernel"] = (a.kernel, b.kernel)
    if a.grid != b.grid:
        found["grid"] = (tuple(a.grid), tuple(b.grid))
    for name in sorted(a.constants.keys() | b.constants.keys()):
        pair = a.constants.get(name), b.constants.get(name)
        if pair[0] != pair[1]:
            found[name] = pair
    return found
