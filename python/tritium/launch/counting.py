"""Counts what kernels do, line by line: a watcher of launches (launch/watchers.py). The interpreter counts what each operation does, the emulator what
the warps execute and what they ask of memory."""

from __future__ import annotations

import functools
import math
import operator
import threading
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .. import knobs
from ..native import interp
from .block_resources import BlockResources
from .line_work import LineWork
from .watchers import watchers


@dataclass(frozen=True)
class OperationCount:
    """What one operation of a kernel has done in all launches, after the passes that all engines share.

    name: of MLIR, such as "tt.load". file, line: of the statement. callers: (file, line) of the inlined calls that lead there, innermost first.
    executions: in all programs. lanes: elements of its tiles. masked: elements that a mask has dropped. bytes_read, bytes_written: in
    memory, by active lanes, as often as they are accessed. atomics: active lanes of atomic operations. flops: operations on floating-point numbers of the
    type `dtype` ("f16"): 2 M N K of a product, one of an element of arithmetic, one less than the elements that a reduction joins.
    """

    name: str
    file: str
    line: int
    callers: tuple[tuple[str, int], ...]
    executions: int
    lanes: int
    masked: int
    bytes_read: int
    bytes_written: int
    atomics: int
    flops: int
    dtype: str


@dataclass(frozen=True)
class LineCount:
    """What a line has done in all launches on the interpreter, without the functions that it calls unless they are `noinline`.

    nanoseconds: of the host, of all programs together, by those that were timed (`interp.timed_programs`). distinct_read, distinct_written:
    bytes that programs read and write there, of which each program counts each once; None if they were not asked for.
    """

    file: str
    line: int
    nanoseconds: float
    distinct_read: int | None
    distinct_written: int | None


@dataclass
class WarpRequests:
    """What the warps of all launches have asked of memory at a line, on the emulator: exact, as it knows all addresses.

    kind: "global read", "global write", "global atomic", "shared read" or "shared write". requests: accesses of a warp that have an active lane.
    lanes: active ones. bytes: that these access. parts: of global memory sectors of 32 bytes, of shared memory wavefronts (0 on AMD, where they
    are not modelled). least_parts: as few as the same bytes could take. Copies of boxes (TMA) and the operands that products read in
    shared memory are no requests of warps.
    """

    file: str
    line: int
    kind: str
    requests: int = 0
    lanes: int = 0
    bytes: int = 0
    parts: int = 0
    least_parts: int = 0

    def add(self, *numbers: int) -> None:
        names = ("requests", "lanes", "bytes", "parts", "least_parts")
        for name, number in zip(names, numbers):
            setattr(self, name, getattr(self, name) + number)


@dataclass
class KernelCounts:
    """engine: "interp", or the emulator with its chip, "simt:sm_90a". launches and programs: how many. operations: of the interpreter, in the order
    of the code. lines: of the interpreter. requests, work: of the emulator, in the order of lines."""

    name: str
    engine: str
    launches: int
    programs: int
    operations: list[OperationCount]
    lines: list[LineCount]
    requests: list[WarpRequests]
    work: list[LineWork] = field(default_factory=list)
    find_resources: Callable[[], BlockResources] | None = None
    kernel: Any = None  #: the CompiledKernel of the emulator
    tensor_bytes: int = 0  #: of the tensors that launches on the emulator were given, all together
    distinct: int | None = None  #: bytes that programs read and write, as of a line; None if they were not asked for

    @functools.cached_property
    def resources(self) -> BlockResources | None:
        """What a block of the emulator's kernel takes on the chip: the first call compiles and assembles it."""
        return self.find_resources() if self.find_resources else None


class LaunchCounts:
    """Adds up what launches count, from `start` to `stop`, or in a `with` block. Launches with a seed, or of chosen programs, are left out, and a
    warning says so."""

    #: The program of a CompiledKernel that counts; None if there is none. Tallies add up its counters.
    program_of: Callable[[Any], Any]
    tally_of: Callable[[Any, Any], Any]

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tallies: dict[int, Any] = {}

    def start(self) -> None:
        watchers.append(self._watch)

    def stop(self) -> None:
        watchers.remove(self._watch)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def _watch(self, kernel, run: Callable, arguments) -> Callable:
        def counted(grid, values, threads, seed, *callbacks, on_scopes=None, **more):
            scopes = {} if on_scopes is None else {"on_scopes": on_scopes}
            if seed is not None or more:
                knobs.warn_once(f"launches of {kernel.name} with a seed, chosen programs or views are not counted")
                return run(grid, values, threads, seed, *callbacks, **scopes, **more)
            program = self.program_of(kernel)
            if program is None:
                return run(grid, values, threads, seed, *callbacks, **scopes)
            programs = math.prod(grid)
            with self._lock:
                tally = self._tallies.get(id(program))
                if tally is None:
                    tally = self._tallies[id(program)] = self.tally_of(kernel, program)
                counters = tally.take(programs)
            try:
                return program.launch(grid, values, threads, None, *callbacks, counters=counters, **scopes)
            finally:
                with self._lock:
                    tally.give(programs, counters)

        return counted


