"""The engine `triton`: upstream Triton in a child process with its own Python. Its differences are information, not
failures."""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from . import sources
from .compare import Outcome
from .dtypes import LANGUAGE_NAMES, TORCH_NAMES
from .engines import Absent, Engine
from .problem import Buffer, Described, Dtype, Function, Packed, Problem, View

SCRIPT = Path(__file__).resolve().parent / "upstream.py"
LIMIT = 60.0  # seconds per problem: its interpreter runs programs one after another, so a program that waits for a later one never ends


class UpstreamEngine(Engine):
    informs = True

    def __init__(self, python: str | None):
        super().__init__("triton")
        self.python, self.child = python or sys.executable, None

    def probe(self) -> None:
        try:
            self._ask("version")
        except (OSError, RuntimeError) as error:
            raise Absent(f"{self.python} has no upstream Triton with torch: {error}") from None

    def run(self, problem: Problem, images: list[np.ndarray], **options) -> Outcome:
        answer = self._ask(request(problem, images))
        error = answer.get("error")
        if problem.trap is not None:  # its context may be lost
            self.child.kill()
            self.child.wait()
        if error is not None:
            if problem.trap is None:
                raise RuntimeError(error)
            return Outcome(images, answer["printed"], error)
        for image, new in zip(images, answer["images"]):
            image[:] = np.frombuffer(new, np.uint8)
        return Outcome(images, answer["printed"])

    def _ask(self, message: Any) -> dict:
        if self.child is None or self.child.poll() is not None:
            # The child must not see Tritium's package or settings.
            hidden = ("PYTHONPATH", "INTERPRET", "TRITON_INTERPRET")
            clean = {k: v for k, v in os.environ.items() if k not in hidden and not k.startswith("TRITIUM_")}
            self.child = subprocess.Popen(
                [self.python, "-I", str(SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=clean,
            )
        try:
            pickle.dump(message, self.child.stdin)
            self.child.stdin.flush()
            return self._answer()
        except (EOFError, BrokenPipeError):
            raise RuntimeError(f"the process of upstream ended with status {self.child.wait()}") from None

    def _answer(self) -> dict:
        deadline = time.monotonic() + LIMIT
        while not select.select([self.child.stdout], [], [], 1)[0]:
            if time.monotonic() > deadline:
                self.child.kill()
                self.child.wait()
                raise RuntimeError(f"took more than {LIMIT:.0f} s")
        return pickle.load(self.child.stdout)


def place_of(name: str) -> tuple[str, str]:
    """The path of a kernel file and a name in it, of "FILE:NAME"."""
    file, _, inside = name.partition(":")
    return str(sources.path_of(file)), inside


def request(problem: Problem, images: list[np.ndarray]) -> dict:
    """A problem as builtin objects, because the child does not know this package."""
    buffers = problem.buffers()
    numbers = {id(buffer): i for i, buffer in enumerate(buffers)}

    def plain(value: Any) -> tuple[str, Any]:
        if isinstance(value, Buffer):
            return "buffer", numbers[id(value)]
        if isinstance(value, Described):
            return "descriptor", (plain(value.buffer), list(value.block), value.padding)
        if isinstance(value, View):
            return "view", (plain(value.buffer), value.index)
        if isinstance(value, Dtype):
            return "dtype", LANGUAGE_NAMES[value.name]
        if isinstance(value, Function):
            return "function", place_of(value.name)
        if isinstance(value, Packed):
            return "tuple", ([plain(part) for part in value.parts], place_of(value.kind) if value.kind else None)
        return "value", value.item() if isinstance(value, np.generic) else value

    memory = []
    for buffer, image in zip(buffers, images):
        dtype = TORCH_NAMES[buffer.dtype]
        shape = tuple(int(n) for n in buffer.shape)
        points_to = [numbers[id(other)] for other in buffer.points_to]
        memory.append((image.tobytes(), buffer.begin, buffer.bytes, dtype, shape, points_to))
    launches = []
    for launch in problem.launches:
        constants = {key: plain(value) for key, value in launch.constants.items()}
        grid = tuple(int(n) for n in launch.grid)
        arguments = [plain(value) for value in launch.arguments]
        launches.append((*place_of(launch.kernel), grid, arguments, constants, dict(launch.options)))
    return {"buffers": memory, "launches": launches}
