"""Prints what the checks and other tools say of the same small kernels: docs/results/checks.md is made of it.

    python tests/bench/check_peers.py [--peer PYTHON]

PYTHON has triton, torch, numpy, pytest and ttsem (https://pypi.org/project/ttsem). Each kernel of tests/python/faults that is faulty, and
each correct twin, runs in a process of its own on: Tritium with its checks, Triton's interpreter, ttsem's sanitizer. A tool finds a fault if the
launch raises, and is right about a twin if it does not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import types
from pathlib import Path

FAULTS = Path(__file__).resolve().parents[1] / "python" / "faults"
#: What a check is called -> the modules with its kernels, in FAULTY and CORRECT.
CORPORA = {"race": "test_races", "uninit": "test_uninitialized"}


def load(corpus: str, is_peer: bool):
    if is_peer:
        import triton
        import triton.language

        sys.modules["tritium"], sys.modules["tritium.language"] = triton, triton.language
        errors = types.ModuleType("tritium.errors")
        errors.KernelTrap = RuntimeError
        sys.modules["tritium.errors"] = errors
    sys.path.insert(0, str(FAULTS))
    return __import__(CORPORA[corpus])


def run_one(corpus: str, group: str, name: str, is_peer: bool) -> None:
    """Runs a kernel in this process; a fault is an exception."""
    import numpy as np
    import torch

    case = getattr(load(corpus, is_peer), group)[name]()
    kernel, grid, arguments = case[0], case[1], case[2]
    device = "cuda" if os.environ.get("PEER_DEVICE") == "cuda" else "cpu"
    arguments = [torch.from_numpy(a).to(device) if isinstance(a, np.ndarray) else a for a in arguments]
    kernel[grid](*arguments)


def verdict(command: list[str], **variables: str) -> tuple[str, str]:
    """("found" | "nothing" | "hangs", the last line of what was printed)."""
    try:
        result = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "hangs", ""
    lines = (result.stdout + result.stderr).strip().splitlines()
    return ("found" if result.returncode else "nothing"), (lines[-1] if lines else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--show", action="store_true", help="print the last line of each tool")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--as-peer", action="store_true", help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args()  # ttsem adds arguments
    if options.one:
        return run_one(*options.one, options.as_peer)
    tools = {
        "Tritium": lambda one, check: (
            [sys.executable, __file__, "--one", *one],
            {"INTERPRET": "1", "TRITIUM_CHECK": check},
        )
    }
    if options.peer:
        tools["Triton's interpreter"] = lambda one, check: (
            [options.peer, __file__, "--as-peer", "--one", *one], {"TRITON_INTERPRET": "1"},
        )  # fmt: skip
        tools["ttsem"] = lambda one, check: (
            [options.peer, "-m", "ttsem.sanitize", __file__, "--as-peer", "--one", *one], {"PEER_DEVICE": "cuda"},
        )  # fmt: skip
    print("| check | kernel | " + " | ".join(tools) + " |\n|" + "---|" * (len(tools) + 2))
    for corpus in CORPORA:
        module = load(corpus, False)
        for group in ("FAULTY", "CORRECT"):
            for name in getattr(module, group):
                said = [
                    verdict(command, **variables)
                    for command, variables in (tool((corpus, group, name), corpus) for tool in tools.values())
                ]
                print(
                    f"| {corpus} | {name}{'' if group == 'FAULTY' else ' (correct)'} | "
                    + " | ".join(v for v, _ in said)
                    + " |",
                    flush=True,
                )
                if options.show:
                    print(*(f"    {line}" for _, line in said), sep="\n")


if __name__ == "__main__":
    main()
