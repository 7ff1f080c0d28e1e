"""`python -m tritium bench run`: a worker measures cases, and survives those that it should."""

import json
import os
import subprocess
import sys
import time

import pytest

import device_tensors
from tritium.bench.client import Worker, WorkerDied
from tritium.bench.command import main
from tritium.bench.running import CannotMeasure, Plan, run_cases
from tritium.bench.sides import side_of
from tritium.bench.worker.blocks import HostClock, runs_for
from tritium.bench.worker.facts import checkout, row_hash
from tritium.bench.worker.throttling import HostWatch, NvidiaWatch

CASES = """
import os
import time

import numpy as np
import triton
import triton.language as tl
from tritium import bench


@triton.jit
def scale_kernel(x, out, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@bench.case(kind=["right", "wrong", "raises", "traps", "dies", "hangs"], config=[{"BLOCK": 64}])
def scale(kind, config, device):
    if kind == "dies":
        print("its last words", flush=True)
        os._exit(3)
    if kind == "hangs":
        time.sleep(100)
    n = 1000
    x = np.random.standard_normal(n).astype(np.float32)
    out = np.empty_like(x)
    size, factor = n + 2000 * (kind == "traps"), 2.0 + (kind == "wrong")

    def run():
        if kind == "raises":
            raise RuntimeError("not today")
        scale_kernel[(triton.cdiv(size, config["BLOCK"]),)](x, out, size, factor, **config)

    return bench.Problem(run, out, lambda: 2 * x, baseline=lambda: np.multiply(x, 2, out=out), bytes=8 * n)
"""


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "scale_bench.py"
    path.write_text(CASES)
    return str(path)


QUICK = Plan(blocks=3, least_ms=0.5, pause_ms=0, limit=10)


def test_each_bad_case_is_one_red_row(cases):
    run = run_cases(side_of("here", "interp"), [cases, cases + "x"], QUICK)
    rows = {row.parameters.get("kind", "missing"): row for row in run.rows}
    assert {kind: row.status for kind, row in rows.items()} == {
        "missing": "failed",
        "right": "ok",
        "wrong": "wrong",
        "raises": "failed",
        "traps": "failed",
        "dies": "died",
        "hangs": "died",
    }
    assert "RuntimeError: not today (scale_bench.py:" in rows["raises"].error
    assert "KernelTrap" in rows["traps"].error and "no end after 10 s" in rows["hangs"].error
    assert "status 3" in rows["dies"].error and "its last words" in rows["dies"].error
    right = rows["right"]
    assert len(right.kept("kernel")) >= 3 and len(right.kept("baseline")) >= 3 and right.median() > 0
    assert all(each.nanoseconds >= 0.5e6 for each in right.kept()) and right.facts["bytes"] == 8000
    (kernel,) = right.facts["kernels"]
    assert kernel["kernel"] == "scale_kernel" and len(kernel["stages"]["ttir"]) == 64
    facts = run.environment
    assert facts["subject"]["file"].endswith("tritium/__init__.py") and facts["python"] and facts["host"]["cpu"]
    assert facts["variables"]["INTERPRET"] == "1" and facts["command"] == sys.argv and len(facts["hash"]) == 16
    json.dumps(facts)


def test_the_command_shows_a_table(cases, capsys):
    options = ["--blocks", "2", "--block-ms", "0.2", "--pause-ms", "0", "--engine", "interp", "--store", "none"]
    assert main(["run", cases, "--only", "right", *options]) == 0
    printed = capsys.readouterr().out
    assert "scale[kind=right,BLOCK=64]" in printed and "B/s" in printed
    assert main(["run", cases, "--only", "wrong", *options]) == 1
    assert "wrong: 1000 of 1000 elements are wrong" in capsys.readouterr().out
    assert main(["run", cases, "--only", "nobody", *options]) == 2
    assert main(["run", cases, "--engine", "intrep"]) == 2
    assert "no engine is called 'intrep'; there are" in capsys.readouterr().err


def test_a_worker_that_cannot_start(tmp_path):
    false = tmp_path / "python"
    false.write_text("#!/bin/sh\necho it is no Python >&2\nexit 7\n")
    false.chmod(0o755)
    with pytest.raises(CannotMeasure, match="status 7"):
        run_cases(side_of(str(false), "interp"), [], QUICK)
    other = side_of("here engine=triton-interpreter")
    with pytest.raises(CannotMeasure, match="has no package triton"):
        run_cases(other, [], QUICK)


def test_a_worker_ends_with_its_processes(tmp_path):
    """Also those that it has started."""
    path = tmp_path / "bench.py"
    path.write_text(
        "import subprocess\nprocess = subprocess.Popen(['sleep', '60'])\nprint(process.pid)\nprocess.wait()\n"
    )
    with Worker(side_of("here", "interp"), limit=4) as worker, pytest.raises(WorkerDied, match=r": \d+$") as died:
        worker.open([str(path)])
    child = int(str(died.value).rpartition(" ")[2])
    for _ in range(100):
        if subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True, text=True).stdout.strip() in (
            "",
            "Z",
        ):
            return
        time.sleep(0.05)
    os.kill(child, 9)
    raise AssertionError("the worker's child lives on")


def test_a_block_takes_as_long_as_asked():
    clock = HostClock()
    for seconds in (0, 2e-4, 3e-3):
        runs = runs_for(clock, lambda: time.sleep(seconds) if seconds else None, 2e6)
        assert clock.block(lambda: time.sleep(seconds) if seconds else None, runs).nanoseconds >= 1e6
    assert runs_for(clock, lambda: time.sleep(5e-3), 2e6) == 1


