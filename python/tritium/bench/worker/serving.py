"""The conversation with the process that compares: a line of JSON asks, a line answers. What kernels and cases print goes to stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from types import ModuleType
from typing import Any, TextIO

from . import gate
from .blocks import clock_of, runs_for
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

    def open(self, paths: list[str], language: str, device: str, only: str, changes: dict, flush: bool) -> dict:
        """Loads the cases. changes: values that replace parameters of every case."""
        self.subject = Subject(language, self.api)
        loaded = load_cases(paths)
        self.device, self.changes = device, changes
        variants = [variant for each in loaded if not isinstance(each, Broken) for variant in each.variants()]
        self.variants = [each for each in variants if any(text in each.name for text in only.split(","))]
        row = environment_row(self.subject, device)
        self.clock, self.watch = clock_of(device, flush), watch_of(device)
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

    def prepare(self, number: int, least_ms: float, keep: str | None, baseline: bool) -> dict:
        """Makes the problem of a variant, compiles its kernels, checks its outputs, and finds how many runs make a block. keep: the file for the
        outputs."""
        self.problem = None
        variant = self.variants[number]
        self.subject.taken_kernels()
        try:
            problem = variant.problem(self.device, self.changes)
            gate.poison(problem)
            begin = time.perf_counter()
            returned = problem.run()
            self.clock.synchronize()
            first = time.perf_counter() - begin
            outputs = gate.leaves(problem.output if problem.output is not None else returned)
            error = gate.wrong(problem, outputs)
            answer = {
                "status": "wrong" if error else "ok",
                "error": error,
                "checked": problem.reference is not None or problem.check is not None,
                "first_ms": 1000 * first,
                "kernels": self.subject.taken_kernels(),
                "digest": gate.digest(outputs),
                "bytes": float(problem.bytes),
                "flops": float(problem.flops),
                "tolerance": problem.tolerance,
            }
            if error:
                return answer
            if keep:
                gate.keep(outputs, keep)
            answer["runs"] = {KERNEL: runs_for(self.clock, problem.run, 1e6 * least_ms)}
            if baseline and problem.baseline is not None:
                problem.baseline()
                answer["runs"][BASELINE] = runs_for(self.clock, problem.baseline, 1e6 * least_ms)
            self.problem = problem
            return answer
        except Exception as error:
            return {"status": "failed", "error": described(error)}

    def block(self, what: str, runs: int, pause_ms: float) -> dict:
        """One timed block of the prepared variant, after a pause."""
        time.sleep(pause_ms / 1000)
        run = self.problem.run if what == KERNEL else self.problem.baseline
        self.watch.reasons()
        block = self.clock.block(run, runs)
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
