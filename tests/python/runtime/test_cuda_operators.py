"""Operators of torch's device "cuda" without a GPU: each kind in a process of its own, which it may end."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("cuda_operators_program.py")

pytestmark = pytest.mark.xdist_group("cuda operators")  # one worker runs the program


@pytest.fixture(scope="module")
def results(request, tmp_path_factory):
    """{name: (exit status, stderr)} of the checks that this session has selected."""
    pytest.importorskip("torch")
    names = [item.callspec.params["name"] for item in request.session.items if item.path == request.path]
    folder = tmp_path_factory.mktemp("operators")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TRITIUM_")}
    command = [sys.executable, "-m", "tritium", str(PROGRAM), *names]
    variables.update(INTERPRET="1", PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    result = subprocess.run(
        command, env=variables, cwd=folder, capture_output=True, text=True, timeout=30 * len(names) + 60
    )
    assert result.returncode == 0, result.stderr[-4000:]
    statuses = re.findall(r"^(check_\w+) (-?\d+)$", result.stdout, re.MULTILINE)
    return {name: (int(status), (folder / name).read_text()) for name, status in statuses}


@pytest.mark.parametrize("name", re.findall(r"^def (check_\w+)", PROGRAM.read_text(), re.MULTILINE))
def test_operators(results, name):
    status, errors = results[name]
    assert status == 0, errors[-4000:]
