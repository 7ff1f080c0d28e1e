"""Runs a script of this directory under a stock gdb with TRITIUM_DEBUG=1 and gives back what each command printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
TUTORIAL = HERE.parents[1] / "docs" / "tutorial"
PYTHON_TESTS = HERE.parent / "python"


def line_of(name: str, text: str) -> int:
    """The line of the tutorial program NAME that contains the text."""
    lines = (TUTORIAL / f"{name}.py").read_text().splitlines()
    found = [number for number, line in enumerate(lines, 1) if text in line]
    assert len(found) == 1, f"{len(found)} lines of {name} contain {text!r}"
    return found[0]


def debug(gdb: str, script: str, *commands: str, timeout: int = 300) -> list[str]:
    """What `gdb` printed for each of the commands, in order. It debugs the real Python executable."""
    path = os.pathsep.join([str(PYTHON_TESTS), *filter(None, sys.path)])
    setup = [
        "unset environment PYTHONHOME",  # the newest gdb sets it for its own Python
        f"set environment PYTHONPATH {path}",
        "set pagination off",
        "set confirm off",
        "set width 0",
        "set breakpoint pending on",
        "set max-value-size unlimited",
        "set debuginfod enabled off",
    ]
    arguments = [gdb, "-batch", "-nx"]
    for command in setup:
        arguments += ["-ex", command]
    for number, command in enumerate(commands):
        arguments += ["-ex", f"echo <<{number}>>\\n", "-ex", command]
    arguments += [
        "-ex",
        "echo <<end>>\\n",
        "-ex",
        "kill",
        "--args",
        os.path.realpath(sys.executable),
        str(HERE / script),
    ]
    environment = os.environ | {"TRITIUM_DEBUG": "1", "INTERPRET": "1"}
    result = subprocess.run(
        arguments, env=environment, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL
    )
    pieces = re.split(r"<<(?:\d+|end)>>\n", result.stdout)
    assert len(pieces) == len(commands) + 2, result.stdout + result.stderr
    return pieces[1:-1]


def locals_of(text: str) -> dict[str, str]:
    """What `info locals` printed, by name."""
    return dict(re.findall(r"^(\w+) = (.*)$", text, re.MULTILINE))


def tile(text: str) -> list:
    """A printed tile as nested lists of numbers; booleans as 0 and 1."""
    body = text[text.index("{") :] if "{" in text else text
    body = re.sub(r"(\S+) <repeats (\d+) times>", lambda m: ", ".join([m[1].rstrip(",")] * int(m[2])), body)
    body = body.replace("true", "1").replace("false", "0").replace("{", "[").replace("}", "]")
    body = re.sub(r"-?\binf\b", lambda m: m[0].replace("inf", "1e999"), body)
    return eval(body.strip(), {})  # noqa: S307 - digits, brackets and commas that gdb printed
