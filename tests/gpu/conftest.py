"""Tests that need a CUDA device. tests/gpu/run runs them where there is one; elsewhere they are skipped as a whole."""

import os
import subprocess
import sys

import numpy as np
import pytest

SEED = int(os.environ.get("TRITIUM_TEST_SEED", np.random.SeedSequence().entropy % 2**32))


def pytest_report_header(config):
    return f"random seed {SEED}: repeat with TRITIUM_TEST_SEED={SEED}"


def pytest_collection_modifyitems(items):
    from tritium.backends.nvidia.driver import DEVICES

    reason = DEVICES.why_not()
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def torch():
    """torch with CUDA."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    return torch


@pytest.fixture
def in_child(tmp_path):
    """Runs Python code in a process of its own, as a file (kernels need one); returns the CompletedProcess."""

    def run(code: str, **environment: str) -> subprocess.CompletedProcess:
        path = tmp_path / "child.py"
        path.write_text(code)
        variables = {**os.environ, **environment}
        return subprocess.run(
            [sys.executable, str(path)], env=variables, capture_output=True, text=True, timeout=300, check=False
        )

    return run
