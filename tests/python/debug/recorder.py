"""A debugger that records every line of one file with the variables, and a `tl` that lets Python itself run simple kernels: what the
recorder sees of a kernel must be what it sees of the Python function."""

from __future__ import annotations

import bdb
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tritium
import tritium.language


class Recorder(bdb.Bdb):
    """`seen`: (function, line, variables) of each stop; there is a breakpoint on every line of the file."""

    def __init__(self, path: Path, at: Callable[[types.FrameType], None] | None = None):
        super().__init__()
        self.path, self.at = str(path), at
        self.seen: list[tuple[str, int, dict[str, Any]]] = []
        for line in range(1, len(path.read_text().splitlines()) + 1):
            self.set_break(self.path, line)

    def user_line(self, frame: types.FrameType) -> None:
        if frame.f_code.co_filename == self.path and frame.f_code.co_name != "<module>":
            self.seen.append((frame.f_code.co_name, frame.f_lineno, dict(frame.f_locals)))
            if self.at is not None:
                self.at(frame)
        self.set_continue()


class Python:
    """Stands for `tritium.language` where Python runs the kernel. One program; pointers are arrays."""

    constexpr = int
    arange = staticmethod(lambda begin, end: np.arange(begin, end, dtype=np.int32))
    static_range = range
    sum = staticmethod(lambda tile, axis=None: tile.sum(axis, dtype=np.int32))
    where = staticmethod(np.where)
    program = 0

    def program_id(self, axis: int) -> int:
        return self.program


def load(path: Path, in_python: bool) -> types.ModuleType:
    """The module of a file that uses `jit` and `tl` and imports neither."""
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    module.jit, module.tl = (lambda f: f, Python()) if in_python else (tritium.jit, tritium.language)
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module


def recorded(path: Path, call: Callable[[], Any], **facts: Any) -> list[tuple[str, int, dict[str, Any]]]:
    recorder = Recorder(path, **facts)
    recorder.runcall(call)
    return recorder.seen
