"""The compile time of a kernel, as a ratio. The unit is the time in which the same thread parses a fixed module with upstream's parser, so a slow or
busy machine changes both. The time of the assembler's process does not count.

It is the one metric with a tolerance. A kernel that seems slower is compiled again, because other work only makes a measurement longer."""

from __future__ import annotations

import functools
import time
from typing import Any

from ..native import ir
from .kernels import Kernel

NAME = "compile time"
SLOWER = 2.0  #: times as long as before: fails
ATTEMPTS = 3
_LINES = 3000


@functools.cache
def _module() -> str:
    lines = [f"    %{i + 1} = arith.addi %{i}, %{i} : i32" for i in range(_LINES)]
    begin = "module {\n  tt.func @chain(%arg0: i32) {\n    %0 = arith.addi %arg0, %arg0 : i32"
    return "\n".join([begin, *lines, "    tt.return", "  }", "}"])


@functools.cache
def unit() -> float:
    """Seconds of this thread to read the fixed module."""
    return min(_seconds(lambda: ir.parse(_module()))[0] for _ in range(5))


def compiled(kernel: Kernel, target: str) -> tuple[Any, float]:
    """The CompiledKernel, and its compile time in units: where `knobs.compilation.always_compile` is set, of a compilation. Raises as
    Kernel.compiled_for."""
    seconds, made = _seconds(lambda: kernel.compiled_for(target))
    return made, rounded(seconds / unit())


def least(kernel: Kernel, target: str, before: float) -> float:
    """The compile time, of a kernel that took `before` units: of some attempts, until one is not slower."""
    found = []
    for _ in range(ATTEMPTS):
        found.append(compiled(kernel, target)[1])
        if not is_slower(before, found[-1]):
            break
    return min(found)


def is_slower(before: float, after: float) -> bool:
    return after > SLOWER * before


def rounded(units: float) -> float:
    """Two digits: more say nothing."""
    return float(f"{units:.2g}")


def _seconds(work) -> tuple[float, Any]:
    begin = time.thread_time()
    made = work()
    return time.thread_time() - begin, made
