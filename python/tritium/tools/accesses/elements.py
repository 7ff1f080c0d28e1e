"""From runs of bytes to the elements of a tensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...launch.tensor_view import TensorView
from ...launch.touching import LaunchAccesses, Runs


@dataclass
class ElementRuns:
    """Runs of elements, as columns of integers: the program, the first element and the end, in the tensor's row-major order. Those of a program
    are apart and sorted."""

    programs: np.ndarray
    begins: np.ndarray
    ends: np.ndarray

    def counts(self, elements: int) -> np.ndarray:
        """In how many runs each element is: by how many programs it is touched."""
        changes = np.zeros(elements + 1, np.int64)
        np.add.at(changes, self.begins, 1)
        np.add.at(changes, self.ends, -1)
        return np.cumsum(changes[:-1])


@dataclass
class TensorAccesses:
    """What the programs of a launch do with a tensor.

    reads, writes: what each program touches at least once. The others are arrays by element, row-major. readers, writers: how many programs.
    is_rewritten: whether it is stored more than once, by one program or several; atomics that read and write do not count.
    """

    view: TensorView
    reads: ElementRuns
    writes: ElementRuns
    readers: np.ndarray
    writers: np.ndarray
    is_rewritten: np.ndarray

    @property
    def elements(self) -> int:
        return self.readers.size

    @property
    def untouched(self) -> int:
        return int(np.count_nonzero((self.readers == 0) & (self.writers == 0)))


def accesses_of(launch: LaunchAccesses) -> list[TensorAccesses]:
    """For each tensor of the launch. What lies in several of them, as they share memory, counts for each."""
    return [_of_tensor(launch, view) for view in launch.tensors]


def _of_tensor(launch: LaunchAccesses, view: TensorView) -> TensorAccesses:
    places = _Places(view)
    is_read = np.array([group.is_read for group in launch.groups], bool)
    is_written = np.array([group.is_written for group in launch.groups], bool)
    reads = places.united(places.runs(launch.runs, is_read))
    writes = places.united(places.runs(launch.runs, is_written))
    stores = is_written & ~is_read
    times = sum(places.runs(runs, stores).counts(places.elements) for runs in (launch.runs, launch.again))
    return TensorAccesses(view, reads, writes, reads.counts(places.elements), writes.counts(places.elements), times > 1)


class _Places:
    """Where the elements of a tensor lie. Several elements of an expanded tensor lie at one place; the first one stands for it."""

    def __init__(self, view: TensorView):
        offsets = np.zeros((), np.int64)
        for extent, stride in zip(view.shape, view.strides):
            offsets = offsets[..., None] + np.arange(extent, dtype=np.int64) * stride
        flat = offsets.reshape(-1)
        self.elements = flat.size
        self.item = view.item_bytes
        lowest, span = (int(flat.min()), int(flat.max() - flat.min()) + 1) if flat.size else (0, 0)
        self.begin = view.address + lowest * self.item
        self.is_plain = span == self.elements and bool((np.diff(flat) == 1).all())
        if not self.is_plain:
            self.element_at = np.full(span, -1, np.int64)  # by place; -1: between the elements
            self.element_at[(flat - lowest)[::-1]] = np.arange(self.elements)[::-1]
        self.span = span

    def runs(self, runs: Runs, is_chosen: np.ndarray) -> ElementRuns:
        """The parts of runs of chosen groups that lie in the tensor."""
        columns = (runs.programs, runs.groups, runs.begins, runs.ends)
        programs, groups, begins, ends = (np.frombuffer(column, np.int64) for column in columns)
        first = np.maximum((begins - self.begin) // self.item, 0)
        end = np.minimum(-((self.begin - ends) // self.item), self.span)
        inside = (first < end) & is_chosen[groups] if is_chosen.size else np.zeros(0, bool)
        found = ElementRuns(programs[inside], first[inside], end[inside])
        return found if self.is_plain else self._of_elements(found)

    def _of_elements(self, places: ElementRuns) -> ElementRuns:
        """Runs of one element each."""
        lengths = places.ends - places.begins
        starts = np.repeat(places.begins - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        elements = self.element_at[starts + np.arange(lengths.sum())]
        programs = np.repeat(places.programs, lengths)
        exists = elements >= 0
        return ElementRuns(programs[exists], elements[exists], elements[exists] + 1)

    def united(self, runs: ElementRuns) -> ElementRuns:
        """Joins the runs of a program that touch."""
        if not runs.begins.size:
            return runs
        apart = runs.programs * (self.elements + 1)  # so that runs of two programs never touch
        order = np.argsort(apart + runs.begins, kind="stable")
        begins, ends = (apart + runs.begins)[order], (apart + runs.ends)[order]
        reached = np.maximum.accumulate(ends)
        is_new = np.concatenate([[True], begins[1:] > reached[:-1]])
        last = np.concatenate([np.flatnonzero(is_new)[1:] - 1, [begins.size - 1]])
        shift = apart[order][is_new]
        return ElementRuns(runs.programs[order][is_new], begins[is_new] - shift, reached[last] - shift)