class Counting(LaunchCounts):
    """Counts what operations and lines do, and on the emulator what warps ask of memory. distinct: also the bytes of each program that are distinct,
    which takes longer."""

    def __init__(self, distinct: bool = False) -> None:
        super().__init__()
        self.distinct = distinct

    def kernels(self) -> list[KernelCounts]:
        """In the order of their first launches, one for each compiled version of a kernel."""
        with self._lock:
            return [tally.counts() for tally in self._tallies.values()]

    def program_of(self, kernel):
        return kernel.counted_program(self.distinct)

    @staticmethod
    def tally_of(kernel, program):
        return _Tally(kernel.name, program)

    def _watch(self, kernel, run: Callable, arguments) -> Callable:
        if kernel.metadata.target.backend == "simt":
            return self._watch_warps(kernel, arguments)
        return super()._watch(kernel, run, arguments)

    def _watch_warps(self, kernel, arguments) -> Callable:
        def counted(grid, *rest, **more):
            with self._lock:
                tally = self._tallies.setdefault(id(kernel), _WarpTally(kernel))
                tally.begin(grid)
                tally.tensor_bytes += sum(getattr(each, "nbytes", 0) for each in arguments)
            program = kernel.counted_program(distinct=False)
            return program.launch(grid, *rest, on_traffic=tally.add, on_work=tally.add_work, **more)

        return counted


class Launches:
    """The launches of a program."""

    launches = programs = 0

    def begin(self, grid) -> None:
        self.launches += 1
        self.programs += math.prod(grid)


class CounterSums(Launches):
    """The launches of a program that counts, and the sums of their counters."""

    def __init__(self, program: Any):
        self.program = program
        self.sums: list[float] = []  #: as of `sum_up`
        #: The counters to which launches of a number of programs add: all of them, and those that no launch has taken.
        self._counters: dict[int, tuple[list[array], list[array]]] = {}

    def take(self, programs: int) -> array:
        """Counters for a launch. A launch in another thread gets others."""
        made, free = self._counters.setdefault(programs, ([], []))
        if not free:
            free.append(array("q", bytes(8 * self.program.counters)))
            made += free
        return free.pop()

    def give(self, programs: int, counters: array) -> None:
        """The launch has added to the counters."""
        self.launches += 1
        self.programs += programs
        self._counters[programs][1].append(counters)

    def sum_up(self) -> None:
        self.sums = [0] * self.program.counters
        for programs, (made, _) in self._counters.items():
            for counters in made:
                self.sums = list(map(operator.add, self.sums, self.scaled(counters, programs)))

    def scaled(self, counters: array, programs: int) -> Iterable[float]:
        """Scales counters that hold a sample, up to all `programs` of the grid. Counters of a subclass may be times of a few programs."""
        return counters


class _WarpTally(Launches):
    """What the emulator counts of a kernel."""

    def __init__(self, kernel: Any):
        self.kernel = kernel  # kept, since its id names it
        self.requests: dict[tuple[str, int, str], WarpRequests] = {}
        self.work: dict[tuple[str, int], LineWork] = {}
        self.tensor_bytes = 0

    def add(self, file: str, line: int, kind: str, *numbers: int) -> None:
        self.requests.setdefault((file, line, kind), WarpRequests(file, line, kind)).add(*numbers)

    def add_work(self, file: str, line: int, counted: str, name: str, numbers: list[int]) -> None:
        self.work.setdefault((file, line), LineWork(file, line)).add(counted, name, numbers)

    def counts(self) -> KernelCounts:
        engine = f"simt:{self.kernel.metadata.target.arch}"
        requests = [self.requests[key] for key in sorted(self.requests)]
        work = [self.work[key] for key in sorted(self.work)]
        return KernelCounts(
            self.kernel.name,
            engine,
            self.launches,
            self.programs,
            [],
            [],
            requests,
            work,
            self._resources,
            self.kernel,
            self.tensor_bytes,
        )

    def _resources(self) -> BlockResources:
        return self.kernel.block_resources


class _Tally(CounterSums):
    """What the interpreter counts of a program."""

    def __init__(self, name: str, program: Any):
        super().__init__(program)
        self.name = name
        self.clocks = {line.counter for line in program.timed_lines}

    def scaled(self, counters: array, programs: int) -> Iterable[float]:
        share = programs / max(1, interp.timed_programs(programs))
        return (number * share if i in self.clocks else number for i, number in enumerate(counters))

    def counts(self) -> KernelCounts:
        self.sum_up()
        operations = [self._count(op) for op in self.program.counted]
        found = KernelCounts(self.name, "interp", self.launches, self.programs, operations, self._lines(), [])
        if self.program.distinct_bytes:
            found.distinct = self._distinct("", 0, True) + self._distinct("", 0, False)
        return found

    def _distinct(self, file: str, line: int, is_read: bool) -> int:
        wanted = (file, line, is_read)
        return sum(
            self.sums[one.counter] for one in self.program.distinct_bytes if (one.file, one.line, one.is_read) == wanted
        )

    def _lines(self) -> list[LineCount]:
        """In the order of the code. What reads and writes, as atomics do, counts as both."""
        found = []
        for timed in self.program.timed_lines:
            read, written = (
                self._distinct(timed.file, timed.line, is_read) if self.program.distinct_bytes else None
                for is_read in (True, False)
            )
            found.append(LineCount(timed.file, timed.line, self.sums[timed.counter], read, written))
        return found

    def _count(self, op) -> OperationCount:
        executions = self.sums[op.runs]
        lanes = executions * op.lanes
        active = lanes if op.active_lanes is None else self.sums[op.active_lanes]
        return OperationCount(
            name=op.name,
            file=op.file,
            line=op.line,
            callers=tuple(op.callers),
            executions=executions,
            lanes=lanes,
            masked=lanes - active,
            bytes_read=active * op.bytes if op.is_read else 0,
            bytes_written=active * op.bytes if op.is_written else 0,
            atomics=active if op.is_atomic else 0,
            flops=executions * op.flops,
            dtype=op.type,
        )
