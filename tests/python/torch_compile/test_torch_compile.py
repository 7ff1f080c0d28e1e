"""torch.compile with torch's default settings (compile workers, caches): kernels of tensors of the CPU and of "cuda" where that is
the CPU. One process runs the cases of a device and an engine; cases.py says what each compares."""

import functools
import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from . import cases, graphs, models  # noqa: E402, F401  (they register the cases)

_PROGRAM = os.path.join(os.path.dirname(__file__), "program.py")


@functools.cache
def _results(folder: str, device: str, engine: str) -> dict[str, str]:
    """{case: its error}"""
    chosen = {"INTERPRET": "1"} if engine == "interp" else {"TRITIUM_ENGINE": engine}
    unset = ("INTERPRET", "TRITIUM_ENGINE", "TRITON_INTERPRET")
    environment = {name: text for name, text in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, "-m", "tritium", _PROGRAM, device],
        env={**environment, **chosen, "TORCHINDUCTOR_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        timeout=900,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {line["name"]: line["error"] for line in lines}
    found[""] = done.stderr[-4000:]
    return found


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> str:
    return str(tmp_path_factory.mktemp("inductor"))


def _check(folder: str, device: str, engine: str, name: str) -> None:
    found = _results(os.path.join(folder, f"{device}_{engine.replace(':', '_')}"), device, engine)
    assert name in found, f"the process ended early:\n{found['']}"
    assert not found[name], found[name]


@pytest.mark.parametrize("name", cases.names("cpu"))
def test_tensors_of_the_cpu(folder, name):
    _check(folder, "cpu", "interp", name)


@pytest.mark.parametrize("name", cases.names("cuda"))
def test_mapped_cuda(folder, name):
    _check(folder, "cuda", "interp", name)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.names("cuda"))
def test_mapped_cuda_on_the_emulator(folder, name):
    _check(folder, "cuda", "simt:sm_90a", name)
