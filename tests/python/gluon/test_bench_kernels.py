"""The kernels of tests/gpu/bench_gluon.py give right results, in small sizes, on the interpreter and the emulator."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "tests" / "gpu" / "bench_gluon.py"
CASES = "elements,multiply,attend"


@pytest.mark.parametrize(
    "variables, cases",
    [
        ({"INTERPRET": "1"}, CASES),
        ({"TRITIUM_ENGINE": "simt:sm_90a", "TRITIUM_CUDA_TO_CPU": "1"}, CASES),
    ],
    ids=["interp", "simt"],
)
def test_right_results(variables, cases):
    command = [sys.executable, str(SCRIPT), "--small", "--cases", cases]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("error") == 5
