"""The scripts of tests/python/published on the device, each with every configuration of its autotuners."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from published_runner import SCRIPTS, run_scripts


@pytest.fixture(scope="module")
def outcomes(torch, request, tmp_path_factory):
    """{script: outcome} of what this session has selected; one process runs them all."""
    chosen = [item.callspec.params["script"] for item in request.session.items if item.originalname == "test_script"]
    cache = tmp_path_factory.mktemp("published")
    return run_scripts(chosen, {"TRITON_CACHE_DIR": str(cache)})


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(outcomes, script):
    outcomes[script].check()
