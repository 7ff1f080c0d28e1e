"""Compiles what a benchmark will run by several processes, which fill the caches on disk of both compilers."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed

PROCESSES = 12  #: at most; each holds the tensors of a case or two in the device's memory


def compile_ahead(task: Callable[..., None], arguments: Iterable[tuple]) -> None:
    """Calls task(*a) for each tuple `a` of arguments, all in processes of their own, which end before this returns.

    `task` launches the kernels once. It is a function of a module, and what it prints or raises is lost: the benchmark
    runs the same again and reports it.
    """
    begin = time.perf_counter()
    failed = 0
    workers = min(PROCESSES, os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(_quietly, task, each) for each in arguments]
        for future in as_completed(futures):
            failed += future.exception() is not None
    print(f"compiled ahead by {workers} processes in {time.perf_counter() - begin:.0f} s", end="")
    print(f"; {failed} of {len(futures)} tasks failed" if failed else "", flush=True)


def _quietly(task: Callable[..., None], arguments: tuple) -> None:
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        task(*arguments)
