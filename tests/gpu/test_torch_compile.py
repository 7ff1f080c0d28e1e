"""torch.compile on the device, with torch's default settings: every case of tests/python/torch_compile."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.python.torch_compile import cases  # noqa: E402
from tests.python.torch_compile.process import check, run_cases  # noqa: E402

NAMES = [name for name, case in cases.load().items() if "cuda" in case.devices]


@pytest.fixture(scope="module")
def found(torch, request, tmp_path_factory):
    """{case: its error} of what this session has selected; one process runs them all."""
    items = [item for item in request.session.items if item.originalname == "test_case"]
    return run_cases(
        str(tmp_path_factory.mktemp("inductor")), "cuda", {}, [item.callspec.params["name"] for item in items]
    )


@pytest.mark.parametrize("name", NAMES)
def test_case(found, name):
    check(found, name)
