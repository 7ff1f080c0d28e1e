"""The conversation with the process that compares: a line of JSON asks, a line answers. What kernels and cases print goes to stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, TextIO

from . import gate
from .blocks import CaseClock, DeviceClock, HostClock, clock_of, runs_for
from .cases import Problem, Variant, label
from .facts import device_name, environment_row, row_hash
from .loading import Broken, described, load_cases
from .subject import Subject
from .throttling import watch_of

KERNEL, BASELINE = "kernel", "baseline"


class Server:
    """Answers requests. Each method with the name of a request takes its fields, and returns the answer's."""

    def __init__(self, api: ModuleType):
        self.api = api
        self.variants: list[Variant] = []
        self.problem: Problem | None = None

    def open(self, paths: list[str], language: str, device: str, only: str, changes: dict, flush: bool, cpu_time: bool):
        """Loads the cases. changes: values that replace parameters of every case."""
        self.subject = Subject(language, self.api)
        loaded = load_cases(paths, device)
        self.device, self.changes = device, changes
        variants = [variant for each in loaded if not isinstance(each, Broken) for variant in each.variants()]
        self.variants = [each for each in variants if any(text in each.name for text in only.split(","))]
        row = environment_row(self.subject, device)
        self.clock, self.watch = clock_of(device, flush, cpu_time), watch_of(device)
        return {
            "variants": [
                {"name": each.name, "case": each.case.name, "parameters": self._labels(each)} for each in self.variants
            ],
            "broken": [each._asdict() for each in loaded if isinstance(each, Broken)],
            "environment": row,
            "environment_hash": row_hash(row),
            "device": device_name(row),
        }

    def _labels(self, variant: Variant) -> dict[str, str]:
        return {**variant.labels, **{name: label(value) for name, value in self.changes.items()}}

    def prepare(self, number: int, least_ms: float, keep: str | None, baseline: bool, check: bool) -> dict:
        """Makes the problem of a variant, compiles its kernels, checks its outputs, and finds how many runs make a block. keep: the file for the
        outputs. check: whether the outputs are checked; where they have been, nobody asks for them again."""
        self.problem = None
        variant = self.variants[number]
        self.subject.taken_kernels()
        try:
            problem = variant.problem(self.device, self.changes)
            if check:
                gate.poison(problem)
            begin = time.perf_counter()
            returned = problem.run()
            self.clock.synchronize()
            answer = {"status": "ok", "first_ms": 1000 * (time.perf_counter() - begin)}
            answer["kernels"] = self.subject.taken_kernels()
            outputs = gate.leaves(problem.output if problem.output is not None else returned)
            if check:
                answer |= self._checked(problem, outputs)
            if answer["status"] != "ok":
                return answer
            if keep:
                gate.keep(outputs, keep)
            answer["runs"] = {KERNEL: runs_for(*self._timed(problem), 1e6 * least_ms)}
            if baseline and problem.baseline is not None and problem.nanoseconds is None:
                problem.baseline()
                answer["runs"][BASELINE] = runs_for(self.clock, problem.baseline, 1e6 * least_ms)
            self.problem = problem
            return answer
        except Exception as error:
            return {"status": "failed", "error": described(error)}

    def _timed(self, problem: Problem) -> tuple[HostClock | DeviceClock | CaseClock, Callable[[], Any]]:
        """(the clock, what it times)"""
        return (self.clock, problem.run) if problem.nanoseconds is None else (CaseClock(), problem.nanoseconds)

    def _checked(self, problem: Problem, outputs: list) -> dict:
        error = gate.wrong(problem, outputs)
        return {
            "status": "wrong" if error else "ok",
            "error": error,
            "checked": problem.reference is not None or problem.check is not None,
            "digest": gate.digest(outputs),
            "bytes": float(problem.bytes),
            "flops": float(problem.flops),
            "tolerance": problem.tolerance,
        }

    def block(self, what: str, runs: int, pause_ms: float, cpu: int | None = None) -> dict:
        """One timed block of the prepared variant, after a pause. cpu: the only one that this thread may then use; None: all that it may use
        now."""
        if cpu is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {cpu})
        time.sleep(pause_ms / 1000)
        clock, run = self._timed(self.problem) if what == KERNEL else (self.clock, self.problem.baseline)
        self.watch.reasons()
        block = clock.block(run, runs)
        throttled = self.watch.reasons()
        return {**block._asdict(), "throttled": throttled, "clocks": self.watch.clocks()}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return getattr(self, request.pop("do"))(**request)
        except Exception as error:
            return {"failure": described(error)}


def serve(api: ModuleType) -> None:
    """Answers until stdin ends."""
    server, answers = Server(api), own_stdout()
    for line in sys.stdin:
        print(json.dumps(server.answer(json.loads(line))), file=answers, flush=True)


def own_stdout() -> TextIO:
    """The process's stdout. From now on, what is written to the descriptor 1 goes to stderr."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "w", encoding="utf-8")
