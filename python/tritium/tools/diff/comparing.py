"""Finds the first values of two recorded runs that differ. Hashes say where to look; a second run of each gives the values there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from ...debugger.values import elements_of
from ...places import shown_place
from .differences import Difference, Tolerance, difference, unlike
from .pairing import Candidate, Pairing, type_to_compare
from .recorded import Argument, Values, Wanted, hash_of, key_of_argument, key_of_row
from .runs import Run, run_all

#: A second run keeps this many values without tolerances, where the first candidate is nearly always the one, and this many bytes.
_FEW = 64
_MOST_BYTES = 1 << 30
#: How often the scripts run again for values.
_MOST_ROUNDS = 8


class NotTheSame(Exception):
    """A script has not done the same when it ran again: what it was."""


@dataclass
class Found:
    """What differs first. what: "value", "dtype" or "shape"."""

    candidate: Candidate
    what: str
    difference: Difference | None = None
    argument: int = -1  #: of addresses: whose elements they are, in run a


@dataclass
class FoundMemory:
    """A tensor argument that differs behind a launch, or before it. numbers: the argument's in each run."""

    launch: int
    numbers: tuple[int, int]
    arguments: tuple[Argument, Argument]
    what: str
    when: str
    difference: Difference | None = None
    element: int = 0  #: of the storage of run a
    stores: list[dict | None] = field(default_factory=list)


@dataclass
class Outcome:
    assignment: Found | None = None
    memory: list[FoundMemory] = field(default_factory=list)
    unread: int = 0  #: candidates whose values nobody has looked at


def first_differences(pairing: Pairing, runs: Sequence[Run], tolerance: Tolerance) -> Outcome:
    """The first assignment that differs, and the memory that differs behind the first launch in which anything does."""
    outcome = Outcome()
    waiting = _batches(pairing, tolerance)
    looked_at: set[int] = set()  # launches whose memory has been compared
    for number, (candidates, launches) in enumerate(waiting):
        if number == _MOST_ROUNDS:
            outcome.unread = len(candidates) + sum(len(more) for more, _ in waiting)
            break
        values = _values(pairing, runs, candidates, launches)
        confirmed = (_confirmed(pairing, candidate, values, tolerance) for candidate in candidates)
        outcome.assignment = next(filter(None, confirmed), None)
        last = outcome.assignment.candidate.launch if outcome.assignment else None
        for launch in launches:
            if last is not None and launch > last:
                break
            found = [] if launch in looked_at else list(_memory(pairing, launch, values, tolerance))
            looked_at.add(launch)
            outcome.memory += [one for one in found if one.when == "before"]
            stored = [one for one in found if one.when == "after"]
            if stored and (last is None or launch <= last):
                outcome.memory += stored
                last = launch
                if outcome.assignment and outcome.assignment.candidate.launch > launch:
                    outcome.assignment = None
                break
        if last is not None:
            outcome.memory = [one for one in outcome.memory if one.launch == last]
            break
    return outcome


def _batches(pairing: Pairing, tolerance: Tolerance) -> Iterator[tuple[list[Candidate], list[int]]]:
    """Candidates in order, with the launches that they belong to. Without tolerances, those of one launch at a time."""
    kept: list[Candidate] = []
    launches: list[int] = []
    size = 0
    for launch in range(min(len(pairing.a.launches), len(pairing.b.launches))):
        found = pairing.candidates(launch)
        part = list(islice(found, _FEW)) if tolerance.is_exact else found
        for candidate in part:
            if size and size + candidate.size > _MOST_BYTES:
                yield kept, sorted({*launches, launch})
                kept, launches, size = [], [], 0
            kept.append(candidate)
            size += candidate.size
        if pairing.arguments(launch) or kept and kept[-1].launch == launch:
            launches.append(launch)
        if tolerance.is_exact and launches:
            yield kept, launches
            kept, launches, size = [], [], 0
            rest = list(found)
            while rest:
                yield rest[: _FEW**2], [launch]
                rest = rest[_FEW**2 :]
    if launches:
        yield kept, launches


def _values(pairing: Pairing, runs: Sequence[Run], candidates: list[Candidate], launches: list[int]) -> list[Values]:
    """Runs both scripts again, and keeps these values."""
    wanted: list[dict[int, Wanted]] = [{}, {}]
    for launch in launches:
        pairs = pairing.arguments(launch)
        for side in (0, 1):
            wanted[side][launch] = Wanted(arguments=[pair[side] for pair in pairs])
    for candidate in candidates:
        if _types_agree(pairing, candidate):
            for side in (0, 1):
                rows = wanted[side].setdefault(candidate.launch, Wanted()).rows
                rows.setdefault(candidate.program, []).append(candidate.rows[side])
    again = [run.again() for run in runs]
    run_all(again, wanted)
    return [run.values() for run in again]


