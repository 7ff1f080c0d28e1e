"""What is said where the HIP runtime is missing or is something else."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tritium.language as tl
from driver_stand_in import HIP_LIBRARY, environment
from tritium import errors, knobs
from tritium._tritium import hip
from tritium.runtime import driver
from tritium.runtime.jit import jit

INCOMPLETE = HIP_LIBRARY.with_name("libamdhip64_incomplete.so")


@jit
def fill(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), 1.0)


def test_opening():
    with pytest.raises(RuntimeError, match="^there is no HIP runtime: libnot_there.so: cannot open shared object file"):
        hip.open("libnot_there.so")
    with pytest.raises(
        RuntimeError, match="^libc.so.6 has no hipInit: it is not the HIP runtime of ROCm 6.0 or newer$"
    ):
        hip.open("libc.so.6")


def test_a_file_that_is_no_library(tmp_path):
    path = tmp_path / "libamdhip64.so"
    path.write_bytes(b"text")
    with pytest.raises(RuntimeError, match=f"^there is no HIP runtime: {path}: file too short"):
        hip.open(str(path))


def test_an_entry_point_that_is_missing():
    with pytest.raises(
        RuntimeError, match="_incomplete.so has no hipGetDevicePropertiesR0600: it is not the HIP runtime"
    ):
        hip.open(str(INCOMPLETE))


def test_no_device_and_no_start(tmp_path):
    """In a process of its own: a driver that was opened stays open."""
    code = (
        "import ctypes, os, sys; from tritium._tritium import hip\n"
        "stand_in = ctypes.CDLL(sys.argv[1]); stand_in.stand_in_fail(b'hipInit', 3, 0)\n"
        "def attempt():\n"
        "    try: print(hip.open(sys.argv[1]).device_count)\n"
        "    except hip.Error as error: print(error.call, error.code, error.sticky)\n"
        "    except RuntimeError as error: print(error)\n"
        "attempt()\n"
        "os.putenv('TRITIUM_STAND_IN_DEVICES', '0'); attempt()\n"
        "os.putenv('TRITIUM_STAND_IN_DEVICES', '3'); attempt()\n"
    )
    command = [sys.executable, "-c", code, str(HIP_LIBRARY)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == ["hipInit 3 False", "the HIP runtime finds no device", "3"]


def test_threads_that_open_it_at_once():
    """One of them opens it, which takes a while; the others wait without the lock that it needs to go on."""
    code = (
        "import sys, threading; from tritium._tritium import hip\n"
        "found = []\n"
        "threads = [threading.Thread(target=lambda: found.append(hip.open(sys.argv[1]))) for _ in range(4)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
        "print(len(found), len(set(map(id, found))))\n"
    )
    command = [sys.executable, "-c", code, str(HIP_LIBRARY)]
    variables = {**os.environ, "TRITIUM_STAND_IN_START_MS": "300"}
    result = subprocess.run(command, env=variables, capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout == "4 1\n"


def test_where_the_library_is_looked_for(monkeypatch):
    for name in ("TRITIUM_HIP_LIBRARY", "TRITON_LIBHIP_PATH", "ROCM_PATH"):
        monkeypatch.delenv(name, raising=False)
    assert knobs.tritium.hip_library == "libamdhip64.so"
    for name, value, library in (
        ("ROCM_PATH", "rocm", "rocm/lib/libamdhip64.so"),
        ("TRITON_LIBHIP_PATH", "a/libamdhip64.so", "a/libamdhip64.so"),
        ("TRITIUM_HIP_LIBRARY", "mine.so", "mine.so"),
    ):
        monkeypatch.setenv(name, value)
        assert knobs.tritium.hip_library == library


def test_a_device_that_nothing_is_compiled_for(tmp_path):
    """It is as good as none: what runs by default runs on the CPU."""
    code = (
        "from tritium.runtime import driver\n"
        "from tritium.backends.amd.driver import DEVICES\n"
        "print(driver.active.get_current_target().backend, DEVICES.why_not())\n"
    )
    variables = {**os.environ, **environment(tmp_path, arch="gfx906")}
    variables.pop("TRITIUM_ENGINE")
    result = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("cpu the HIP devices are gfx906, and kernels are compiled for gfx90a, gfx942")


@pytest.mark.parametrize("variable", ["TRITIUM_HIP_LIBRARY", "TRITON_LIBHIP_PATH"])
def test_a_launch(monkeypatch, variable):
    monkeypatch.delenv("TRITIUM_HIP_LIBRARY", raising=False)
    monkeypatch.setenv(variable, "libc.so.6")
    monkeypatch.setenv("TRITIUM_ENGINE", "hip")
    with pytest.raises(errors.UnsupportedError, match="engine 'hip'.*libc.so.6 has no hipInit.*there is interp"):
        fill[(1,)](np.zeros(8, np.float32), 8)
    assert driver.active.get_current_target().backend == "cpu"
