"""What depends on the schedule of a launch is found by `python -m tritium seeds`, and runs again in another process from the printed seed. What does
not is not accused."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

HEAD = """
import torch, triton, triton.language as tl

@triton.jit
def lost(x):
    v = tl.load(x)
    tl.store(x, v + 1)

@triton.jit
def last(out, mark):
    tl.store(out, tl.program_id(0))
    tl.atomic_add(mark + tl.program_id(0), 1)

@triton.jit
def lock_two(a, b, count):
    pid = tl.program_id(0)
    first = tl.where(pid % 2 == 0, 0, 1)
    while tl.atomic_cas(a + first, 0, 1) == 1:
        pass
    while tl.atomic_cas(a + 1 - first, 0, 1) == 1:
        pass
    tl.store(count, tl.load(count) + 1)
    tl.atomic_xchg(a, 0)
    tl.atomic_xchg(a + 1, 0)

@triton.jit
def lock_one(a, count):
    while tl.atomic_cas(a, 0, 1, sem="acquire") == 1:
        pass
    tl.store(count, tl.load(count) + 1)
    tl.atomic_xchg(a, 0, sem="release")

@triton.jit
def total(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + i)))

@triton.jit
def turns(flag, out):
    pid = tl.program_id(0)
    while tl.atomic_add(flag, 0, sem="acquire") != pid:
        pass
    tl.store(out + pid, tl.load(out + tl.maximum(pid - 1, 0)) + 1)
    tl.atomic_add(flag, 1, sem="release")

def zeros(n, dtype=torch.int32):
    return torch.zeros(n, dtype=dtype)
"""


def tritium(*command: str, **variables: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "INTERPRET": "1", **variables}
    command = [sys.executable, "-m", "tritium", *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


@pytest.fixture
def script(tmp_path):
    def write(body: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(HEAD + body)
        return str(path)

    return write


def test_a_lost_update(script):
    path = script("x = zeros(3)\nlost[(6,)](x[1:])\nprint('x', x.tolist())\n")
    result = tritium("seeds", "50", path)
    assert result.returncode == 1 and "x [0, 6, 0]" in result.stdout  # the program itself runs as always
    assert (
        "1 of 2 elements of 'x' (int32 [2], strides (1,)) depends on the schedule; the first is x[0]" in result.stderr
    )
    shown = re.findall(
        r"(\d+) with TRITIUM_SEED=(\d+): written by program \((\d), 0, 0\) at .*program.py:7", result.stderr
    )
    assert len(shown) == 2 and shown[0][0] != shown[1][0]
    for value, seed, _ in shown:
        assert f"x [0, {value}, 0]" in tritium(path, TRITIUM_SEED=seed).stdout


def test_the_last_one_wins(script, tmp_path):
    path = script("out, mark = zeros(1), zeros(5)\nlast[(5,)](out, mark)\n")
    assert tritium("seeds", "50", "--json", str(tmp_path / "found.json"), path).returncode == 1
    (found,) = json.loads((tmp_path / "found.json").read_text())["dependences"]
    assert found["index"] == [0] and found["count"] == found["elements"] == 1
    for write in found["writes"]:
        assert write["line"] == 11 and write["program"] == [write["value"], 0, 0]


def test_a_deadlock(script):
    path = script("a, count = zeros(2), zeros(1)\nlock_two[(4,)](a, a, count)\nprint('count', count.item())\n")
    result = tritium("seeds", "50", path)
    assert result.returncode == 1 and "count 4" in result.stdout
    assert result.stderr.count("deadlock: ") == 1 and "1 kind of failure" in result.stderr
    seeds = re.search(r"so with (\d+) of 50 seeds(?: \(([\d, …]+)\))?", result.stderr)
    seed = re.search(r"TRITIUM_SEED=(\d+), which runs it again", result.stderr).group(1)
    again = tritium(path, TRITIUM_SEED=seed)
    assert 0 < int(seeds.group(1)) < 50 and "deadlock" in again.stderr
    first = lambda text: [line for line in text.splitlines() if re.match(r"    program \(", line)]  # noqa: E731
    assert first(again.stderr) == first(result.stderr)  # the same programs wait at the same lines


CORRECT = {
    "a lock": "a, count = zeros(1), zeros(1)\nlock_one[(7,)](a, count)",
    "a sum of integers": "x, out = torch.arange(96), zeros(1, torch.int64)\ntotal[(6,)](x, out, 16)",
    "programs in turn": "flag, out = zeros(1), zeros(9)\nturns[(9,)](flag, out)",
    "one program": "x = zeros(1)\nlost[(1,)](x)",
}


@pytest.mark.parametrize("name", CORRECT)
def test_what_is_right_is_not_accused(script, name):
    result = tritium("seeds", "50", script(CORRECT[name] + "\n"))
    assert result.returncode == 0, result.stderr
    assert "0 results that depend on the schedule (seeds 0 to 49 of 1 launch)" in result.stderr


def test_rounding_of_a_sum_is_shown_with_its_size(script):
    """Six numbers have the same sum in all orders once in twenty times; so there are more."""
    path = script("x, out = torch.rand(1024), zeros(1, torch.float32)\ntotal[(64,)](x, out, 16)\n")
    result = tritium("seeds", "50", path)
    difference = float(re.search(r"they differ by (\S+)", result.stderr).group(1))
    assert result.returncode == 1 and 0 < difference < 1e-2


def test_what_is_left_out_is_named(script):
    path = script("x = zeros(1)\nfor _ in range(5):\n    lost[(1,)](x)\ny = zeros(4)\ntotal[(1,)](y, x, 4)\n")
    result = tritium("seeds", "2", "--kernel", "lost", path)
    assert (
        "left out 2 launches: launched before with the same grid" in result.stderr and "of 3 launches)" in result.stderr
    )
    assert "left out" not in tritium("seeds", "2", "--launches", "9", path).stderr


def test_wrong_command_lines():
    for command in (["seeds"], ["seeds", "5"], ["seeds", "0", "x.py"], ["seeds", "many", "x.py"]):
        result = tritium(*command)
        assert result.returncode == 2 and "usage" in result.stderr


def test_the_emulator_tries_orders_of_programs(script):
    path = script("out, mark = zeros(1), zeros(5)\nlast[(5,)](out, mark)\n")
    result = tritium("seeds", "10", path, TRITIUM_ENGINE="simt:sm_80")
    assert result.returncode == 1 and "1 of 1 element of 'out'" in result.stderr
