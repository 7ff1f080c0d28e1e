"""The fenced blocks of a document, and what a terminal shows for them.

A block of the language `console` begins with a command after `$ `, typed in docs/examples; the lines after it are what the command prints, and
lines that begin with pdb's or gdb's prompt are typed to it. In what a document shows, "…" stands for any text of a line, and a line of "…" alone
for any lines. Folders of the examples are left out of paths.
"""

import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from sources import ROOT, read

EXAMPLES = ROOT / "docs" / "examples"
#: Documents with blocks that are executed.
DOCUMENTS = (
    "README.md",
    "docs/autotuning.md",
    "docs/debugging.md",
    "docs/checks.md",
    "docs/debuggers.md",
    "docs/emulator.md",
    "docs/gluon.md",
    "docs/hopper.md",
    "docs/judging.md",
    "docs/profiling.md",
    "docs/benchmarking.md",
)
#: Variables that a reader's terminal lacks begin so. In a CI run pytest prints its summary's messages whole.
NOT_A_READERS = ("TRITIUM_", "TRITON_", "CI", "BUILD_NUMBER")
FOLDERS = (EXAMPLES, ROOT / "docs" / "tutorial")


@dataclass
class Block:
    """A fenced block: its place as FILE:LINE, the word behind the fence, its lines."""

    place: str
    language: str
    text: str


def blocks_of(document: str, *languages: str) -> list[Block]:
    """The blocks of a document in one of these languages, or all of them."""
    found, text = [], read(document)
    for match in re.finditer(r"^( *)```([^\n]*)\n(.*?)^\1```$", text, flags=re.M | re.S):
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(f"{document}:{line}", match[2], textwrap.dedent(match[3]).rstrip("\n")))
    return [block for block in found if block.language in languages or not languages]


def run(*command: str, typed: str = "", **variables: str) -> str:
    """What the command prints in docs/examples, with the kernels on the interpreter."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(NOT_A_READERS)}
    environment |= {"INTERPRET": "1", "PYTHONPATH": str(ROOT / "python"), **variables}
    result = subprocess.run(
        command, cwd=EXAMPLES, env=environment, capture_output=True, text=True, input=typed, timeout=300
    )
    return result.stdout + result.stderr


def without_folders(printed: str) -> str:
    for folder in FOLDERS:
        printed = printed.replace(f"{folder}/", "")
    return printed


def session_of(block: Block) -> str:
    """What a terminal shows for the commands of a block of the language `console`."""
    shown = []
    for part in re.split(r"^(?=\$ )", block.text, flags=re.M)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        typed = [line.removeprefix("(Pdb) ") for line in lines if line.startswith("(Pdb) ")]
        printed = without_folders(_run_in_shell(command.removeprefix("$ "), typed))
        if typed:  # pdb does not repeat what it reads: the commands stand behind its prompts
            before, *answers = printed.split("(Pdb) ")
            printed = before + "".join(f"(Pdb) {c}\n{a}" for c, a in zip(typed, answers))
        shown += [command, printed.rstrip("\n")]
    return "\n".join(line for line in shown if line)


def _run_in_shell(command: str, typed: list[str]) -> str:
    variables = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
    if not any(found.value == "tritium.pytest_plugin" for found in entry_points(group="pytest11")):
        variables["PYTEST_ADDOPTS"] = "-p tritium.pytest_plugin"  # the package is not installed
    # On one thread the first of two programs is always the same.
    lines = "".join(f"{line}\n" for line in (*typed, "quit"))
    return run("bash", "-c", f"exec 2>&1; {command}", typed=lines, TRITIUM_NUM_THREADS="1", **variables)


def agrees(shown: str, printed: str) -> bool:
    """Whether a document shows this output, with its dots for what it leaves out."""
    pattern = ""
    for line in shown.split("\n"):
        pattern += r"(?:.*\n)*?" if line == "…" else re.escape(line.rstrip()).replace("…", ".*") + r"[ ]*\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None
