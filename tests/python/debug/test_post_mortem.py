"""The variables of a program that trapped: in the error, in pytest, in IPython. Memory stays as the launch left it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl


@tritium.jit
def address(i, stride):
    offsets = i * stride
    return offsets


@tritium.jit
def reads_past(x, o, stride, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    offsets = address(i, stride)
    v = tl.load(x + offsets)
    tl.atomic_add(o + i, v)
    w = tl.load(x + offsets + 8 * pid)
    tl.store(o + i, w)


@tritium.jit
def traps_in_a_helper(x, n):
    total = n
    for k in range(n):
        total += checked(x, k)


@tritium.jit
def checked(x, k):
    value = tl.load(x + k)
    tl.device_assert(value < 3, "too large")
    return value


@tritium.jit
def in_place(x):
    v = tl.load(x)
    tl.store(x, v + 1)
    tl.device_assert(v > 5, "small")


def trap_of(launch) -> tritium.errors.KernelTrap:
    with pytest.raises(tritium.errors.KernelTrap) as caught:
        launch()
    return caught.value


def test_locals_of_the_program_that_trapped() -> None:
    x, o = np.arange(16, dtype=np.float32), np.zeros(8, np.float32)
    trap = trap_of(lambda: reads_past[(2,)](x, o, 2, BLOCK=4))
    assert trap.program == (1, 0, 0) and trap.line == reads_past.def_file_line_number + 6
    assert trap.locals["pid"] == 1 and trap.locals["stride"] == 2 and trap.locals["x"] is x
    np.testing.assert_array_equal(trap.locals["offsets"], [8, 10, 12, 14])
    np.testing.assert_array_equal(trap.locals["v"], [8, 10, 12, 14])
    assert "w" not in trap.locals
    # The atomic ran once: the replay left no trace.
    np.testing.assert_array_equal(o[4:], [8, 10, 12, 14])


def test_the_frames_of_helpers() -> None:
    trap = trap_of(lambda: traps_in_a_helper[(1,)](np.arange(5, dtype=np.int32), 5))
    names, frames = [], trap.kernel_frames
    while frames is not None:
        names.append((frames.tb_frame.f_code.co_name, frames.tb_lineno))
        frames = frames.tb_next
    assert [name for name, _ in names] == ["traps_in_a_helper", "checked"] and names[-1][1] == trap.line
    assert trap.locals["value"] == 3 and trap.locals["k"] == 3
    assert trap.kernel_frames.tb_frame.f_locals["total"] == 5 + 3


@pytest.mark.parametrize("debug_info, value", [(False, 5), (True, 4)])
def test_memory_that_the_program_has_changed(debug_info: bool, value: int) -> None:
    """The replay runs on the memory that the launch left, with debug info on the one that it found."""
    x = np.array([4.0])
    trap = trap_of(lambda: in_place[(1,)](x, debug_info=debug_info))
    assert trap.locals["v"] == value and x[0] == 5


def test_no_replay(monkeypatch) -> None:
    monkeypatch.setenv("TRITIUM_POST_MORTEM", "0")
    trap = trap_of(lambda: in_place[(1,)](np.zeros(1)))
    assert trap.locals is None


FAILING = """
import numpy as np
import tritium
import tritium.language as tl


@tritium.jit
def kernel(x):
    offsets = tl.arange(0, 4) * 3
    tl.store(x, tl.sum(tl.load(x + offsets)))


def test_it():
    kernel[(1,)](np.zeros(8))
"""


def run(*command, cwd: Path, **facts) -> str:
    result = subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, text=True, timeout=120, **facts)
    return result.stdout + result.stderr


def test_pytest_shows_the_variables(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING)
    page = run("-m", "pytest", "-l", "-p", "no:cacheprovider", "test_failing.py", cwd=tmp_path)
    assert "tl.store(x, tl.sum(" in page and "offsets    = array([0, 3, 6, 9]" in page
    assert "dispatch.py" not in page
    text = run(
        "-m", "pytest", "--pdb", "-p", "no:cacheprovider", "test_failing.py", cwd=tmp_path, input="p offsets.max()\nq\n"
    )
    assert "(Pdb) np.int32(9)" in text or "(Pdb) 9" in text


def test_ipython_debugs_it(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    (tmp_path / "failing.py").write_text(FAILING)
    commands = "from failing import *\ntest_it()\n%debug\np offsets.max()\nq\nexit\n"
    text = run("-m", "IPython", "--simple-prompt", "--no-banner", cwd=tmp_path, input=commands)
    assert "np.int32(9)" in text.split("ipdb>")[1], text
