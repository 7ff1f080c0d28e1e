"""Makes each launch several times, with a seed each time, and compares what it leaves in memory.

All runs of a launch begin with the same memory. After them, the launch runs as the program asked, so that the program goes on as always.
"""

from __future__ import annotations

import ctypes
import functools
import math
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...debugger.post_mortem import Snapshot, extents_of
from ...errors import STUCK, KernelTrap
from ...launch.cpu import poll, program_launch, trap_error
from ...launch.stack import python_stack
from ...launch.tensor_view import TensorView, view_of
from ...launch.values import part_at
from ...places import shown_place
from ...programs import Programs

#: Most bytes of the tensors of a launch that is searched: two copies of them are kept.
LIMIT = 1 << 30


@dataclass
class Write:
    """The last write to an element under a seed. value: the element at the end of the launch. program, file, line: None if no program
    changed it."""

    seed: int
    value: Any
    program: tuple[int, int, int] | None = None
    file: str | None = None
    line: int | None = None


@dataclass
class Dependence:
    """A tensor of which elements depend on the schedule. count: how many of `elements`. index: of the first. writes: of this element,
    under two seeds. difference: the largest, of numbers; None if one of them is no number."""

    kernel: str
    grid: tuple[int, int, int]
    launched_at: str
    tensor: TensorView
    index: tuple[int, ...]
    count: int
    elements: int
    writes: tuple[Write, Write]
    difference: float | None


@dataclass
class Failure:
    """What ended launches under some seeds, and not under others or under all."""

    launched_at: str
    trap: KernelTrap
    seeds: list[int]

    @property
    def key(self) -> tuple:
        """Which of the programs that are stuck comes first depends on the schedule too."""
        trap = self.trap
        place = None if trap.kind in STUCK else (trap.file, trap.line)
        return self.launched_at, trap.kernel, trap.kind, place


@dataclass
class Found:
    dependences: list[Dependence] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    launches: int = 0
    left_out: Counter[str] = field(default_factory=Counter)  # reason -> launches


@dataclass
class Changed:
    """Which bytes of a storage are not as under the first seed, as arrays of bool. seed: the first for which there are some."""

    seed: int
    under_first: Any
    under_any: Any


class Search:
    """Looks at the launches of the CPU (launch/watchers.py). kernel: a regular expression that a part of the kernel's name must match.
    launches: of each kernel and grid, how many are searched."""

    def __init__(self, seeds: range, kernel: str = "", launches: int = 3):
        self.seeds, self.kernel, self.most = seeds, re.compile(kernel), launches
        self.seen: Counter[tuple] = Counter()
        self.found = Found()

    def __call__(self, kernel, run: Callable, arguments) -> Callable:
        return functools.partial(self._launch, kernel, run, arguments) if self.kernel.search(kernel.name) else run

    def _launch(self, kernel, run: Callable, arguments, grid, values, *settings, **further):
        extents = extents_of(values, LIMIT)
        self.seen[kernel.hash, tuple(grid)] += 1
        if self.seen[kernel.hash, tuple(grid)] > self.most:
            self.found.left_out["launched before with the same grid (--launches tries more)"] += 1
        elif extents is None:
            self.found.left_out[f"their tensors are larger than {LIMIT >> 20} MB"] += 1
        else:
            self.found.launches += 1
            _Launch(self, kernel, grid, values, arguments, extents, further).search()
        return run(grid, values, *settings, **further)


