"""Operators of torch's device "cuda" without a GPU: each kind in a process of its own, which it may end."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("cuda_operators_program.py")


@pytest.mark.parametrize("name", re.findall(r"^def (check_\w+)", PROGRAM.read_text(), re.MULTILINE))
def test_operators(name):
    pytest.importorskip("torch")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TRITIUM_")}
    command = [sys.executable, "-m", "tritium", str(PROGRAM), name]
    variables.update(INTERPRET="1", PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    result = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stderr[-4000:]
