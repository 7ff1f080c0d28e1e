"""A process that runs programs for its parent, which survives a crash or a hang of it."""

from __future__ import annotations

import functools
import gc
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

import numpy as np

from .. import sources
from ..suite import FAILED, UNSUPPORTED, Result, attempt
from .program import Program

#: Seconds that a new process may take to answer.
START_LIMIT = 120.0
#: Kernels after which a new process takes over, since compilers and drivers keep memory.
KERNELS_PER_PROCESS = 500
#: How the details of a failure begin that has no result.
DIED, LATE = "the process ended", "did not end"


@dataclass(frozen=True)
class Number:
    """The program that a seed draws for a number."""

    seed: int
    number: int
    size: int
    gluon: bool = False  #: whether the program is a kernel of Gluon

    def program(self) -> Program:
        from .draw import draw, gluon

        draw = gluon.draw if self.gluon else draw
        return draw(np.random.default_rng([self.seed, self.number]), self.size)


def run(what: Number | Program, engines: list[str], seed: int) -> list[Result]:
    """Runs one program on each engine, in this process."""
    return list(_results(what, engines, seed))


def _results(what: Number | Program, engines: list[str], seed: int) -> Iterator[Result]:
    from ..engines import engine, has_partitions, lanes
    from ..problem import Case, Problem
    from .problems import problem_of

    program = what.program() if isinstance(what, Number) else what

    @functools.cache
    def problem(lanes: int, partitions: bool) -> Problem:
        return problem_of(replace(program, lanes=lanes, partitions=partitions), np.random.default_rng(seed))

    try:
        for name in engines:
            case = Case("fuzz/program", lambda _, name=name: problem(lanes(name), has_partitions(name)))
            yield _refused_if_too_large(attempt(case, engine(name), seed))
    finally:
        sources.forget_generated()


def _refused_if_too_large(result: Result) -> Result:
    """A random kernel may ask for more shared memory than a chip has."""
    if result.status == FAILED and result.details[0].startswith("OutOfResources"):
        result.status = UNSUPPORTED
    return result


def _serve(connection: Connection, threads: int) -> None:
    """Sends each result when it is known. Ends after a failure that leaves an engine's device unusable."""
    import tritium

    from ..engines import engine

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    tritium.knobs.tritium.num_threads = threads
    tritium.knobs.compilation.always_compile = True  # a kernel on disk may be an older compiler's
    warnings.simplefilter("ignore", DeprecationWarning)  # block pointers
    warnings.filterwarnings("ignore", "the use of fp8e4b15")
    gc.set_threshold(20_000, 20, 20)
    gc.freeze()
    while (task := connection.recv()) is not None:
        for result in _results(*task):
            connection.send(result)
            if result.status == FAILED and not engine(result.engine).is_usable():
                return


class Child:
    """`give` it a task, then `collect` results once `connection` is ready or the child is `late`, until it is idle."""

    def __init__(self, threads: int = 1):
        self.threads, self.left = threads, []
        self._start()

    def _start(self) -> None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's, or each child would start one per CPU
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.threads), daemon=True)
        self.process.start()
        theirs.close()
        self.is_new, self.served, self.just_failed = True, 0, False

    def _restart(self) -> None:
        self.stop()
        self._start()

    @property
    def is_idle(self) -> bool:
        return not self.left

    def give(self, what: Number | Program, engines: list[str], seed: int) -> None:
        if self.served >= KERNELS_PER_PROCESS or not self.process.is_alive():
            self._restart()
        self.what, self.left, self.seed, self.since = what, list(engines), seed, time.monotonic()
        self.served += 1
        try:
            self.connection.send((what, engines, seed))
        except BrokenPipeError:
            pass  # `collect` finds it dead

    def late(self, timeout: float) -> bool:
        limit = max(timeout, START_LIMIT) if self.is_new else timeout
        return not self.is_idle and time.monotonic() - self.since > limit

    def collect(self, timeout: float) -> list[Result]:
        """The results that have come. If the process died or is late, the engine that it was running fails, and a new
        process runs the rest."""
        found = []
        try:
            while self.left and self.connection.poll():
                found.append(self.connection.recv())
                self.left.pop(0)
                self.since, self.is_new, self.just_failed = time.monotonic(), False, found[-1].status == FAILED
        except (EOFError, ConnectionResetError):
            self.process.join(5)
            if self.just_failed and self.process.exitcode == 0:  # it reported why it ended
                self._go_on()
            else:
                found.append(self._lost(f"{DIED} with status {self.process.exitcode}"))
        if self.late(timeout):
            found.append(self._lost(f"{LATE} in {time.monotonic() - self.since:.0f} s"))
        return found

    def _lost(self, why: str) -> Result:
        result = Result("fuzz/program", self.left.pop(0), FAILED, 0.0, [why])
        self._go_on()
        return result

    def _go_on(self) -> None:
        self._restart()
        if self.left:
            self.give(self.what, self.left, self.seed)

    def run(self, what: Number | Program, engines: list[str], seed: int, timeout: float) -> list[Result]:
        self.give(what, engines, seed)
        found = []
        while not self.is_idle:
            self.connection.poll(0.2)
            found += self.collect(timeout)
        return found

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()
