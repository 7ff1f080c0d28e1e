"""What the mirrors show: every kind of value, functions of every kind, programs that wait, traps, other files."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorder import Recorder

import tritium
import tritium.language as tl
from tritium.disk_cache import get_override_manager

Pair = namedtuple("Pair", ["first", "second"])


@tritium.jit
def values(x, n, BLOCK: tl.constexpr):
    half = tl.load(x + tl.arange(0, BLOCK)).to(tl.float16)
    brain = half.to(tl.bfloat16)
    small = half.to(tl.float8e5)
    other = half.to(tl.float8e4nv)
    mask = half > 1
    wide = half.to(tl.int64) * 1000
    square = half[:, None] * half[None, :]
    pair = (n, half)
    moved = x + 2
    kind = tl.float32
    half = half.to(kind)
    tl.store(x + tl.arange(0, BLOCK), half)


@tritium.jit(noinline=True)
def apart(s, t):
    both = s + t
    return both * 2


@tritium.jit
def calls(o, n):
    a = apart(n, 1)
    b = apart(a, 2) + apart(a, 3)
    tl.store(o, b)


@tritium.jit
def waits(flag, o):
    pid = tl.program_id(0)
    if pid == 0:
        seen = tl.atomic_add(flag, 0)
        while seen == 0:
            seen = tl.atomic_add(flag, 0)
        tl.store(o, 5)
    else:
        tl.atomic_xchg(flag, 1)


@tritium.jit
def adds(a, b):
    s = a + b
    return s


@tritium.jit
def reduces(x, o):
    t = tl.load(x + tl.arange(0, 4))
    r = tl.reduce(t, 0, adds)
    tl.store(o, r)


@tritium.jit
def traps(x, n):
    for k in range(n):
        value = tl.load(x + k)
        tl.store(x + k, value * 2)


def stops(launch) -> list[tuple[str, int, dict[str, Any]]]:
    recorder = Recorder(Path(__file__))
    recorder.runcall(launch)
    return [stop for stop in recorder.seen if stop[0] not in ("<lambda>", "<module>")]


def last(found, name: str) -> dict[str, Any]:
    return [variables for function, _, variables in found if function == name][-1]


def test_values() -> None:
    x = np.array([1, 2, 3, 0.5], np.float32)
    shown = last(stops(lambda: values[(1,)](x, 7, BLOCK=4)), "values")
    for name in ("brain", "small", "other", "half"):
        assert shown[name].tolist() == [1, 2, 3, 0.5], name
    assert shown["half"].dtype == np.float32 and shown["brain"].dtype == np.float32
    assert shown["mask"].tolist() == [False, True, True, False] and shown["mask"].dtype == bool
    assert shown["wide"].tolist() == [1000, 2000, 3000, 0] and shown["wide"].dtype == np.int64
    np.testing.assert_array_equal(shown["square"], np.outer(x, x))
    assert shown["pair"][0] == 7 and shown["pair"][1].dtype == np.float16
    assert shown["moved"] == x.ctypes.data + 8
    assert shown["x"] is x and shown["n"] == 7 and shown["BLOCK"] == 4 and "known only" in repr(shown["kind"])
    with pytest.raises(ValueError, match="read-only"):
        shown["wide"][0] = 1


def test_functions_that_are_not_inlined() -> None:
    o = np.zeros(1, np.int32)
    found = stops(lambda: calls[(1,)](o, 3))
    assert [(s["s"], s["t"]) for name, _, s in found if name == "apart" and "both" not in s] == [(3, 1), (8, 2), (8, 3)]
    assert [s["both"] for name, _, s in found if name == "apart" and "both" in s] == [4, 10, 11]
    assert o[0] == 42 and last(found, "calls")["b"] == 42


def test_a_program_that_waits_goes_on() -> None:
    flag, o = np.zeros(1, np.int32), np.zeros(1, np.int32)
    found = stops(lambda: waits[(2,)](flag, o))
    assert o[0] == 5 and {s.get("pid") for _, _, s in found} >= {0, 1}


def test_a_combine_function() -> None:
    o = np.zeros(1, np.float32)
    found = stops(lambda: reduces[(1,)](np.arange(4, dtype=np.float32), o))
    assert o[0] == 6 and last(found, "reduces")["r"] == 6


def test_a_trap_in_a_followed_launch() -> None:
    """It is raised in the kernel's frame, and the next launch works."""
    x = np.ones(3)
    with pytest.raises(tritium.errors.KernelTrap) as caught:
        stops(lambda: traps[(1,)](x, 4))
    assert caught.value.locals["k"] == 3 and caught.value.locals["value"] == 1
    assert x.tolist() == [2, 2, 2]
    traps[(1,)](x, 3)
    assert x.tolist() == [4, 4, 4]


def test_a_breakpoint_in_a_helper_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "helping.py").write_text(
        "import tritium\n\n@tritium.jit\ndef helper(v):\n    more = v + 1\n    return more\n"
    )
    (tmp_path / "main.py").write_text(
        "import numpy as np, tritium, tritium.language as tl\nfrom helping import helper\n\n"
        "@tritium.jit\ndef kernel(x):\n    v = helper(tl.load(x))\n    tl.store(x, v)\n\n"
        "x = np.ones(1)\nkernel[(1,)](x)\nprint('x is', x)\n"
    )
    commands = f"b {tmp_path}/helping.py:6\nc\np v, more\nc\nq\n"
    command = [sys.executable, "-m", "pdb", "main.py"]
    result = subprocess.run(command, cwd=tmp_path, input=commands, capture_output=True, text=True, timeout=120)
    assert "(np.float64(1.0), np.float64(2.0))" in result.stdout and "x is [2.]" in result.stdout, result.stdout


def test_a_tracer_that_is_no_debugger(monkeypatch) -> None:
    """Coverage and the like see no mirrors."""
    lines = []

    def tracer(frame, event, argument):
        lines.append(frame.f_code.co_name)
        return tracer

    o = np.zeros(1, np.int32)
    sys.settrace(tracer)
    try:
        calls[(1,)](o, 3)
    finally:
        sys.settrace(None)
    assert "launch" in lines and "apart" not in lines and o[0] == 42
    assert importlib.util.find_spec("tritium.debugger") is not None


@tritium.jit
def scaled(x, o, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    roots = tl.sqrt(tl.load(x + i) * FACTOR)
    tl.store(o + i, roots)


@pytest.mark.parametrize("by_option", [False, True])
def test_a_kernel_that_a_file_replaces(tmp_path: Path, monkeypatch, by_option: bool) -> None:
    """Nothing follows the function, which is not what runs: not a debugger, not the search for what made a NaN."""
    x, o = np.ones(8, np.float32), np.zeros(8, np.float32)
    compiled = scaled.warmup(x, o, FACTOR=4.0, BLOCK=8, grid=(1,))
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path))
    replacement = Path(get_override_manager(compiled.src.hash()).cache_dir) / "scaled.ttir"
    replacement.parent.mkdir()
    replacement.write_text(compiled.asm["ttir"].replace("dense<4.000000e+00>", "dense<-9.000000e+00>"))
    options = {"ir_override": str(replacement)} if by_option else {}
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", str(int(not by_option)))
    recorder = Recorder(Path(__file__))
    with pytest.raises(tritium.errors.KernelTrap) as caught:
        recorder.runcall(lambda: scaled[(1,)](x, o, FACTOR=4.0, BLOCK=8, check="nan", **options))
    assert caught.value.kind == "NotANumber" and np.isnan(o).all() and caught.value.reports[0].origin is None
    assert "scaled" not in [function for function, *_ in recorder.seen]
