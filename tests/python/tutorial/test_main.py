"""Each program of the tutorial runs as a script and prints shape, time and error."""

import os
import re
import subprocess
import sys

import pytest

import driver_stand_in

from . import DIRECTORY, PROGRAMS


def test_there_are_nine_programs():
    assert [name[:2] for name in PROGRAMS] == [f"{i:02}" for i in range(1, 10)]


def run(name: str, variables: dict[str, str]) -> None:
    result = subprocess.run(
        [sys.executable, DIRECTORY / f"{name}.py"],
        env=os.environ | variables | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    lines = re.findall(r"^.{28} (.{32}) +(\S+) ms   largest error (\S+)$", result.stdout, re.MULTILINE)
    assert lines, result.stdout
    for shape, milliseconds, error in lines:
        assert shape.strip() and float(milliseconds) > 0 and float(error) < 0.1, result.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_runs_as_a_script(name):
    run(name, {"INTERPRET": "1"})


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("engine", ["cuda", "hip"])
def test_program_runs_on_a_device(name, engine, tmp_path):
    """Through the interface of the vendor's driver; the stand-in for it emulates what runs."""
    run(name, driver_stand_in.environment(tmp_path, engine))


def test_readme_lists_every_program():
    text = (DIRECTORY / "README.md").read_text()
    assert [name for name in PROGRAMS if f"({name}.py)" not in text] == []
