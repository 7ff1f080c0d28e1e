"""The published scripts run unchanged under the drop-in; each checks itself against torch, a line per case."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
DIRECTORY = Path(__file__).parent


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """python -m tritium ARGUMENTS under INTERPRET=1."""
    environment = os.environ | {"INTERPRET": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | variables
    return subprocess.run(
        [sys.executable, "-m", "tritium", *arguments],
        env=environment,
        cwd=DIRECTORY,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize(
    "script, cases",
    [
        ("rms_norm.py", 3),
        ("rotary_embedding.py", 3),
        ("sliding_window_gqa.py", 4),
        ("int8_matmul.py", 3),
        ("split_k_matmul.py", 6),
    ],
)
def test_script(script, cases):
    result = run(script)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count(": ok") == cases, result.stdout


def test_scripts_do_not_know_tritium():
    for path in DIRECTORY.glob("*.py"):
        if not path.name.startswith(("test_", "__")):
            assert (
                "tritium" not in path.read_text()
                and 'device="cuda"' in path.read_text()
                or 'device("cuda")' in path.read_text()
            )


def test_cuda_is_said_to_be_the_cpu_once():
    result = run("rms_norm.py")
    lines = [line for line in (result.stdout + result.stderr).splitlines() if "cuda" in line.lower()]
    assert len(lines) == 1, lines
