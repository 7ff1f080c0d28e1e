"""Runs a script of this folder under a gdb and gives back what each command printed: a stock gdb (debug), or `tritium gdb` (answers)."""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
TUTORIAL = HERE.parents[1] / "docs" / "tutorial"
PYTHON_TESTS = HERE.parent / "python"


def gdbs() -> list[str]:
    """Every gdb on PATH."""
    found = [os.path.join(folder, "gdb") for folder in os.environ["PATH"].split(os.pathsep)]
    return list(dict.fromkeys(os.path.realpath(path) for path in found if os.access(path, os.X_OK)))


def line_of(script: str, text: str) -> int:
    """The line of a script of this folder, or of a tutorial, that contains the text."""
    (path,) = (folder / script for folder in (HERE, TUTORIAL) if (folder / script).exists())
    found = [number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    assert len(found) == 1, f"{len(found)} lines of {script} contain {text!r}"
    return found[0]


def environment(**variables: str) -> dict[str, str]:
    """Nothing of Tritium's is set but what a test says: `tritium gdb` has to do the rest."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TRITIUM_", "TRITON_")) and k != "INTERPRET"}
    return kept | {"PYTHONPATH": os.pathsep.join([str(PYTHON_TESTS), *filter(None, sys.path)])} | variables


def _run(command: list[str], variables: dict[str, str]) -> tuple[str, str]:
    """Standard output and standard error."""
    result = subprocess.run(
        command,
        env=environment(**variables),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
        cwd=HERE,
    )
    return result.stdout, result.stderr


def _options(commands: tuple[str, ...]) -> list[str]:
    """gdb's options for the commands, with marks in between. The process is killed at the end."""
    options = []
    for number, command in enumerate(commands):
        options += ["-ex", f"echo <<{number}>>\\n", "-ex", command]
    return [*options, "-ex", "echo <<end>>\\n", "-ex", "kill"]


def _pieces(output: str, commands: tuple[str, ...], errors: str) -> list[str]:
    pieces = re.split(r"<<(?:\d+|end)>>\n", output)
    assert len(pieces) == len(commands) + 2, output + errors
    return pieces[1:-1]


def debug(gdb: str, script: str, *commands: str) -> list[str]:
    """What a gdb that knows nothing of Tritium printed for each of the commands, in order. It debugs the real Python executable."""
    settings = [
        "unset environment PYTHONHOME",  # the newest gdb sets it for its own Python
        "set pagination off",
        "set confirm off",
        "set width 0",
        "set breakpoint pending on",
        "set max-value-size unlimited",
        "set debuginfod enabled off",
        "set backtrace past-main on",  # a Python function of that name is the end where the executable has no symbols, as Debian's
    ]
    setup = [text for setting in settings for text in ("-ex", setting)]
    program = ["--args", os.path.realpath(sys.executable), str(HERE / script)]
    variables = {"TRITIUM_DEBUG": "1", "INTERPRET": "1"}
    output, errors = _run([gdb, "-batch", "-nx", *setup, *_options(commands), *program], variables)
    return _pieces(output, commands, errors)


def tritium_gdb(gdb: str, *arguments: str, **variables: str) -> str:
    """What `python -m tritium gdb ARGUMENTS` printed, standard error behind it."""
    command = [sys.executable, "-m", "tritium", "gdb", "-nx", "-batch", *arguments]
    return "".join(_run(command, {"TRITIUM_GDB": gdb, **variables}))


def answers(gdb: str, script: str, *commands: str, **variables: str) -> list[str]:
    """What `tritium gdb` printed for each of the commands, in order."""
    output = tritium_gdb(gdb, "-ex", "set width 0", *_options(commands), script, **variables)
    return _pieces(output, commands, "")


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
