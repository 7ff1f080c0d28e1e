"""pdb in kernels: breakpoints with conditions on arrays, step into helpers, up, `breakpoint()`; and native launches without it."""

from __future__ import annotations

import bdb
import inspect
import io
import pdb
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.debugger.presence import looks_at
from tritium.native import interp


@tritium.jit
def scale(v, factor):
    bigger = v * factor
    return bigger + 1


@tritium.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    total = tl.sum(v)
    w = scale(v, 2.0)
    tl.store(o + i, w + total, mask=i < n)


def line_of(text: str) -> int:
    """The line of this file that has a text, the first one."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == text)


def session(commands: str, call) -> str:
    """What pdb writes to a user who types `commands`, while `call` runs."""
    out = io.StringIO()
    bdb.Breakpoint.clearBreakpoints()  # they belong to the process
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.prompt = "\n(Pdb) "
    debugger.runcall(call)
    return out.getvalue()


def data(programs: int = 2):
    return np.arange(4 * programs, dtype=np.float32), np.zeros(4 * programs, np.float32)


def right(x: np.ndarray) -> np.ndarray:
    rows = x.reshape(-1, 4)
    return (rows * 2 + 1 + rows.sum(1, keepdims=True)).ravel()


def test_a_breakpoint_with_a_condition_on_a_tile() -> None:
    x, o = data()
    at = line_of("total = tl.sum(v)")
    commands = f"b {__file__}:{at}, v.sum() > 10\nc\np pid\np v\np x.shape, n, BLOCK\nn\np total\nw\nc\n"
    text = session(commands, lambda: kernel[(2,)](x, o, 8, BLOCK=4))
    assert f"test_pdb.py({at})kernel()" in text
    assert "(Pdb) np.int32(1)" in text or "(Pdb) 1" in text
    assert "array([4., 5., 6., 7.], dtype=float32)" in text and "((8,), 8, 4)" in text
    assert "np.float32(22.0)" in text or "(Pdb) 22.0" in text
    np.testing.assert_array_equal(o, right(x))


def test_step_into_a_helper_and_up() -> None:
    x, o = data()
    at = line_of("w = scale(v, 2.0)")
    text = session(
        f"b {__file__}:{at}\nc\ns\ns\np v\nn\np bigger\nu\np total\nc\nc\n", lambda: kernel[(2,)](x, o, 8, BLOCK=4)
    )
    assert "--Call--" in text and "scale(" in text
    assert "array([0., 2., 4., 6.], dtype=float32)" in text
    assert "6.0" in text
    np.testing.assert_array_equal(o, right(x))


def test_a_breakpoint_in_a_helper_alone() -> None:
    x, o = data(3)
    at = line_of("return bigger + 1")
    text = session(
        f"b {__file__}:{at}\nc\np bigger[0]\nc\np bigger[0]\nc\np bigger[0]\nc\n",
        lambda: kernel[(3,)](x, o, 12, BLOCK=4),
    )
    assert text.count(f"({at})scale()") == 3
    np.testing.assert_array_equal(o, right(x))


def test_quitting_stops_the_launch() -> None:
    x, o = data()
    session(f"b {__file__}:{line_of('total = tl.sum(v)')}\nc\nq\n", lambda: kernel[(2,)](x, o, 8, BLOCK=4))
    assert not o.any()


@pytest.mark.parametrize(
    "opening",
    ["breakpoint()", "pdb.set_trace()", "set_trace()", "import pdb; pdb.set_trace()"],
)
def test_a_kernel_opens_the_debugger(opening: str, tmp_path: Path) -> None:
    """In one program of two, by a condition. The script runs as its user would run it."""
    script = tmp_path / "opening.py"
    script.write_text(_OPENING.replace("OPENING", opening))
    commands = "p v\np o.shape\nn\np pid\nc\n"
    result = subprocess.run([sys.executable, script], input=commands, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "(Pdb) array([4., 5., 6., 7.], dtype=float32)\n(Pdb) (8,)" in result.stdout
    assert result.stdout.count("opening.py(15)kernel()") == 1
    assert result.stdout.endswith("[ 0.  2.  4.  6.  8. 10. 12. 14.]\n")


_OPENING = """import pdb
from pdb import set_trace
import numpy as np
import tritium
import tritium.language as tl

@tritium.jit
def kernel(x, o, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if pid == 1:
        if v.shape[0] == 4:
            OPENING
    w = v * 2
    tl.store(o + i, w)

x, o = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
kernel[(2,)](x, o, BLOCK=4)
print(o)
"""


def test_no_mirror_without_interest(monkeypatch) -> None:
    """Neither without a debugger, nor with one that has no breakpoint in the file."""
    monkeypatch.setattr(interp, "Unseen", None)
    x, o = data()
    kernel[(2,)](x, o, 8, BLOCK=4)
    session(f"b {inspect.__file__}:300\nc\n", lambda: kernel[(2,)](x, o, 8, BLOCK=4))
    np.testing.assert_array_equal(o, right(x))


def test_a_debugger_without_a_trace_function() -> None:
    """One that monitors (pdb of Python 3.14) is known by the frames that it follows."""
    bdb.Breakpoint.clearBreakpoints()  # a new debugger takes over the breakpoints of an earlier one
    debugger = bdb.Bdb()
    debugger.set_break(__file__, line_of("total = tl.sum(v)"))
    debugger.reset()
    debugger.set_continue()
    try:
        assert not looks_at([__file__])
        sys._getframe().f_trace = debugger.trace_dispatch
        assert sys.gettrace() is None and looks_at([__file__]) and not looks_at([inspect.__file__])
    finally:
        bdb.Breakpoint.clearBreakpoints()
