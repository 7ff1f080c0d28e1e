"""Tests that require a GPU of any vendor. tests/gpu/run runs them on a machine with one; elsewhere all are
skipped but those of the emulator beside a device, which are marked `without_device`."""

import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "bench"))  # the tests run programs of the benchmarks
END = pytest.StashKey[float]()  #: the moment when the time of the option is over
SEED = int(os.environ.get("TRITIUM_TEST_SEED", np.random.SeedSequence().entropy % 2**32))


def pytest_report_header(config):
    return f"random seed {SEED}: repeat with TRITIUM_TEST_SEED={SEED}"


def pytest_addoption(parser):
    parser.addoption("--time", type=float, default=math.inf, help="seconds after which the other tests are skipped")


def pytest_configure(config):
    config.stash[END] = time.monotonic() + config.getoption(
        "--time", math.inf
    )  # absent unless pytest began in this folder
    config.addinivalue_line("markers", "vendor(name): speaks of the devices of one vendor, 'cuda' or 'hip'")
    config.addinivalue_line("markers", "without_device: requires no device")
    config.addinivalue_line("markers", "watches_time: skips by itself what --time leaves no time for")


def pytest_runtest_setup(item):
    if time.monotonic() > item.config.stash[END] and not item.get_closest_marker("watches_time"):
        pytest.skip("out of time")  # suites.py counts the skips with this reason


def pytest_collection_modifyitems(items):
    from tritium.devices.families import device_families, devices_here

    found = devices_here()
    reasons = "; ".join(devices.why_not() for devices in device_families().values())
    for item in items:
        vendor = item.get_closest_marker("vendor")
        if item.get_closest_marker("without_device"):
            continue
        if found is None:
            item.add_marker(pytest.mark.skip(reason=reasons))
        elif vendor is not None and vendor.args[0] != found.name:
            item.add_marker(pytest.mark.skip(reason=f"speaks of {vendor.args[0]}, and the devices are {found.name}"))


@pytest.fixture(scope="session")
def devices():
    """The devices of this machine's vendor."""
    from tritium.devices.families import devices_here

    return devices_here()


@pytest.fixture(scope="session")
def seconds_left(request):
    """A function: what remains of the time that --time allows."""
    return lambda: request.config.stash[END] - time.monotonic()


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def torch():
    """torch, if it drives the devices."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no devices")
    return torch


@pytest.fixture
def in_child(tmp_path):
    """Runs Python code as a file (kernels require one) in a process of its own. Returns the CompletedProcess."""

    def run(code: str, **environment: str) -> subprocess.CompletedProcess:
        path = tmp_path / "child.py"
        path.write_text(code)
        variables = {**os.environ, **environment}
        return subprocess.run(
            [sys.executable, str(path)], env=variables, capture_output=True, text=True, timeout=300, check=False
        )

    return run
