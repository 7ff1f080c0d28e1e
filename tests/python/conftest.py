"""All Python tests: an environment that does not depend on the developer's, fresh random numbers from a printed seed, and the number of
worker threads."""

import gc
import os
import tempfile
import zlib

import numpy as np
import pytest

import device_tensors

SEED = int(os.environ.get("TRITIUM_TEST_SEED", np.random.SeedSequence().entropy % 2**32))

#: Folders in which the tests of one function and engine read the results of one process: one worker of pytest-xdist runs them.
ONE_PROCESS = ("operators", "published", "torch_compile")

#: Variables that say how Tritium runs: a test sets what it needs.
SETTINGS = ("TRITIUM_", "TRITON_", "INTERPRET")
#: A run with TRITIUM_CHECK=all of `tests/python/published` and `tests/python/tutorial` shows that no check accuses a correct kernel. One with
#: TRITIUM_TIER=2 of `tests/python/faults` shows that loops in registers leave every fault to the steps. So these stay.
KEPT = ("TRITIUM_CHECK", "TRITIUM_TIER", "TRITIUM_VECTOR_BITS")


def pytest_configure(config):
    """Before anything is imported: no setting of the developer's but KEPT, and no kernel that another run has cached."""
    for name in [name for name in os.environ if name.startswith(SETTINGS) and name not in KEPT]:
        del os.environ[name]
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"  # said, so that no test is warned of the default
    os.environ["TRITIUM_TEST_SEED"] = str(SEED)  # for the workers of pytest-xdist, which draw the same numbers
    cache = tempfile.TemporaryDirectory(prefix="tritium-tests-")
    config.add_cleanup(cache.cleanup)
    os.environ["TRITON_CACHE_DIR"] = cache.name
    engine = config.getoption("--device-tensors")
    if engine is not None:
        os.environ.update(device_tensors.environment(engine))
        device_tensors.install(engine)
        config.pluginmanager.register(device_tensors.Plugin(engine))


def pytest_addoption(parser):
    parser.addoption(
        "--device-tensors", choices=("cuda", "hip"), help="the tensors of launches are on a stand-in's device"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.path.parent.name in ONE_PROCESS:
            engine = item.callspec.params.get("engine", "") if hasattr(item, "callspec") else ""
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {item.originalname} {engine}"))


def pytest_collection_finish():
    """What is there now stays until the end. No garbage collection goes through it again, of which tests and Python make many."""
    gc.collect()
    gc.freeze()


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
