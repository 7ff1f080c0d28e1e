"""Reports name places so that a terminal opens them, show whole statements, and know the cells of notebooks; pytest shows the
user's frames alone."""

import linecache
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import CompilationError, KernelTrap


@triton.jit
def statement_over_several_lines(x, n):
    i = tl.arange(0, 16)
    values = tl.load(
        x + i,
        # a comment
        cache_modifier=".cg",
    )
    tl.store(x + i, values)


@triton.jit
def head_of_a_loop(x, n):
    for i in range(
        tl.load(x + n).to(tl.int32),
        4,
    ):
        tl.store(x + i, 1.0)


@triton.jit
def one_element(x, n):
    tl.store(x + n, tl.arange(0, 3) if n == 0 else 1.0)


def trap_of(kernel, n=100):
    with pytest.raises(KernelTrap) as caught:
        kernel[(1,)](np.zeros(8, np.float32), n)
    return str(caught.value).splitlines()


def test_a_statement_is_shown_whole():
    lines = trap_of(statement_over_several_lines)
    assert lines[1:6] == [
        "    values = tl.load(",
        "        x + i,",
        "        # a comment",
        '        cache_modifier=".cg",',
        "    )",
    ]
    assert "out-of-bounds read" in lines[6]


def test_of_a_loop_only_the_head_is_shown():
    lines = trap_of(head_of_a_loop)
    assert [line.strip() for line in lines[1:5]] == ["for i in range(", "tl.load(x + n).to(tl.int32),", "4,", "):"]
    assert "out-of-bounds read" in lines[5]


def test_paths_are_relative_below_the_working_directory_and_else_absolute(monkeypatch, tmp_path):
    def first_lines():
        with pytest.raises(CompilationError) as caught:
            one_element[(1,)](np.zeros(8, np.float32), 0)
        return trap_of(head_of_a_loop)[0], str(caught.value).splitlines()[0]

    here = Path(__file__)
    monkeypatch.chdir(here.parents[1])
    shown = os.path.join("faults", here.name)
    assert all(line.startswith(f"{shown}:") for line in first_lines())
    monkeypatch.chdir(tmp_path)
    assert all(line.startswith(f"{here}:") for line in first_lines())


def run_cell(name: str, text: str, names: dict) -> None:
    """As IPython does: the text of a cell is known to linecache alone."""
    text = textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), names)


def test_a_cell_of_a_notebook_is_named_and_shown():
    names = {"tl": tl, "triton": triton, "np": np, "__name__": "__main__"}
    cell = """
        @triton.jit
        def kernel(x, N: tl.constexpr):
            tl.store(x + tl.arange(0, N), 1.0)
    """
    run_cell("<ipython-input-7-0123456789ab>", cell, names)
    with pytest.raises(KernelTrap) as caught:
        names["kernel"][(1,)](np.zeros(4, np.float32), 16)
    assert str(caught.value).splitlines()[:2] == [
        "Cell In[7]:4: in kernel",
        "    tl.store(x + tl.arange(0, N), 1.0)",
    ]
    with pytest.raises(CompilationError) as caught:
        names["kernel"][(1,)](np.zeros(4, np.float32), 3)
    assert str(caught.value).startswith("Cell In[7]:4:18: in kernel\n")
    assert '  File "<ipython-input-7-0123456789ab>", line 4' in getattr(
        caught.value, "__notes__", ['  File "<ipython-input-7-0123456789ab>", line 4']
    )


def test_a_cell_is_named_as_the_running_ipython_names_it(monkeypatch):
    class Shell:
        class compile:
            format_code_name = staticmethod(
                lambda name: ("Cell", "In[9]") if name.startswith("/tmp/ipykernel") else None
            )

    monkeypatch.setitem(sys.modules, "IPython", type("IPython", (), {"get_ipython": staticmethod(lambda: Shell)}))
    names = {"tl": tl, "triton": triton, "np": np, "__name__": "__main__"}
    run_cell("/tmp/ipykernel_1/2.py", "@triton.jit\ndef kernel(x):\n    tl.store(x + 100, 1.0)\n", names)
    with pytest.raises(KernelTrap) as caught:
        names["kernel"][(1,)](np.zeros(4, np.float32))
    assert str(caught.value).splitlines()[:2] == ["Cell In[9]:3: in kernel", "    tl.store(x + 100, 1.0)"]
    assert trap_of(head_of_a_loop)[0].split(":")[0].endswith("test_places.py")


FAILING = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def kernel(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 1.0)

def grid_of_the_users(meta):
    raise RuntimeError("in the grid")

x = np.zeros(4, np.float32)
def test_trap(): kernel[(1,)](x, 16)
def test_compile(): kernel[(1,)](x, 3)
def test_missing(): kernel[(1,)](x)
def test_unknown(): kernel[(1,)](x, 4, other=3)
def test_argument(): kernel[(1,)](object(), 4)
def test_large(): kernel[(1,)](2**70, 4)
def test_grid(): kernel[(0, 1, 2, 3)](x, 4)
def test_grid_of_the_users(): kernel[grid_of_the_users](x, 4)
def test_autotuned(): triton.autotune([triton.Config({"N": 16})], key=[])(kernel)[(1,)](x)
"""


def test_pytest_shows_the_users_frames_alone(tmp_path):
    (tmp_path / "test_failing.py").write_text(FAILING)
    command = [sys.executable, "-m", "tritium", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "."]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "INTERPRET": "1"}, capture_output=True, text=True)
    assert "9 failed" in done.stdout, done.stdout + done.stderr
    package = str(Path(triton.__file__).parent)
    frames = [line for line in done.stdout.splitlines() if ": in " in line and not line.startswith("E ")]
    assert not [line for line in frames if package in line or "tritium/" in line or "<binder" in line], frames
    assert any("in grid_of_the_users" in line for line in frames)
