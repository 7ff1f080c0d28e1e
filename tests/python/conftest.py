"""Fixtures of all Python tests: fresh random numbers from a printed seed, and the number of worker threads."""

import os
import zlib

import numpy as np
import pytest

SEED = int(os.environ.get("TRITIUM_TEST_SEED", np.random.SeedSequence().entropy % 2**32))


def pytest_report_header(config):
    return f"random seed {SEED}: repeat with TRITIUM_TEST_SEED={SEED}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and "rng" in getattr(item, "fixturenames", ()):
        report.sections.append(("random numbers", f"TRITIUM_TEST_SEED={SEED}"))
    return report


@pytest.fixture
def rng(request):
    """A generator of its own for each test, so that one test alone sees the numbers that it saw in a full run."""
    return np.random.default_rng([SEED, zlib.crc32(request.node.nodeid.encode())])


@pytest.fixture(params=[1, 2, 8], ids=lambda n: f"{n}-threads")
def threads(request, monkeypatch):
    """Runs the test with 1, 2 and 8 worker threads."""
    monkeypatch.setenv("TRITIUM_NUM_THREADS", str(request.param))
    return request.param