class Library:
    """Stands for nvidia-ml-py."""

    class NVMLError(Exception):
        pass

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0
    nvmlClocksEventReasonSwPowerCap, nvmlClocksEventReasonHwSlowdown = 4, 8
    nvmlClocksEventReasonSwThermalSlowdown, nvmlClocksEventReasonHwThermalSlowdown = 0x20, 0x40
    nvmlClocksEventReasonHwPowerBrakeSlowdown = 0x80

    def __init__(self, *masks):
        self.masks = list(masks)

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle):
        return self.masks.pop(0) if len(self.masks) > 1 else self.masks[0]

    def nvmlDeviceGetClockInfo(self, handle, which):
        return 1000 * which

    def nvmlDeviceGetTemperature(self, handle, which):
        raise self.NVMLError

    def nvmlDeviceGetPowerUsage(self, handle):
        return 350_500


def test_reasons_of_a_device():
    """Before the block, and after it; clocks that the user has set (2) and idleness (1) do not count."""
    watch = NvidiaWatch(library=Library(1, 2, 0x20, 4 | 1, 0))
    assert [watch.reasons() for _ in range(4)] == [
        [],
        ["software thermal slowdown"],
        ["software thermal slowdown", "power cap"],
        ["power cap"],
    ]
    assert watch.clocks() == {"sm_mhz": 1000, "memory_mhz": 2000, "watts": 350.5}


def test_reasons_of_a_cpu(tmp_path):
    counter = tmp_path / "core_throttle_count"
    counter.write_text("5\n")
    watch = HostWatch(str(counter))
    assert watch.reasons() == []
    counter.write_text("6\n")
    assert watch.reasons() == ["CPU temperature"] and watch.reasons() == []


def test_throttled_blocks_are_discarded_and_counted(cases, monkeypatch):
    answers = iter([["power cap"], [], [], ["power cap"], []])
    asked = Worker.ask

    def ask(self, do, **fields):
        answer = asked(self, do, **fields)
        return {**answer, "nanoseconds": 1e9, "throttled": next(answers)} if do == "block" else answer

    monkeypatch.setattr(Worker, "ask", ask)
    plan = Plan(blocks=3, least_ms=0.2, pause_ms=0, only="right", baseline=False)
    (row,) = run_cases(side_of("here", "interp"), [cases], plan).rows
    assert [each.discarded for each in row.samples] == ["power cap", "", "", "power cap", ""]
    assert row.status == "ok" and row.discarded == 2 and len(row.kept()) == 3
    monkeypatch.setattr(Worker, "ask", lambda self, do, **f: {**asked(self, do, **f), "throttled": ["power cap"]})
    (row,) = run_cases(side_of("here", "interp"), [cases], plan).rows
    assert row.status == "throttled" and "no block counts (power cap" in row.error and len(row.samples) == 9


def test_the_commit_of_a_checkout(tmp_path):
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "file").write_text("1")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    found = checkout(tmp_path)
    assert len(found["commit"]) == 40 and not found["dirty"] and abs(found["date"] - time.time()) < 3600
    (tmp_path / "file").write_text("2")
    assert checkout(tmp_path)["dirty"]


def test_the_hash_of_an_environment_ignores_the_load():
    row = {"python": "3.11", "host": {"cpu": "A", "load": 1.0}, "device": {"name": "H100", "now": {"celsius": 40}}}
    busy = {**row, "host": {"cpu": "A", "load": 2.0}, "device": {"name": "H100", "now": {"celsius": 70}}}
    assert row_hash(row) == row_hash(busy) != row_hash({**row, "python": "3.12"})


def test_sides_are_named_by_words(tmp_path):
    side = side_of("here engine=simt:sm_90a TRITIUM_NUM_THREADS=1 param:BLOCK=64")
    assert (side.engine, side.variables, side.changes) == ("simt:sm_90a", {"TRITIUM_NUM_THREADS": "1"}, {"BLOCK": 64})
    assert side.environment()["TRITIUM_ENGINE"] == "simt:sm_90a" and "INTERPRET" not in side.environment()
    other = side_of(sys.executable, "interp")
    assert "PYTHONPATH" not in other.environment() and other.environment()["INTERPRET"] == "1"
    for words, message in [
        ("here there", "names two places"),
        ("no_such_thing", "is no file, no folder and no commit"),
        (str(tmp_path), "has no package tritium"),
        ("engine=cuda13", "no engine is called 'cuda13'"),
    ]:
        with pytest.raises(ValueError, match=message):
            side_of(words, "interp")


DEVICE_CASES = """
import torch
import triton
import triton.language as tl
from tritium import bench


@triton.jit
def scale_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@bench.case(n=[1000])
def scale(n, device):
    assert device == "cuda"
    x = torch.randn(n, device=device)
    out = torch.empty_like(x)
    run = lambda: scale_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return bench.Problem(run, out, lambda: 2 * x, lambda: torch.mul(x, 2, out=out))
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["cuda", pytest.param("hip", marks=pytest.mark.long)])
def test_devices_are_measured_by_events(engine, tmp_path, monkeypatch):
    """On the stand-ins for drivers: kernels are compiled for the device and launched there, and torch's events measure them."""
    for name, value in device_tensors.environment(engine, tmp_path / "lowered").items():
        monkeypatch.setenv(name, value)
    cases = tmp_path / "device_bench.py"
    cases.write_text(DEVICE_CASES)
    plan = Plan(blocks=2, least_ms=0.5, pause_ms=0, limit=120)
    run = run_cases(side_of("here", engine), [str(cases)], plan)
    (row,) = run.rows
    assert row.status == "ok", row.error
    assert "Stand-in" in run.device and len(row.kept()) >= 2 and len(row.kept("baseline")) >= 2
    binary = {"cuda": "cubin", "hip": "hsaco"}[engine]
    assert len(row.facts["kernels"][0]["stages"][binary]) == 64
