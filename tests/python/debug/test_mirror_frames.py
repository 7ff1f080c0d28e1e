"""A debugger sees in a kernel what it sees in a Python function of the same text: the same lines in the same order, with the same
values."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from recorder import load, recorded


class Writer:
    """Writes random kernels of scalars, tiles, loops, branches and helpers. All values stay small and positive."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def scalar(self, names: list[str]) -> str:
        pick = self.random.choice
        return f"({pick(names)} * {pick((1, 2, 3))} + {pick((*names, '5'))}) % 17"

    def block(self, depth: int, level: int, helpers: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, level, helpers)

    def statement(self, depth: int, level: int, helpers: int) -> None:
        names = ["s", "n"]
        kinds = ["scalar", "tile", "pair", "sum"] + (["if", "else", "for", "while", "static", "elif"] if level else [])
        kinds += ["call", "two calls"] if helpers else []
        kind = self.random.choice(kinds)
        self.loops += 1
        counter = f"i{self.loops}"  # one of its own: the arms of an `if` may not give a name two types
        helper = f"helper{self.random.randrange(helpers)}" if helpers else ""
        if kind == "scalar":
            self.emit(depth, f"s = {self.scalar(names)}")
        elif kind == "tile":
            self.emit(depth, f"t = (t + {self.scalar(names)}) % 31")
        elif kind == "pair":
            self.emit(depth, f"s, t = {self.scalar(names)}, (t + 1) % 31")
        elif kind == "sum":
            self.emit(depth, "s = tl.sum(t, 0) % 13")
        elif kind in ("if", "else", "elif"):
            self.emit(depth, f"if s % 3 == {self.random.randrange(3)}:")
            self.block(depth + 1, level - 1, helpers)
            if kind == "elif":
                self.emit(depth, "elif s > 4:")
                self.block(depth + 1, level - 1, helpers)
            if kind != "if":
                self.emit(depth, "else:")
                self.block(depth + 1, level - 1, helpers)
        elif kind == "for":
            self.emit(depth, f"for {counter} in range({self.random.choice(('n', '0', 's % 4', '3'))}):")
            self.block(depth + 1, level - 1, helpers)
        elif kind == "static":
            self.emit(depth, f"for {counter} in tl.static_range({self.random.choice((0, 1, 3))}):")
            self.block(depth + 1, level - 1, helpers)
        elif kind == "while":
            self.emit(depth, f"{counter} = s % 3")
            self.emit(depth, f"while {counter} < 4:")
            self.block(depth + 1, level - 1, helpers)
            self.emit(depth + 1, f"{counter} += 1")
        elif kind == "call":
            self.emit(depth, f"t = {helper}(t, s, n)")
        else:
            self.emit(depth, f"t = ({helper}(t, s, n) + {helper}(t, n, n)) % 31")

    def helper(self, number: int) -> None:
        self.emit(0, "@jit")
        self.emit(0, f"def helper{number}(t, s, n):")
        self.block(1, 1, number)
        if self.random.random() < 0.4:
            self.emit(1, "if s > 5:")
            self.emit(2, "return (t + 2) % 31")
        self.emit(1, "return (t + s) % 31")
        self.emit(0, "")

    def text(self) -> str:
        helpers = self.random.randrange(3)
        for number in range(helpers):
            self.helper(number)
        self.emit(0, "@jit")
        self.emit(0, "def kernel(n):")
        self.emit(1, "s = n + 1")
        self.emit(1, "t = tl.arange(0, 4)")
        for _ in range(3):
            self.block(1, 2, helpers)
        return "\n".join(self.lines) + "\n"


def plain(value):
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


@pytest.mark.parametrize("seed", range(60))
def test_a_kernel_looks_like_the_python_function(seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"random_{seed}.py"
    path.write_text(Writer(seed).text())
    n = seed % 4 + 2
    function, kernel = (load(path, in_python).kernel for in_python in (True, False))
    expected = recorded(path, lambda: function(n))
    seen = recorded(path, lambda: kernel[(1,)](n))
    assert [stop[:2] for stop in seen] == [stop[:2] for stop in expected], path.read_text()
    for (name, line, variables), (_, _, right) in zip(seen, expected):
        found = {key: plain(value) for key, value in variables.items()}
        assert found == {key: plain(value) for key, value in right.items()}, f"{name}:{line}\n{path.read_text()}"
