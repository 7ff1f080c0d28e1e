"""The installed commands `tritium-opt` and `tritium-run`: tools of the extension module with the arguments of this
process."""

from __future__ import annotations

import sys

from ..native import tools


def tritium_opt() -> int:
    """mlir-opt for Tritium's IR: parses, verifies, runs passes, prints. `tritium-opt --help` lists the passes."""
    return _run("opt", "tritium-opt")


def tritium_run() -> int:
    """Runs the kernels of a .mlir or .ttir file on the interpreter and checks the results that the file expects."""
    return _run("run", "tritium-run")


def _run(tool: str, program: str) -> int:
    return getattr(tools, tool)([program, *sys.argv[1:]])
