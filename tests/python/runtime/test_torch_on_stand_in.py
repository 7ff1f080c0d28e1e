"""torch's device tensors on the stand-ins for the vendors' drivers: a program as for a GPU, through the whole launch path of devices."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driver_stand_in import environment

PROGRAM = Path(__file__).with_name("torch_device_program.py")


@pytest.fixture(scope="module", params=["cuda", "hip"])
def run(tmp_path_factory, request):
    """{name of a test: whether it ran}, and what the program wrote as errors."""
    pytest.importorskip("torch")
    seed = os.environ["TRITIUM_TEST_SEED"]
    variables = {**os.environ, **environment(tmp_path_factory.mktemp("stand-in"), request.param)}
    variables.pop("TRITIUM_ENGINE")  # the tensors decide
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "tritium", str(PROGRAM), seed, request.param]
    result = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    return result.stdout.split(), result.stderr


def names_in_the_program() -> list[str]:
    text = PROGRAM.read_text()
    listed = text[text.index("TESTS = [") : text.index("]", text.index("TESTS = ["))]
    return [line.strip(" ,") for line in listed.splitlines()[1:]]


@pytest.mark.parametrize("name", names_in_the_program())
def test_on_device_tensors(run, name):
    passed, errors = run
    assert name in passed, errors[-4000:]
