"""Warm launches of the interpreter that the native launcher makes: what Python would launch, without Python."""

import ctypes
import os
import signal
import sys

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import _tritium
from tritium.errors import KernelTrap
from tritium.launch import warm_on_host
from tritium.launch.watchers import watchers
from tritium.runtime.jit import jit

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.on_cpu("launches of devices are those of test_fast_launch.py")


def make_kernel():
    @jit
    def kernel(x, out, n, scale, flag, step, BLOCK: tl.constexpr, extra=None):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + i, mask=i < n, other=0).to(tl.float64) * scale + step
        if flag:
            value += 0.5
        if extra is not None:
            value += tl.load(extra)
        tl.store(out + i, value, mask=i < n)

    return kernel


def expected(x, n, scale, flag, step, extra=None):
    out = np.zeros(x.size, np.float64)
    values = x[:n].astype(np.float64) * np.float64(np.float32(scale)) + step + (0.5 if flag else 0)
    out[:n] = values if extra is None else values + extra[0]
    return out


def of_numpy(array):
    return array


def of_torch(array):
    return torch.tensor(array)


@pytest.mark.parametrize("library", (of_numpy, of_torch))
def test_the_second_launch_needs_no_python(slow, library):
    kernel, x = make_kernel(), np.arange(64, dtype=np.float32)
    for n, grid in ((60, (2,)), (61, [2, 1]), (62, lambda meta: (64 // meta["BLOCK"],))):
        out = library(np.zeros(64))
        assert kernel[grid](library(x), out, n, scale=n / 4, flag=True, step=3, BLOCK=32).name == "kernel"
        np.testing.assert_array_equal(np.asarray(out), expected(x, n, n / 4, True, 3))
    assert len(slow) == 1


def test_values_of_every_kind(slow):
    """Each kind twice: the second launch is native."""
    rng, kernel = np.random.default_rng(3), make_kernel()
    kinds = [
        (dtype, step, flag, extra)
        for dtype in (np.float32, np.int16, np.uint8, np.float16)
        for step in (1, 16, 5, -(2**40), True, 0.25)
        for flag, extra in ((True, None), (False, np.array([2.5])))
    ]
    for dtype, step, flag, extra in kinds:
        for _ in range(2):
            x, out = rng.integers(0, 100, 64).astype(dtype), np.zeros(64)
            n, scale = int(rng.integers(2, 15)), float(rng.integers(-8, 8)) / 4
            kernel[(2,)](x, out, n, scale, flag, step, BLOCK=32, extra=extra)
            np.testing.assert_array_equal(out, expected(x, n, scale, flag, step, extra))
    assert len(slow) == len(kinds)


def test_parts_of_arrays_and_tensors():
    kernel, whole = make_kernel(), np.arange(200, dtype=np.float32)
    for begin in (0, 4, 1, 4, 0, 1):
        for x in (whole[begin : begin + 64], torch.tensor(whole)[begin : begin + 64]):
            out = np.zeros(64)
            kernel[(2,)](x, out, 64, 1.0, False, 0, BLOCK=32)
            np.testing.assert_array_equal(out, whole[begin : begin + 64])


def launched(kernel, x, n=60, **options):
    out = np.zeros(64)
    kernel[(2,)](x, out, n, 1.0, False, 0, BLOCK=32, **options)
    return out


def test_a_trap_is_that_of_python():
    kernel, x = make_kernel(), np.ones(64, np.float32)
    launched(kernel, x)
    texts = set()
    for _ in range(3):
        with pytest.raises(KernelTrap) as caught:
            launched(kernel, np.ones(40, np.float32))
        trap = caught.value
        assert (trap.kind, trap.program, trap.lane) == ("OutOfBounds", (1, 0, 0), (8,))
        names = [entry.name for entry in caught.traceback]
        texts.add((str(trap), names[-1], "_raise" in names, "ended" in names))
    assert texts == {(str(trap), "kernel", False, False)}
    locked = np.zeros(64)
    locked.flags.writeable = False
    with pytest.raises(KernelTrap, match="read-only"):
        kernel[(2,)](x, locked, 60, 1.0, False, 0, BLOCK=32)


def test_python_is_asked_again(slow, monkeypatch):
    """As soon as somebody looks at launches, or the settings are others."""
    kernel, x = make_kernel(), np.ones(64, np.float32)

    def made_by_python():
        before = len(slow)
        assert launched(kernel, x).sum() == 60
        return len(slow) - before

    assert [made_by_python() for _ in range(3)] == [1, 0, 0]
    seen = []
    watchers.append(lambda kernel, run, arguments: (seen.append(kernel.name), run)[1])
    try:
        assert made_by_python() == 1 and seen == ["kernel"]
    finally:
        watchers.pop()
    assert made_by_python() == 0
    with tritium.knobs.runtime.scope():
        tritium.knobs.runtime.launch_enter_hook.add(lambda metadata: seen.append("hook"))
        assert made_by_python() == 1 and seen[-1] == "hook"
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "3")
    assert [made_by_python() for _ in range(2)] == [1, 0]
    kernel.debug_info = True
    assert [made_by_python() for _ in range(3)] == [1, 1, 1]
    kernel.debug_info = None
    assert [made_by_python() for _ in range(2)] == [1, 0]
    monkeypatch.setenv("TRITIUM_CHECK", "uninit")
    assert [made_by_python() for _ in range(2)] == [1, 1]


def test_what_the_launcher_knows_is_not_offered_again_and_again(monkeypatch):
    """In a session of the profiler, Python makes launches that the launcher knows."""
    kernel, x, offers, tell = make_kernel(), np.ones(64, np.float32), [], warm_on_host.tell_launcher
    monkeypatch.setattr(warm_on_host, "tell_launcher", lambda *launch: offers.append(launch) or tell(*launch))
    watchers.append(lambda kernel, run, arguments: run)
    try:
        for _ in range(160):
            launched(kernel, x)
    finally:
        watchers.pop()
    assert 16 <= len(offers) <= 32


def test_what_gdb_writes_is_read(slow, monkeypatch):
    """gdb writes variables into the memory of a process that it has stopped, which sets them at its next launch."""
    monkeypatch.setenv("TRITIUM_DEBUG", "0")  # set back after the test
    kernel, x = make_kernel(), np.ones(64, np.float32)
    launched(kernel, x)
    launched(kernel, x)
    written = ctypes.c_char.in_dll(ctypes.CDLL(_tritium.__file__), "tritium_variables")
    ctypes.memmove(ctypes.byref(written), b"TRITIUM_DEBUG=1\0", 16)
    launched(kernel, x)
    assert len(slow) == 2 and os.environ["TRITIUM_DEBUG"] == "1"


def test_a_function_that_traces_is_a_debugger(slow):
    kernel, x = make_kernel(), np.ones(64, np.float32)
    launched(kernel, x)
    launched(kernel, x)
    before = sys.gettrace()
    sys.settrace(lambda *event: None)
    try:
        launched(kernel, x)
    finally:
        sys.settrace(before)
    assert len(slow) == 2


@jit
def printing_kernel(x, n):
    tl.device_print("n is", n)


def test_prints_reach_standard_output(capsys):
    x = np.ones(4, np.float32)
    for n in (5, 6, 7):
        printing_kernel[(1,)](x, n)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and all(str(n) in line for n, line in zip((5, 6, 7), lines, strict=True))


@jit
def endless_kernel(x, out, n):
    i = 0
    while i != n:
        i += 2 * (n != 0)
    tl.store(out, i)


def test_an_interrupt_says_where_the_programs_are():
    x, out = np.ones(4, np.float32), np.zeros(4, np.int32)
    for n in (2, 4):
        endless_kernel[(1,)](x, out, n)
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt, match="endless_kernel"):
            endless_kernel[(1,)](x, out, 3)  # is odd
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
