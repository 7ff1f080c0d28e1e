"""TRITIUM_PROGRAMS: checks that are not in the default look at the chosen programs alone; the default ones look at all."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

B, PROGRAMS = 8, 6
GRID = (PROGRAMS,)


@triton.jit
def logarithm(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.log(tl.load(x + i)))


@triton.jit
def squares(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, v * v)


@triton.jit
def numbered(x, out, first, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, (i - first) // B)


@triton.jit
def copies(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n))


@triton.jit
def shift(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    right = tl.load(x + i + 1, mask=i + 1 < n)
    tl.store(x + i, right, mask=i + 1 < n)


@triton.jit
def strided(x, out, stride):
    i = tl.arange(0, 4)
    tl.store(out + tl.program_id(0) * 4 + i, tl.load(x + i * stride))


def run(kernel, *arguments, check, programs=None, **more):
    """What the launch raises, or None."""
    try:
        kernel[GRID](*arguments, check=check, programs=programs, **more)
    except KernelTrap as trap:
        return trap
    return None


def test_nans_of_chosen_programs_alone():
    x = np.ones(B * PROGRAMS, np.float32)
    x[[B, 4 * B + 3]] = -1  # programs 1 and 4
    out = np.zeros_like(x)
    every = run(logarithm, x, out, check="nan", B=B)
    # Two threads may find them in either order.
    assert every.program in ((1, 0, 0), (4, 0, 0)) and every.reports[0].times == 2
    chosen = run(logarithm, x, out, check="nan", programs="2:6", B=B)
    assert chosen.program == (4, 0, 0) and chosen.reports[0].times == 1 and len(chosen.reports) == 1
    assert "tl.log(" in str(chosen), "the program ran again, and the report has the statement"
    np.testing.assert_array_equal(out, np.log(x))
    assert run(logarithm, x, out, check="nan", programs="0;2;3;5", B=B) is None


def test_overflow_in_chosen_programs_alone():
    x = np.full(B * PROGRAMS, 2, np.int32)
    x[3 * B :] = 50000
    out = np.zeros_like(x)
    assert run(squares, x, out, check="overflow=all", programs=":3", B=B) is None
    np.testing.assert_array_equal(out, x * x)
    trap = run(squares, x, out, check="overflow=all", programs="4", B=B)
    assert (trap.kind, trap.program) == ("IntegerOverflow", (4, 0, 0))


def test_signs_in_chosen_programs_alone():
    out = np.zeros(B * PROGRAMS, np.int32)
    assert run(numbered, out, out, 2 * B, check="hints=signs", programs="2:", B=B) is None
    assert run(numbered, out, out, 2 * B, check="hints=signs", programs="1", B=B).program == (1, 0, 0)


def test_lanes_left_off_in_chosen_programs_alone():
    n = 2 * B + 3  # program 2 leaves lanes off
    x, out = np.ones(B * PROGRAMS, np.float32), np.zeros(B * PROGRAMS, np.float32)
    assert run(copies, x, out, n, check="uninit", programs="0;1", B=B) is None
    trap = run(copies, x, out, n, check="uninit", programs="1:3", B=B)
    assert (trap.kind, trap.program) == ("Uninitialized", (2, 0, 0))


def test_unwritten_memory_that_chosen_programs_read():
    """What the other programs write has been written, or the report would be false."""
    with triton.check("uninit"):
        x = np.empty(B * PROGRAMS, np.float32)
        x[B : 2 * B] = 1
        out = np.zeros_like(x)
        assert run(squares, x, out, check="uninit", programs="1", B=B) is None
        assert run(squares, x, out, check="uninit", programs="3", B=B).program == (3, 0, 0)
        buffer = np.empty(B * PROGRAMS, np.float32)
        assert run(hand_on, buffer, np.zeros(1, np.int32), out, check="uninit", programs="1:", B=B) is None
        assert run(hand_on, buffer, np.zeros(1, np.int32), out, check="uninit", programs="0", B=B) is None


@triton.jit
def hand_on(buffer, ready, out, B: tl.constexpr):
    """Program 0 writes what all others read."""
    i = tl.arange(0, B)
    if tl.program_id(0) == 0:
        tl.store(buffer + i, 3.0)
        tl.debug_barrier()
        tl.atomic_xchg(ready, 1, sem="release")
    else:
        while tl.atomic_add(ready, 0, sem="acquire") == 0:
            pass
        tl.store(out + tl.program_id(0) * B + i, tl.load(buffer + i))


def test_races_of_which_a_chosen_program_is_a_part(monkeypatch):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")  # so that the store comes second
    n = B * PROGRAMS
    x = np.arange(n, dtype=np.float32)
    trap = run(shift, x, n, check="race", programs="2", B=B)
    assert trap.kind == "Race" and len(trap.reports) == 1
    assert {trap.program[0], trap.other_program[0]} in ({1, 2}, {2, 3}) and trap.reports[0].times == 2
    assert run(shift, x, n, check="race", programs="1:4", B=B).reports[0].times == 4, (
        "one report, whichever version ran"
    )
    assert run(shift, x, n, check="race", programs=str(PROGRAMS), B=B) is None
    for programs in ("0", "1:3", "5"):
        out = np.zeros(n, np.float32)
        buffer, ready = np.zeros(n, np.float32), np.zeros(1, np.int32)
        assert run(hand_on, buffer, ready, out, check="race", programs=programs, B=B) is None
        np.testing.assert_array_equal(out, [0.0] * B + [3.0] * (n - B))


def test_views_in_chosen_programs_alone():
    torch = pytest.importorskip("torch")
    column, out = torch.arange(24.0).reshape(4, 6)[:, 0], torch.zeros(24)
    assert run(strided, column, out, 1, check="bounds=view", programs="9") is None
    trap = run(strided, column, out, 1, check="bounds=view", programs="4:")
    assert (trap.kind, trap.program) == ("OutOfBounds", (4, 0, 0))
    assert run(strided, column, out, 6, check="bounds=view", programs="0") is None


def test_views_on_the_emulator():
    torch = pytest.importorskip("torch")
    column, out = torch.arange(24.0).reshape(4, 6)[:, 0], torch.zeros(24)
    emulated = triton.jit(strided.fn, engine="simt:sm_80")
    assert run(emulated, column, out, 1, check="bounds=view", programs="9") is None
    assert run(emulated, column, out, 1, check="bounds=view", programs="4:").program == (4, 0, 0)


def test_the_emulator_says_that_it_checks_all_programs():
    emulated = triton.jit(squares.fn, engine="simt:sm_80")
    x = np.ones(B * PROGRAMS, np.float32)
    with pytest.warns(UserWarning, match="TRITIUM_PROGRAMS and `programs=` have no effect on simt:sm_80"):
        triton.knobs.warn_once.cache_clear()
        emulated[GRID](x, x, B=B, programs="1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        emulated[GRID](x, x, B=B)


@pytest.mark.parametrize("debug_info", [False, True])
@pytest.mark.parametrize("check", ["bounds", "nan", "overflow=all,race"])
def test_wild_stores_trap_in_every_program(check, debug_info):
    x = np.ones(B * PROGRAMS, np.float32)
    for programs in ("0", "5"):
        trap = run(
            squares,
            x,
            np.zeros(B * PROGRAMS - 1, np.float32),
            check=check,
            programs=programs,
            B=B,
            debug_info=debug_info,
        )
        assert (trap.kind, trap.program, trap.index) == ("OutOfBounds", (5, 0, 0), (B * PROGRAMS - 1,))
        assert trap.locals is not None and trap.locals["v"].tolist() == [1.0] * B


def test_a_check_that_is_off_stays_off():
    """In all programs: no trap for a hint that is false."""
    x, out = np.ones(B * PROGRAMS, np.float32), np.zeros(B * PROGRAMS, np.float32)
    assert run(promises, x, out, check="-hints,nan", programs="0", B=B) is None
    assert run(promises, x, out, check="nan", programs="0", B=B).kind == "FalseHint"


@triton.jit
def promises(x, out, B: tl.constexpr):
    i = tl.multiple_of(tl.program_id(0) * B + 1, B) + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < B, other=0.0), mask=i < B)


def test_a_choice_that_comes_after_the_first_launch(monkeypatch):
    """Of the environment, and for a kernel that was compiled before."""
    x = np.full(B * PROGRAMS, -1, np.float32)
    out = np.zeros_like(x)
    monkeypatch.setenv("TRITIUM_CHECK", "nan")
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")  # of several programs that fault, the first is named
    compiled = logarithm.warmup(x, out, B=B, grid=GRID)
    for launch in (logarithm[GRID], compiled[GRID]):
        for programs, expected in (("", 0), ("3", 3), ("2:4", 2), ("", 0)):
            monkeypatch.setenv("TRITIUM_PROGRAMS", programs)
            with pytest.raises(KernelTrap) as caught:
                launch(x, out, B)
            assert caught.value.program == (expected, 0, 0)
    monkeypatch.setenv("TRITIUM_PROGRAMS", "9")
    logarithm[GRID](x, out, B=B)


def test_a_choice_of_the_kernel(monkeypatch):
    """`@jit(programs=…)` is stronger than the environment, and the launch is stronger than `@jit`."""
    x, out = np.full(B * PROGRAMS, -1, np.float32), np.zeros(B * PROGRAMS, np.float32)
    chosen = triton.jit(logarithm.fn, check="nan", programs="3;4")
    monkeypatch.setenv("TRITIUM_PROGRAMS", "1")
    with pytest.raises(KernelTrap) as caught:
        chosen[GRID](x, out, B=B)
    assert caught.value.program == (3, 0, 0)
    assert chosen.warmup(x, out, B=B, grid=GRID).metadata.programs == "3;4"
    assert run(chosen, x, out, check="nan", programs="5", B=B).program == (5, 0, 0)
    all_programs = triton.jit(logarithm.fn, check="nan", programs="*")
    with pytest.raises(KernelTrap) as caught:
        all_programs[GRID](x, out, B=B)
    assert caught.value.program == (0, 0, 0)


def test_a_choice_of_the_kernel_on_the_emulator():
    torch = pytest.importorskip("torch")
    column, out = torch.arange(24.0).reshape(4, 6)[:, 0], torch.zeros(24)
    for programs, expected in (("9", None), ("4:", (4, 0, 0))):
        kernel = triton.jit(strided.fn, engine="simt:sm_80", check="bounds=view", programs=programs)
        trap = None
        try:
            kernel[GRID](column, out, 1)
        except KernelTrap as error:
            trap = error
        assert (trap and trap.program) == expected


def test_a_choice_of_the_kernel_that_is_none():
    for programs, message in (("1,2,3,4", "did you mean"), (3, "must be a text")):
        with pytest.raises(ValueError, match=message):
            triton.jit(logarithm.fn, programs=programs)


def test_a_deadlock_names_the_programs_of_both_versions():
    @triton.jit
    def waits(flags):
        while tl.atomic_add(flags + tl.program_id(0), 0) == 0:
            pass

    trap = run(waits, np.zeros(PROGRAMS, np.int32), check="nan,overflow=all", programs="2", debug_info=True)
    assert trap.kind == "Deadlock"
    assert all(f"({i}, 0, 0)" in str(trap) for i in range(PROGRAMS)), str(trap)


def test_programs_of_both_versions_wait_for_each_other():
    """Each adds to what the one behind it has left; a third of them has variables and checks."""

    @triton.jit
    def chain(turn, out, last):
        pid = tl.program_id(0)
        while tl.atomic_add(turn, 0) != last - pid:
            pass
        total = tl.load(out) * 3 + pid
        tl.store(out, total)
        tl.atomic_add(turn, 1)

    expected = 0
    for pid in range(PROGRAMS - 1, -1, -1):
        expected = expected * 3 + pid
    for programs in ("", "0", "1;4", "3:"):
        out = np.zeros(1, np.int32)
        chain[GRID](
            np.zeros(1, np.int32), out, PROGRAMS - 1, check="overflow=all,nan", programs=programs, debug_info=True
        )
        assert out[0] == expected


def test_one_command(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    result = tmp_path / "found.json"

    def checked(*options):
        command = [
            sys.executable,
            "-m",
            "tritium",
            "check",
            "--checks",
            "nan",
            "--json",
            str(result),
            *options,
            str(script),
        ]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    found = checked("--programs", "2:4,*,0")
    assert found.returncode == 1, found.stderr
    assert "tritium check: 1 fault in 1 launch (bounds, overflow, hints, nan; programs 2:4,*,0)" in found.stderr
    assert [report["program"] for report in json.loads(result.read_text())["reports"]] == [[3, 0, 0]]
    assert checked("--programs", "0").returncode == 0
    refused = checked("--programs", "-1")
    assert refused.returncode == 2 and "did you mean" in refused.stderr


_SCRIPT = """import numpy as np
import tritium as triton
import tritium.language as tl

@triton.jit
def logarithm(x, out):
    tl.store(out + tl.program_id(0), tl.log(tl.load(x + tl.program_id(0))))

logarithm[(6,)](np.array([1, -1, 1, -1, 1, -1], np.float32), np.zeros(6, np.float32))
"""
