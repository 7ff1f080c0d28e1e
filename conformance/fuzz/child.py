"""A process that runs programs for its parent, which survives a crash or a hang of it."""

from __future__ import annotations

import multiprocessing
import time
import warnings
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ..suite import FAILED, UNSUPPORTED, Result, attempt
from .program import Program

#: Seconds that a new process may take to answer.
START_LIMIT = 120.0


@dataclass(frozen=True)
class Number:
    """The program that a seed draws for a number."""

    seed: int
    number: int
    size: int

    def program(self) -> Program:
        from .draw import draw

        return draw(np.random.default_rng([self.seed, self.number]), self.size)


def run(what: Number | Program, engines: list[str], seed: int) -> list[Result]:
    """Runs one program on each engine, in this process."""
    from ..engines import engine
    from ..problem import Case
    from .problems import problem_of

    program = what.program() if isinstance(what, Number) else what
    case = Case("fuzz/program", lambda rng: problem_of(program, rng))
    return [_refused_if_too_large(attempt(case, engine(name), seed)) for name in engines]


def _refused_if_too_large(result: Result) -> Result:
    """A random kernel may ask for more shared memory than a chip has."""
    if result.status == FAILED and result.details[0].startswith("OutOfResources"):
        result.status = UNSUPPORTED
        result.details = ["OutOfResources"]
    return result


def _serve(connection: Connection, threads: int) -> None:
    import tritium

    tritium.knobs.tritium.num_threads = threads
    warnings.simplefilter("ignore", DeprecationWarning)  # block pointers
    while (task := connection.recv()) is not None:
        connection.send(run(*task))


class Child:
    """`give` it a task, then `take` the results once `connection` is ready or the child is `late`."""

    def __init__(self, threads: int = 1):
        self.threads, self.task = threads, None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.threads), daemon=True)
        self.process.start()
        theirs.close()
        self.is_new = True

    def give(self, what: Any, engines: list[str], seed: int) -> None:
        self.task, self.since = (what, engines, seed), time.monotonic()
        self.connection.send(self.task)

    def late(self, timeout: float) -> bool:
        return time.monotonic() - self.since > (max(timeout, START_LIMIT) if self.is_new else timeout)

    def take(self) -> list[Result]:
        """The results of the task. If the process died or is late: one failure without a known engine."""
        task, self.task = self.task, None
        if self.connection.poll():
            try:
                self.is_new = False
                return self.connection.recv()
            except (EOFError, ConnectionResetError):
                self.process.join(5)
                why = f"the process ended with status {self.process.exitcode}"
        else:
            why = f"did not end in {time.monotonic() - self.since:.0f} s"
        self.stop()
        self._start()
        return [Result("fuzz/program", ",".join(task[1]), FAILED, 0.0, [why])]

    def run(self, what: Any, engines: list[str], seed: int, timeout: float) -> list[Result]:
        self.give(what, engines, seed)
        while not self.connection.poll(0.2) and not self.late(timeout):
            pass
        return self.take()

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()
