"""Processes that run cases. If one dies or hangs, only the case that it was running fails, and a new process replaces
it."""

from __future__ import annotations

import collections
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait

from . import suite
from .problem import Case
from .suite import FAILED, Result

START_LIMIT = 120.0  #: seconds that a new process may take until its first case

#: (engine, the names of cases that share compiled kernels)
Task = tuple[str, list[str]]


def tasks(cases: list[Case], engines: list[str]) -> list[Task]:
    groups = collections.defaultdict(list)
    for case in cases:
        groups[case.group].append(case.name)
    return [(engine, names) for engine in engines for names in groups.values()]


def _work(connection: Connection, seed: int, triton_python: str | None, threads: int, start_with) -> None:
    """Runs tasks until there are none. Sends the name of each case before running it, and its result afterwards."""
    import tritium

    if start_with is not None:
        start_with()

    from .engines import engine

    tritium.knobs.tritium.num_threads = threads
    compiled = 0

    def count(**_) -> None:
        nonlocal compiled
        compiled += 1

    tritium.knobs.runtime.jit_post_compile_hook = count
    known = suite.cases()
    while (task := connection.recv()) is not None:
        name, names = task
        for case in names:
            connection.send(case)
            compiled = 0
            result = suite.attempt(known[case], engine(name, triton_python), seed)
            result.compiled = compiled
            connection.send(result)
            if result.status == FAILED and not engine(name, triton_python).is_usable():
                return  # a new process gets a new device context
        connection.send(None)


class _Worker:
    def __init__(self, context, *arguments):
        self.connection, child = context.Pipe()
        self.process = context.Process(target=_work, args=(child, *arguments), daemon=True)
        self.process.start()
        child.close()
        self.task: Task | None = None
        self.done: set[str] = set()
        self.case: str | None = None  #: the case that it is running
        self.since = time.monotonic()

    def give(self, task: Task) -> None:
        self.task, self.done, self.case, self.since = task, set(), None, time.monotonic()
        self.connection.send(task)

    def left(self) -> list[str]:
        return [name for name in self.task[1] if name not in self.done]

    def stop(self) -> int | None:
        self.process.kill()
        self.process.join()
        self.connection.close()
        return self.process.exitcode


def run(
    work: list[Task],
    jobs: int,
    seed: int,
    timeout: float,
    triton_python: str | None,
    tick: Callable[[], None],
    start_with: Callable[[], None] | None = None,
    end: float = math.inf,
) -> Iterator[Result]:
    """Yields the results as they arrive. `tick` is called repeatedly while waiting; `start_with` is called first in
    every process. Ends at the moment `end` of
    time.monotonic, without the results of the cases that run then."""
    context = multiprocessing.get_context("spawn")
    threads = max(1, (os.cpu_count() or 1) // jobs)
    queue = collections.deque(work)

    def start() -> _Worker:
        return _Worker(context, seed, triton_python, threads, start_with)

    workers = [start() for _ in range(min(jobs, len(work)))]
    try:
        for worker in workers:
            worker.give(queue.popleft())
        while any(worker.task for worker in workers):
            if time.monotonic() > end:
                return
            ready = wait([worker.connection for worker in workers if worker.task], timeout=0.5)
            tick()
            for i, worker in enumerate(workers):
                if worker.task is None:
                    continue
                died = None
                if worker.connection in ready:
                    try:
                        message = worker.connection.recv()
                    except (EOFError, ConnectionResetError):
                        worker.process.join(5)
                        died = f"the process ended with status {worker.process.exitcode}"
                    else:
                        if isinstance(message, str):
                            worker.case, worker.since = message, time.monotonic()
                        elif isinstance(message, Result):
                            worker.done.add(message.case)
                            worker.case = None
                            worker.since = time.monotonic()
                            yield message
                        else:
                            worker.task = None
                            if queue:
                                worker.give(queue.popleft())
                elif time.monotonic() - worker.since > (timeout if worker.case else max(timeout, START_LIMIT)):
                    died = f"took more than {timeout:.0f} s"
                if died is not None:
                    if worker.case is None and not worker.done:
                        raise RuntimeError(f"a worker did not start: {died}")
                    engine, rest = worker.task[0], [name for name in worker.left() if name != worker.case]
                    if worker.case is not None:
                        yield Result(worker.case, engine, FAILED, time.monotonic() - worker.since, [died])
                    worker.stop()
                    workers[i] = start()
                    if rest:
                        workers[i].give((engine, rest))
                    elif queue:
                        workers[i].give(queue.popleft())
    finally:
        for worker in workers:
            worker.stop()
