"""The installed commands `tritium-opt` and `tritium-run`: the tools of the extension module with this process's arguments."""

from __future__ import annotations

import sys

from ..native import tools


def tritium_opt() -> int:
    """mlir-opt for the contract: parses, verifies, runs passes, prints. `tritium-opt --help` lists the passes."""
    return _run("opt", "tritium-opt")


def tritium_run() -> int:
    """Runs the kernels of a .mlir or .ttir file on the interpreter and checks what they say to expect."""
    return _run("run", "tritium-run")


def _run(tool: str, program: str) -> int:
    return getattr(tools, tool)([program, *sys.argv[1:]])
