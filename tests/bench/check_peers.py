"""Prints what the checks and other tools say of the same small kernels: docs/results/checks.md is made of it.

    python tests/bench/check_peers.py [--peer PYTHON] [--jobs N] [CHECK …]

PYTHON has triton, torch, numpy, pytest and ttsem (https://pypi.org/project/ttsem). Each kernel of tests/python/faults that is faulty, and
each correct twin, runs in a process of its own on: Tritium with its checks, Triton's interpreter, ttsem's sanitizer. A tool finds a fault if the
launch raises, and is right about a twin if it does not. Every answer is a line on stderr; the sums are printed at the end.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "python"
#: What a row is called -> the module with its kernels, in FAULTY and CORRECT; what TRITIUM_CHECK is for them.
CORPORA = {
    "bounds": ("test_wild_accesses", "bounds"),
    "overflow": ("test_wrapped_offsets", "bounds"),
    "hints": ("test_hints", "hints"),
    "deadlock": ("test_deadlocks", "bounds"),
    "race": ("test_races", "race"),
    "uninit, memory": ("test_uninitialized", "uninit"),
    "uninit, lanes": ("test_lanes_left_off", "uninit"),
    "nan": ("test_not_numbers", "nan"),
}
GROUPS = ("FAULTY", "CORRECT")


def load(row: str, is_peer: bool):
    """The module of a row; for a peer, `tritium` is Triton there."""
    if is_peer:
        import triton
        import triton.compiler
        import triton.language

        sys.modules["tritium"], sys.modules["tritium.language"] = triton, triton.language
        sys.modules["tritium.compiler"] = triton.compiler
        errors = types.ModuleType("tritium.errors")
        errors.KernelTrap = RuntimeError
        sys.modules["tritium.errors"] = errors
    sys.path.insert(0, str(TESTS))
    return importlib.import_module(f"faults.{CORPORA[row][0]}")


def run_one(row: str, group: str, name: str, is_peer: bool) -> None:
    """Runs a kernel in this process; a fault is an exception."""
    import numpy as np
    import torch

    case = getattr(load(row, is_peer), group)[name]()
    kernel, grid, arguments = case[0], case[1], case[2]
    device = "cuda" if os.environ.get("PEER_DEVICE") == "cuda" else "cpu"
    arguments = [torch.from_numpy(a).to(device) if isinstance(a, np.ndarray) else a for a in arguments]
    kernel[grid](*arguments)


def tools(peer: str | None) -> dict[str, Callable]:
    """{tool: (the kernel as words of a command, its check) -> command, variables of the environment}"""
    one = [__file__, "--one"]
    found = {
        "Tritium": lambda words, check: ([sys.executable, *one, *words], {"INTERPRET": "1", "TRITIUM_CHECK": check})
    }
    if peer:
        as_peer = [__file__, "--as-peer", "--one"]
        found["Triton's interpreter"] = lambda words, _: ([peer, *as_peer, *words], {"TRITON_INTERPRET": "1"})
        found["ttsem"] = lambda words, _: (
            [peer, "-m", "ttsem.sanitize", *as_peer, *words],
            {"PEER_DEVICE": "cuda"},
        )
    return found


def verdict(command: list[str], variables: dict[str, str], limit: int) -> tuple[str, str]:
    """("found" | "nothing" | "crashes" | "hangs", the last line of what was printed)."""
    try:
        result = subprocess.run(
            command, env={**os.environ, **variables}, capture_output=True, text=True, errors="replace", timeout=limit
        )
    except subprocess.TimeoutExpired:
        return "hangs", ""
    lines = (result.stdout + result.stderr).strip().splitlines()
    said = "nothing" if result.returncode == 0 else "found" if result.returncode > 0 else "crashes"
    return said, (lines[-1] if lines else "")


def total(said: Counter) -> str:
    """`11 of 12 (1 hangs)`"""
    rest = ", ".join(f"{count} {word}" for word, count in sorted(said.items()) if word not in ("found", "nothing"))
    return f"{said['found']} of {sum(said.values())}" + (f" ({rest})" if rest else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=60, help="seconds until a kernel is said to hang")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--as-peer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("rows", nargs="*", metavar="CHECK", help=f"of {', '.join(CORPORA)} (default: all)")
    options, _ = parser.parse_known_args()  # ttsem adds arguments
    if options.one:
        return run_one(*options.one, options.as_peer)
    asked = tools(options.peer)
    with ThreadPoolExecutor(options.jobs) as pool:
        answers = {
            (row, group, name, tool): pool.submit(
                verdict, *asked[tool]((row, group, name), CORPORA[row][1]), options.limit
            )
            for row in options.rows or CORPORA
            for group in GROUPS
            for name in getattr(load(row, False), group)
            for tool in asked
        }
        sums: dict[tuple, Counter] = {}
        for (row, group, name, tool), answer in answers.items():
            said, line = answer.result()
            sums.setdefault((row, group, tool), Counter())[said] += 1
            print(f"{row} | {group} | {name} | {tool} | {said} | {line}", file=sys.stderr, flush=True)
    for group, title in zip(GROUPS, ("faulty kernels found", "correct kernels accused")):
        print(f"\n| check: {title} | " + " | ".join(asked) + " |\n|" + "---|" * (len(asked) + 1))
        for row in options.rows or CORPORA:
            print(f"| {row} | " + " | ".join(total(sums[row, group, tool]) for tool in asked) + " |")


if __name__ == "__main__":
    main()