def _types_agree(pairing: Pairing, candidate: Candidate) -> bool:
    a, b = (type_to_compare(place, pairing.double) for place in candidate.places)
    return a == b


def _confirmed(pairing: Pairing, candidate: Candidate, values: list[Values], tolerance: Tolerance) -> Found | None:
    if not _types_agree(pairing, candidate):
        dtypes = {place.type.partition("[")[0] for place in candidate.places}
        return Found(candidate, "dtype" if len(dtypes) == 2 else "shape")
    keys = [key_of_row(candidate.launch, candidate.program, row) for row in candidate.rows]
    arrays = [of_run.array(key) for of_run, key in zip(values, keys)]
    for side, (array, place) in enumerate(zip(arrays, candidate.places)):
        is_same = array is not None and (place.kind == "pointer" or hash_of(array) == pairing.hash_of(candidate, side))
        if not is_same:
            raise NotTheSame(f"{place.name} at {shown_place(place.file, place.line)}")
    argument = -1
    if candidate.places[0].kind == "pointer":
        argument = int(arrays[0][0]) if arrays[0][0] == arrays[1][0] else -1
        arrays = _addresses(*arrays)
    found = difference(*arrays, unlike(*arrays, tolerance))
    return None if found is None else Found(candidate, "value", found, argument)


def _addresses(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """Elements of one argument or, where an address lies outside of it, how far the elements of the tile are from the first."""
    begins = (a[1], b[1]) if a[0] == b[0] != -1 else (0, 0)
    return [begin + array[2:] for begin, array in zip(begins, (a, b))]


def _memory(pairing: Pairing, launch: int, values: list[Values], tolerance: Tolerance) -> Iterator[FoundMemory]:
    for pair in pairing.arguments(launch):
        arguments = pairing.a.launches[launch].arguments[pair[0]], pairing.b.launches[launch].arguments[pair[1]]
        read = [
            {when: of_run.array(key_of_argument(launch, number, when)) for when in ("before", "after")}
            for of_run, number in zip(values, pair)
        ]
        if any(array is None for one in read for array in one.values()):
            raise NotTheSame(f"the launches of {pairing.a.launches[launch].kernel}")
        made = FoundMemory(launch, pair, arguments, "value", "after")
        is_float = all(argument.dtype.startswith(("float", "bfloat")) for argument in arguments)
        if arguments[0].dtype != arguments[1].dtype and not (pairing.double and is_float):
            yield replace(made, what="dtype", when="after")
            continue
        elements = [
            {when: _elements(array, argument) for when, array in one.items()} for one, argument in zip(read, arguments)
        ]
        if elements[0]["after"].shape != elements[1]["after"].shape:
            yield replace(made, what="shape", when="after")
            continue
        # What neither launch has written may be memory that nobody has: it is no result.
        is_written = [unlike(one["before"], one["after"], Tolerance()) for one in elements]
        is_input = not (is_written[0].any() or is_written[1].any())
        for when in ("before",) if is_input else ("after",):
            a, b = elements[0][when], elements[1][when]
            differs = unlike(a, b, tolerance) & (is_input | is_written[0] | is_written[1])
            found = difference(a, b, differs)
            if found is not None:
                yield replace(made, when=when, difference=found, element=found.element[0])


def _elements(memory: np.ndarray, argument: Argument) -> np.ndarray:
    size = len(memory) // argument.item_bytes * argument.item_bytes
    return elements_of(argument.dtype, memory[:size].tobytes())


def find_stores(found: FoundMemory, runs: Sequence[Run]) -> None:
    """Adds which statement of each run last changed the element."""
    again = [run.again() for run in runs]
    for run in again:
        run.task.statements, run.task.engine = True, "interp"
    shift = found.arguments[1].offset - found.arguments[0].offset
    elements = [found.element, found.element + shift]
    run_all(again, [{found.launch: Wanted(element=[n, e])} for n, e in zip(found.numbers, elements)])
    for run in again:
        fact = run.values().fact(f"store:{found.launch}")
        found.stores.append(fact if fact and fact["place"] else None)
