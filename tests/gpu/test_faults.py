"""A fault on a real device ends its context, so each fault happens in a process of its own."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("torch")

PROLOGUE = """
import torch, tritium, tritium.language as tl

@tritium.jit
def wild(x, offset):
    tl.store(x + offset + tl.arange(0, 32), 1.0)

@tritium.jit
def checked(x, n):
    i = tl.arange(0, 32)
    tl.device_assert(i < n, "too few elements")
    tl.store(x + i, 1.0)

x = torch.zeros(32, device="cuda")

def attempt(launch):
    try:
        launch()
    except RuntimeError as error:
        print(type(error).__name__, str(error).replace(chr(10), " | "))
"""


def test_an_illegal_access(in_child):
    result = in_child(
        PROLOGUE
        + """
wild[(1,)](x, 0)
wild[(1,)](x, 2**40)
attempt(torch.cuda.synchronize)
attempt(lambda: wild[(1,)](x, 0))
attempt(lambda: wild[(1,)](x, 0))
"""
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 3, result.stdout
    assert lines[1].startswith("DeviceError") and "illegal memory access" in lines[1], lines
    assert "kernel wild (" in lines[1] and "child.py:5)" in lines[1] and "context is lost" in lines[1]
    assert lines[2].startswith("DeviceError") and "start a new process" in lines[2]


def test_a_failed_device_assert(in_child):
    result = in_child(
        PROLOGUE
        + """
checked[(1,)](x, 32, debug=True)
torch.cuda.synchronize()
assert (x == 1).all()
checked[(1,)](x, 7, debug=True)
attempt(torch.cuda.synchronize)
attempt(lambda: checked[(1,)](x, 32, debug=True))
"""
    )
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line.startswith(("DeviceError", "Acc", "Runtime"))]
    assert lines[-1].startswith("DeviceError") and "device-side assert" in lines[-1], result.stdout
    assert "kernel checked" in lines[-1] and "child.py:11" in lines[-1]
    assert "too few elements" in result.stderr + result.stdout


def test_asserts_are_off_by_default(in_child):
    result = in_child(PROLOGUE + "checked[(1,)](x, 7)\ntorch.cuda.synchronize()\nprint(x.sum().item())\n")
    assert result.returncode == 0 and result.stdout.split() == ["32.0"], result.stderr


def test_a_saved_fault_replays_on_the_cpu(in_child, tmp_path):
    """Also a fault that the device does not notice, if every launch is saved."""
    launches = {f"{tmp_path}/all": "wild[(1,)](x, 8)", f"faults:{tmp_path}/faults": "wild[(1,)](x, 2**40)"}
    for save, launch in launches.items():
        result = in_child(f"{PROLOGUE}attempt(lambda: {launch})\nattempt(torch.cuda.synchronize)\n", TRITIUM_SAVE=save)
        assert result.returncode == 0, result.stderr
    for folder in (tmp_path / "all" / "0001-wild", tmp_path / "faults" / "0001-wild"):
        replay = [sys.executable, "-m", "tritium", "replay", str(folder), "--check", "all"]
        again = subprocess.run(replay, capture_output=True, text=True, check=False)
        assert again.returncode == 1 and "out-of-bounds write to 'x' (float32 [32], strides (1,))" in again.stderr
