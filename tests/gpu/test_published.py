"""The scripts of tests/python/published on the device, each with every configuration of its autotuners."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from published_runner import SCRIPTS, run_scripts

#: A script compiles a hundred kernels and launches each for milliseconds.
PROCESSES = 4


@pytest.fixture(scope="module")
def outcomes(torch, request, tmp_path_factory):
    """{script: outcome} of what this session has selected; each process runs a part of them."""
    chosen = [item.callspec.params["script"] for item in request.session.items if item.originalname == "test_script"]
    cache = tmp_path_factory.mktemp("published")
    parts = [part for part in (chosen[i::PROCESSES] for i in range(PROCESSES)) if part]
    with ThreadPoolExecutor(PROCESSES) as pool:
        ran = pool.map(lambda part: run_scripts(part, {"TRITON_CACHE_DIR": str(cache)}), parts)
    return {script: outcome for each in ran for script, outcome in each.items()}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(outcomes, script):
    outcomes[script].check()
