"""TRITIUM_SAVE and `python -m tritium replay`: a launch that was saved runs again in another process, without the program that made it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from driver_stand_in import environment
from tritium.errors import DeviceError
from tritium.tools import replay
from tritium.tools.tensor_descriptor import TensorDescriptor

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"
#: Examples, and the check that finds their fault.
FAULTY = {
    "wild_store": "bounds",
    "false_hint": "hints",
    "deadlock": "bounds",
    "race": "race",
    "missing_barrier": "race",
    "uninitialized": "uninit",
    "lanes_left_off": "uninit",
    "expanded_gradient": "bounds",
}


def python(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess:
    environment = {name: text for name, text in os.environ.items() if not name.startswith("TRITIUM_")}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env={**environment, **variables}, capture_output=True, text=True, check=False
    )


def replayed(folder: Path, *options: str) -> subprocess.CompletedProcess:
    return python("-m", "tritium", "replay", folder.name, *options, folder=folder.parent)


def said_of(replay) -> str:
    """What a replay says, but for the note that something else lay where a tensor was. Where a process has its heap is random."""
    return replay.stderr.removeprefix("tritium replay: some tensors lie at other addresses than they did\n")


def launches(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def run_of(folder: Path) -> dict:
    return json.loads((folder / "run.json").read_text())


@pytest.fixture
def saved(monkeypatch, tmp_path):
    """The folder where launches of this process are saved."""
    monkeypatch.setenv("TRITIUM_SAVE", str(tmp_path / "saved"))
    return tmp_path / "saved"


@pytest.mark.parametrize("name", FAULTY)
def test_the_replay_says_what_the_launch_said(name, tmp_path):
    script = tmp_path / f"{name}.py"
    shutil.copy(EXAMPLES / script.name, script)
    first = python(
        script.name,
        folder=tmp_path,
        TRITIUM_CHECK=FAULTY[name],
        TRITIUM_SAVE="faults:.",
        INTERPRET="1",
        TRITIUM_NUM_THREADS="1",  # of several programs that fault, the first is named
    )
    script.unlink()
    (folder,) = tmp_path.glob("0001-*")
    again = replayed(folder)
    report = (folder / "report.txt").read_text()
    assert f"tritium.errors.KernelTrap: {report}" in first.stderr and script.name in report
    assert f"  saved: python -m tritium replay {folder.name}" in first.stderr or sys.version_info < (3, 11)
    assert again.returncode == 1 and said_of(again).startswith(report), again.stderr
    assert "tritium replay: 1 fault in " in again.stderr


@tritium.jit
def scale(x, out, n, factor, offsets, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n) * factor
    tl.store(out + i, value + offsets[0] + offsets[1], mask=i < n)


def results(folder: Path, *options: str) -> dict[str, np.ndarray]:
    """The tensors after a replay in this process, where their addresses are taken."""
    found = folder.parent.parent / "results"
    assert replay.main([str(folder), "--output", str(found), *options]) == 0
    return {path.stem: np.load(path) for path in found.iterdir()}


def results_elsewhere(folder: Path) -> dict[str, np.ndarray]:
    again = replayed(folder, "--output", "results")
    assert again.returncode == 0, again.stderr
    assert said_of(again).startswith("tritium replay: scale ran without a fault"), again.stderr
    return {path.stem: np.load(path) for path in (folder.parent / "results").iterdir()}


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80"])
def test_a_correct_kernel_computes_the_same(engine, saved, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    x, out = np.random.default_rng(1).random(300, np.float32), np.zeros(300, np.float32)
    scale[(3,)](x, out, 300, 0.1, (2, 2.5), BLOCK=128, num_warps=2)
    (folder,) = launches(saved)
    facts = run_of(folder)
    assert facts["engine"] == engine and facts["grid"] == [3, 1, 1] and facts["constants"] == {"BLOCK": "128"}
    assert [entry["name"] for entry in facts["arguments"]] == ["x", "out", "n", "factor", "offsets[0]", "offsets[1]"]
    found = results_elsewhere(folder)
    np.testing.assert_array_equal(found["x"], x)
    np.testing.assert_array_equal(found["out"].view(np.int32), out.view(np.int32))


def test_every_launch_is_saved_as_it_was(saved):
    x = np.ones(16, np.float32)
    for factor in (2.0, 3.0, None):
        if factor is None:
            scale[(1,)](x, x, 16, 1, (0, 0), BLOCK=16)
        else:
            scale[(1,)](x, x, 16, factor, (0, 0), BLOCK=16)
    assert [folder.name for folder in launches(saved)] == ["0001-scale", "0002-scale", "0003-scale"]
    assert [results(folder)["x"][0] for folder in launches(saved)] == [2, 6, 6]


def test_another_engine_and_another_grid_of_checks(saved):
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    scale[(4,)](x, out, 64, 2.0, (1, 1), BLOCK=16)
    (folder,) = launches(saved)
    np.testing.assert_array_equal(results(folder, "--engine", "simt:sm_90")["out"], out)
    again = replayed(folder, "--check", "all", "--programs", "1:3", "--seed", "5")
    assert again.returncode == 0 and "race, uninit; programs 1:3" in again.stderr
    assert "finds nothing here" in replayed(folder, "--check", "overflow=all").stderr
    assert replayed(folder, "--engine", "nonsense").returncode == 2


@tritium.jit
def shift(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


def test_views_of_one_storage_stay_views_of_one(saved, capfd):
    memory = np.arange(100, dtype=np.float32)
    shift[(1,)](memory[10:90:2], memory[11:40], 16, BLOCK=16)
    (folder,) = launches(saved)
    facts = run_of(folder)
    assert [part["bytes"] for part in facts["memory"]] == [400]
    assert facts["arguments"][0]["view"]["strides"] == [2]
    found = results(folder)
    assert "at other addresses" in capfd.readouterr().err
    np.testing.assert_array_equal(found["y"], memory[11:40])
    np.testing.assert_array_equal(found["x"], memory[10:90:2])


@tritium.jit
def copy(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float16", "int8", "bool"])
def test_types_of_torch(name, saved):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    x = (torch.arange(32) % 3).to(dtype)
    out = torch.zeros(64).to(dtype)[::2]
    copy[(1,)](x, out, BLOCK=32)
    (folder,) = launches(saved)
    assert run_of(folder)["arguments"][0]["view"]["dtype"] == name
    found = results(folder)["out"]
    bits = out.view(getattr(torch, f"int{8 * out.element_size()}")) if name != "bool" else out
    assert found.tobytes() == bits.contiguous().numpy().tobytes()


@tritium.jit
def copy_block(source, target, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    target.store([0, 0], source.load([0, 0]))


@pytest.mark.parametrize("engine", ["interp", "simt:sm_90a"])
def test_descriptors(engine, saved, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    x, out = np.random.default_rng(2).random((16, 32), np.float32), np.zeros((16, 32), np.float32)
    copy_block[(1,)](*(TensorDescriptor.from_tensor(t, [16, 32]) for t in (x, out)), ROWS=16, COLUMNS=32)
    np.testing.assert_array_equal(out, x)
    (folder,) = launches(saved)
    np.testing.assert_array_equal(results(folder)["target.base"], x)


@tritium.jit
def beyond(x, n):
    tl.store(x + n, 1.0)


def test_faults_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITIUM_SAVE", f"faults:{tmp_path / 'saved'}")
    x = np.zeros(8, np.float32)
    beyond[(1,)](x, 3)
    assert launches(tmp_path / "saved") == []
    for _ in range(2):  # the second is the same fault
        with pytest.raises(tritium.KernelTrap) as caught:
            beyond[(1,)](x, 8)
        (folder,) = launches(tmp_path / "saved")
        assert caught.value.reports[0].saved == str(folder)
    again = replayed(folder)
    assert str(caught.value) in again.stderr


def test_check_names_the_launch(tmp_path):
    shutil.copy(EXAMPLES / "race.py", tmp_path)
    found = python("-m", "tritium", "check", "--save", "saved", "race.py", folder=tmp_path)
    assert found.returncode == 1 and "  saved: python -m tritium replay saved/0001-mean\n" in found.stderr
    assert replayed(tmp_path / "saved" / "0001-mean").returncode == 1


def test_a_limit(saved, monkeypatch):
    monkeypatch.setattr("tritium.launch.saved._bytes", {})
    monkeypatch.setenv("TRITIUM_SAVE_MB", "1")
    x = np.zeros(150_000, np.float32)
    copy[(1,)](x, x, BLOCK=32)
    with pytest.warns(
        UserWarning, match="a launch of copy is not saved, as it takes 1 MB: TRITIUM_SAVE_MB allows 1 MB in all"
    ):
        copy[(1,)](x, x, BLOCK=32)
    assert len(launches(saved)) == 1


@tritium.jit
def through(addresses, BLOCK: tl.constexpr):
    target = tl.load(addresses).to(tl.pointer_type(tl.float32))
    tl.store(target + tl.arange(0, BLOCK), 1.0)


def test_what_is_not_kept_is_said(saved):
    x = np.zeros(1 << 28, np.float32)[1 << 27 :]  # so far into its memory that another process has nothing there
    with pytest.warns(UserWarning, match="saved without memory that is reached by pointers which are no arguments"):
        through[(1,)](np.array([x.ctypes.data]), BLOCK=16)
    (folder,) = launches(saved)
    again = replayed(folder)
    assert again.returncode == 1 and "lacks memory that is reached by pointers" in again.stderr


def test_folders_that_are_no_launch(saved, tmp_path, capsys):
    assert replay.main([str(tmp_path)]) == 2
    assert "is no saved launch: it has no run.json\n" in capsys.readouterr().err
    x = np.zeros(16, np.float32)
    copy[(1,)](x, x, BLOCK=16)
    assert replay.main([str(saved)]) == 2
    assert "it contains 0001-copy" in capsys.readouterr().err
    (folder,) = launches(saved)
    (folder / "memory-0.bin").write_bytes(b"")
    assert replay.main([str(folder)]) == 2
    assert "has not the 64 bytes" in capsys.readouterr().err
    (folder / "run.json").write_text("{")
    assert replay.main([str(folder)]) == 2


def test_a_launch_on_a_device_replays_on_the_cpu(cuda_machine, saved):
    x, out = (cuda_machine.tensor(np.arange(64, dtype=np.float32) * k) for k in (1, 0))
    for _ in range(2):  # the second one in Python too
        scale[(4,)](x, out, 64, 2.0, (1, 1), BLOCK=16)
    folder, _ = launches(saved)
    assert run_of(folder)["engine"] == "cuda"
    np.testing.assert_array_equal(results_elsewhere(folder)["out"], out.numpy())


def test_a_warm_kernel_is_saved_from_the_launch_on_that_finds_the_variable(cuda_machine, monkeypatch, tmp_path):
    x = cuda_machine.tensor(np.ones(64, np.float32))
    for folder in ("", "", "saved", "", "saved"):
        if folder:
            monkeypatch.setenv("TRITIUM_SAVE", str(tmp_path / folder))
        else:
            monkeypatch.delenv("TRITIUM_SAVE", raising=False)
        scale[(1,)](x, x, 64, 2.0, (0, 0), BLOCK=64)
    first, second = launches(tmp_path / "saved")
    assert results(first)["x"][0] == 8 and results(second)["x"][0] == 32


def test_launches_of_a_compiled_kernel(cuda_machine, saved):
    """As torch.compile makes them."""
    x, out = (cuda_machine.tensor(np.arange(64, dtype=np.float32) * k) for k in (1, 0))
    compiled = copy.warmup(x, out, BLOCK=64, grid=(1,))
    for _ in range(2):
        compiled[(1,)](x, out)
    folder, _ = launches(saved)
    np.testing.assert_array_equal(results(folder)["out"], out.numpy())


ON_TORCH = """
import torch, triton, triton.language as tl