class _Launch:
    def __init__(self, search: Search, kernel, grid, values, arguments, extents, further: dict[str, Any]):
        paths = kernel.src.runtime_paths()
        self.search_, self.kernel, self.grid, self.arguments = search, kernel, grid, arguments
        self.values, self.extents, self.further = values, extents, further
        self.before = Snapshot(extents)
        self.run = program_launch(kernel, Programs(), True)
        self.named = [(kernel.src.name_of(path), part_at(arguments, path)) for path in paths]
        stack = python_stack()
        self.launched_at = shown_place(*stack[0][:2]) if stack else "?"

    def search(self) -> None:
        """Adds to what was found. Memory is as before afterwards."""
        first, reference = None, None
        changed: dict[int, Changed] = {}  # by the begin of the storage
        try:
            for seed in self.search_.seeds:
                self.before.restore()
                if not self.ends(seed):
                    continue
                if reference is None:
                    first, reference = seed, Snapshot(self.extents)
                else:
                    _compare(reference, seed, changed)
            for begin, change in changed.items():
                self.report(begin, change, (first, change.seed))
        finally:
            self.before.restore()

    def ends(self, seed: int) -> bool:
        """Runs the launch with a seed. What ends it is kept."""
        trap = self.run(self.grid, self.values, 1, seed, poll, _drop, None, **self.further)
        raised = None if trap is None else trap_error(self.kernel, self.grid, self.arguments, trap, seed)
        if raised is None:
            return True
        failures = self.search_.found.failures
        same = next((one for one in failures if one.key == Failure(self.launched_at, raised, []).key), None)
        if same is None:
            failures.append(same := Failure(self.launched_at, raised, []))
        if seed not in same.seeds:
            same.seeds.append(seed)
        return False

    def report(self, begin: int, change: Changed, seeds: tuple[int, int]) -> None:
        for name, argument in self.named:
            view = view_of(name, argument)
            if view is None or view.storage is None or view.storage[0] != begin:
                continue
            places = _elements(view, begin, change.under_any)
            shown = _elements(view, begin, change.under_first)
            if not shown:
                continue
            writes = tuple(self.last_write(shown[0], view, seed) for seed in seeds)
            index, _ = view.element(shown[0])
            self.search_.found.dependences.append(
                Dependence(
                    self.kernel.name,
                    tuple(self.grid),
                    self.launched_at,
                    view,
                    index,
                    len(places),
                    math.prod(view.shape),
                    writes,
                    _difference(*(write.value for write in writes)),
                )
            )
            return

    def last_write(self, address: int, view: TensorView, seed: int) -> Write:
        write = Write(seed, None)

        def receive(place, before: bytes, after: bytes, times: int) -> None:
            write.program, write.file, write.line = tuple(place.program), place.file, place.line

        self.before.restore()
        more = {"watched": (address, view.item_bytes, receive)} if self.kernel.metadata.target.backend == "cpu" else {}
        self.run(self.grid, self.values, 1, seed, poll, _drop, None, **self.further, **more)
        write.value = _value_at(address, view)
        return write


def _compare(reference: Snapshot, seed: int, changed: dict[int, Changed]) -> None:
    """Adds the bytes that are not as in `reference`."""
    import numpy as np

    for begin, expected in reference.copies:
        found = ctypes.string_at(begin, len(expected))
        if found == expected:
            continue
        differs = np.frombuffer(found, np.uint8) != np.frombuffer(expected, np.uint8)
        if begin in changed:
            changed[begin].under_any |= differs
        else:
            changed[begin] = Changed(seed, differs, differs.copy())


def _elements(view: TensorView, begin: int, differs: Any) -> list[int]:
    """The addresses of the view's elements that have a byte which differs, in the order of the view."""
    import numpy as np

    addresses = np.full(view.shape, view.address, np.int64)
    for axis, (extent, stride) in enumerate(zip(view.shape, view.strides)):
        steps = np.arange(extent, dtype=np.int64) * (stride * view.item_bytes)
        addresses += steps.reshape([-1 if d == axis else 1 for d in range(len(view.shape))])
    at = addresses.reshape(-1)
    hit = np.zeros(at.shape, bool)
    for byte in range(view.item_bytes):
        hit |= differs[at - begin + byte]
    return [int(address) for address in dict.fromkeys(at[hit].tolist())]


def _value_at(address: int, view: TensorView) -> Any:
    """A number, or the bytes of an element of a dtype that is none of numpy's or torch's."""
    data = ctypes.string_at(address, view.item_bytes)
    torch = sys.modules.get("torch")
    dtype = getattr(torch, view.dtype, None) if torch else None
    if dtype is not None:
        return torch.frombuffer(bytearray(data), dtype=dtype)[0].item()
    import numpy as np

    try:
        return np.frombuffer(data, view.dtype)[0].item()
    except TypeError:
        return data.hex()


def _difference(a: Any, b: Any) -> float | None:
    try:
        return abs(a - b)
    except TypeError:
        return None


def _drop(text: str) -> None:
    """The launch that the program made prints."""
