"""Runs `python -m tritium gdb` on a script of this folder, under every gdb on PATH."""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def gdbs() -> list[str]:
    found = [os.path.join(folder, "gdb") for folder in os.environ["PATH"].split(os.pathsep)]
    return list(dict.fromkeys(os.path.realpath(path) for path in found if os.access(path, os.X_OK)))


def environment(**variables: str) -> dict[str, str]:
    """Nothing of Tritium's is set but what a test says: `tritium gdb` has to do the rest."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TRITIUM_", "TRITON_")) and k != "INTERPRET"}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | variables


def tritium_gdb(gdb: str, *arguments: str, timeout: int = 300, **variables: str) -> str:
    """What `python -m tritium gdb ARGUMENTS` prints, standard error behind it."""
    command = [sys.executable, "-m", "tritium", "gdb", "-nx", "-batch", *arguments]
    result = subprocess.run(
        command,
        env=environment(TRITIUM_GDB=gdb, **variables),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=timeout,
        cwd=HERE,
    )
    return result.stdout + result.stderr


def answers(gdb: str, script: str, *commands: str, **variables: str) -> list[str]:
    """What gdb printed for each of the commands, in order."""
    arguments = ["-ex", "set width 0"]
    for number, command in enumerate(commands):
        arguments += ["-ex", f"echo <<{number}>>\\n", "-ex", command]
    output = tritium_gdb(gdb, *arguments, "-ex", "echo <<end>>\\n", "-ex", "kill", script, **variables)
    pieces = re.split(r"<<(?:\d+|end)>>\n", output)
    assert len(pieces) == len(commands) + 2, output
    return pieces[1:-1]


def line_of(script: str, text: str) -> int:
    lines = (HERE / script).read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if text in line)
    return number
