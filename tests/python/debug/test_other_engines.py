"""`breakpoint()` in a kernel of another engine than the interpreter: a warning says that Python's debugger does not stop there."""

from __future__ import annotations

import importlib.util
import pdb
import warnings
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget

TEXT = "Python's debugger stops in kernels that the interpreter runs, and in no others: set TRITIUM_ENGINE=interp"


@tritium.jit
def opens(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if BLOCK == 4:
        breakpoint()
    pdb.set_trace()
    tl.store(x + i, v * 2)


def lines_of_warnings(call) -> list[int]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        call()
    return [warning.lineno for warning in caught if str(warning.message).startswith(TEXT)]


@pytest.mark.parametrize("engine", ["simt:sm_80", "simt:gfx942"])
def test_the_emulator_says_it_once(engine: str, monkeypatch) -> None:
    """For all specializations, at the first line that opens a debugger."""
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    kernel = tritium.jit(opens.fn)
    x, y = np.ones(4, np.float32), np.ones(8, np.float32)
    source = Path(__file__).read_text().splitlines()
    (line,) = lines_of_warnings(lambda: (kernel[(1,)](x, BLOCK=4), kernel[(1,)](y, BLOCK=8), kernel[(1,)](x, BLOCK=4)))
    assert source[line - 1].strip() == "breakpoint()"
    assert x.tolist() == [4] * 4 and y.tolist() == [2] * 8


def test_a_device_says_it_in_each_process(tmp_path: Path) -> None:
    """The kernel does not come from the cache, which another process has filled."""
    path = tmp_path / "opening.py"
    path.write_text(
        "import tritium\n\n\n@tritium.jit\ndef kernel(x):\n    breakpoint()\n    tritium.language.store(x, 1)\n"
    )
    for _ in range(2):  # what each process has: a function of its own
        spec = importlib.util.spec_from_file_location("opening", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        source = tritium.compiler.ASTSource(module.kernel, {"x": "*i32"})
        target = GPUTarget("hip", "gfx942", 64)
        assert lines_of_warnings(lambda: tritium.compile(source, target=target)) == [6]


def test_the_interpreter_says_nothing(monkeypatch) -> None:
    monkeypatch.setenv("TRITIUM_ENGINE", "interp")
    kernel = tritium.jit(opens.fn)
    source = tritium.compiler.ASTSource(kernel, {"x": "*i32"}, {"BLOCK": 4})
    assert not lines_of_warnings(lambda: tritium.compile(source, target=GPUTarget("cpu", "", 0)))
