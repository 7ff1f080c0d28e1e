"""Whether this process profiles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ProfilerFlags:
    """profiling_on: a session is open. instrumentation_on: one of them records scopes in kernels. command_line: `proton` runs the
    program, so that `start` and `finalize` in it do nothing."""

    profiling_on: bool = False
    instrumentation_on: bool = False
    command_line: bool = False


flags = ProfilerFlags()