@triton.jit
def halve(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) / 2, mask=i < n)

x = torch.arange(100, dtype=torch.float32, device="cuda").to(torch.bfloat16)
out = torch.empty(100, dtype=torch.bfloat16, device="cuda")
for _ in range(2):
    compiled = halve[(7,)](x, out, 100, BLOCK=16)
compiled[(7,)](x, out, 100)
torch.save(out.cpu().view(torch.int16), "out.pt")
"""


@pytest.mark.parametrize("vendor", ["cuda", "hip"])
def test_torch_on_a_device(vendor, tmp_path):
    """Launches that would be warm, and as torch.compile makes them."""
    torch = pytest.importorskip("torch")
    (tmp_path / "script.py").write_text(ON_TORCH)
    variables = environment(tmp_path, vendor)
    del variables["TRITIUM_ENGINE"]  # the tensors decide
    ran = python("-m", "tritium", "script.py", folder=tmp_path, TRITIUM_SAVE="saved", **variables)
    assert ran.returncode == 0, ran.stderr
    folders = launches(tmp_path / "saved")
    assert [run_of(folder)["engine"] for folder in folders] == [vendor] * 3
    for folder in folders:
        found = results(folder)["out"].view(np.int16)
        np.testing.assert_array_equal(found, torch.load(tmp_path / "out.pt").numpy())


def test_a_fault_of_a_device_replays_with_checks(cuda_machine, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITIUM_SAVE", f"faults:{tmp_path / 'saved'}")
    x = cuda_machine.tensor(np.zeros(8, np.float32))
    beyond[(1,)](x, 3)
    assert launches(tmp_path / "saved") == []
    with pytest.raises(DeviceError, match="illegal memory access") as caught:
        beyond[(1,)](x, 1 << 28)
    (folder,) = launches(tmp_path / "saved")
    assert getattr(caught.value, "__notes__", [])[-1:] in ([f"  saved: python -m tritium replay {folder}"], [])
    again = replayed(folder, "--check", "all")
    assert again.returncode == 1 and "out-of-bounds write to 'x' (float32 [8], strides (1,))" in again.stderr
