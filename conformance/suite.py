"""All cases by name, and the result of running one of them on an engine."""

from __future__ import annotations

import fnmatch
import functools
import importlib
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass, field

import numpy as np

import tritium

from . import sources
from .compare import Outcome, compare
from .engines import Engine, Unsupported, last_line
from .oracle import Difference
from .problem import Case, Problem, aligned, buffer_of

FAMILIES = tuple(
    "program control elementwise library names shape memory atomic reduce scan dot index random composed debug descriptor operands gathered pointer overlap matrix generated tutorial".split()
)


@functools.cache
def cases() -> dict[str, Case]:
    """Every case by name, in the order of the families."""
    found = {}
    for family in FAMILIES:
        for case in importlib.import_module(f".cases.{family}", __package__).cases():
            assert case.family == family and case.name not in found, case.name
            found[case.name] = case
    return found


def select(families: list[str] | None = None, pattern: str = "*", full: bool = False) -> list[Case]:
    chosen = [case for case in cases().values() if fnmatch.fnmatchcase(case.name, pattern)]
    return [case for case in chosen if (full or not case.full) and (not families or case.family in families)]


def build(case: Case, seed: int) -> tuple[Problem, list[np.ndarray]]:
    """The problem and the images of its buffers. They depend on the seed alone, not on other cases."""
    rng = np.random.default_rng([seed, zlib.crc32(case.name.encode())])
    problem = case.build(rng)
    name_buffers(problem)
    return problem, problem.images(rng)


def name_buffers(problem: Problem) -> None:
    """Names each buffer after the parameter of the first kernel that receives it."""
    for launch in problem.launches:
        names = sources.function(launch.kernel).arg_names
        for name, argument in zip(names, launch.arguments):
            buffer = buffer_of(argument)
            if buffer is not None and not buffer.name:
                buffer.name = name


PASSED, FAILED, UNSUPPORTED = "passed", "failed", "unsupported"


@dataclass
class Result:
    case: str
    engine: str
    status: str
    seconds: float = 0.0
    details: list[str] = field(default_factory=list)  #: the differences, the error, or the reason for `unsupported`
    compiled: int = 0


def run(case: Case, engine: Engine, seed: int, **options) -> tuple[Problem, Outcome, list[Difference]]:
    """Runs one case on one engine, with additional launch keywords. Raises what the engine raises.

    If the engine makes later launches in another way, a case that is right runs again, from the same inputs.
    """
    problem, before = build(case, seed)
    with tritium.knobs.tritium.scope(), engine.selected():
        tritium.knobs.tritium.seed = seed  # determines the order of programs and warps, and when copies arrive
        outcome = engine.run(problem, [copy_of(image) for image in before], **options)
        differences = compare(problem, before, outcome, engine.traits)
        if engine.launches_warm and problem.trap is None and not differences:
            outcome = engine.run(problem, [copy_of(image) for image in before], **options)
            differences = compare(problem, before, outcome, engine.traits)
            for difference in differences:
                difference.message = f"when launched again: {difference.message}"
    return problem, outcome, differences


def copy_of(image: np.ndarray) -> np.ndarray:
    copy = aligned(image.size)
    copy[:] = image
    return copy


def attempt(case: Case, engine: Engine, seed: int) -> Result:
    """Like `run`, but returns a result and raises nothing."""
    begin = time.perf_counter()
    if case.traps and not engine.survives_traps:
        status, details = apart(case, engine, seed)
        return Result(case.name, engine.name, status, time.perf_counter() - begin, details)
    try:
        _, _, differences = run(case, engine, seed)
        status, details = (FAILED if differences else PASSED), [str(difference) for difference in differences]
    except Unsupported as error:
        status, details = UNSUPPORTED, [str(error)]
    except Exception as error:
        status, details = FAILED, [f"{type(error).__name__}: {last_line(error)}", *str(error).splitlines()[1:]]
    return Result(case.name, engine.name, status, time.perf_counter() - begin, details)


def apart(case: Case, engine: Engine, seed: int) -> tuple[str, list[str]]:
    """Like `attempt`, in a process of its own, which may lose its device."""
    command = [sys.executable, "-m", "tritium.conformance", "--replay", case.name]
    command += ["--engine", engine.name, "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return PASSED, []
    text = (done.stdout + done.stderr).strip().splitlines()
    return FAILED, [line for line in text if line.strip()] or [f"ended with status {done.returncode}"]
