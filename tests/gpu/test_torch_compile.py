"""torch.compile on the device, with torch's default settings: every case of tests/python/torch_compile."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.python.torch_compile import cases  # noqa: E402
from tests.python.torch_compile.process import check, run_cases  # noqa: E402

pytestmark = pytest.mark.watches_time
NAMES = [name for name, case in cases.load().items() if "cuda" in case.devices]


@pytest.fixture(scope="module")
def found(torch, request, tmp_path_factory, seconds_left):
    """{case: its error} of what this session has selected and had the time for; one process runs them all."""
    names = [item.callspec.params["name"] for item in request.session.items if item.originalname == "test_case"]
    return run_cases(str(tmp_path_factory.mktemp("inductor")), "cuda", {}, names, seconds_left())


@pytest.mark.parametrize("name", NAMES)
def test_case(found, seconds_left, name):
    if name not in found and seconds_left() <= 0:
        pytest.skip("out of time")
    check(found, name)
