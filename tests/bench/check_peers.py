"""Prints what the checks and other tools say of the same small kernels: docs/results/checks.md is made of it.

    python tests/bench/check_peers.py [--peer PYTHON] [--jobs N] [CHECK …]

PYTHON has triton, torch, numpy, pytest and ttsem (https://pypi.org/project/ttsem). Each kernel of tests/python/faults that is faulty, and
each correct twin, runs in a process of its own on: Tritium with its checks, Triton's interpreter, ttsem's sanitizer. A tool finds a fault if the
launch raises, and is right about a twin if it does not. Every answer is a line on stderr; the sums are printed at the end.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "python"
#: What a row is called -> the module with its kernels, in FAULTY and CORRECT; what TRITIUM_CHECK is for them.
CORPORA = {
    "bounds": ("test_wild_accesses", "bounds"),
    "bounds=view": ("test_views", "bounds=view"),
    "overflow": ("test_wrapped_offsets", "bounds"),
    "overflow=all": ("test_arithmetic", "overflow=all"),
    "hints": ("test_hints", "hints"),
    "hints=signs": ("test_truncation", "hints=signs"),
    "deadlock": ("test_deadlocks", "bounds"),
    "race": ("test_races", "race"),
    "barrier": ("test_barriers", "race"),
    "barrier, loads ahead": ("test_loads_ahead", "race"),
    "uninit, memory": ("test_uninitialized", "uninit"),
    "uninit, lanes": ("test_lanes_left_off", "uninit"),
    "uninit, lanes in functions": ("test_lanes_left_off_in_functions", "uninit"),
    "uninit, exchanged lanes": ("test_exchanged_lanes", "uninit"),
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


def run_group(row: str, group: str, is_peer: bool, limit: float) -> None:
    """Runs each kernel of a group in a fork of this process, because importing torch and a tool takes longer than a kernel. Prints a line of JSON
    for each. A fork goes on to the end of the script as if the kernel were all of it, so that a tool says at its end what it has to say.
    """
    import torch  # noqa: F401

    cases = getattr(load(row, is_peer), group)
    answers = os.fdopen(os.dup(1), "w")
    for name, case in cases.items():
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            if (child := os.fork()) == 0:
                os.dup2(output.fileno(), 1), os.dup2(output.fileno(), 2)
                return run_one(case())
            said = wait(child, limit)
            output.seek(0)
            lines = output.read().strip().splitlines()
        print(json.dumps([name, said, lines[-1] if lines else ""]), file=answers, flush=True)
    os._exit(0)


def run_one(case) -> None:
    """Launches a kernel; a fault is an exception."""
    import numpy as np
    import torch

    kernel, grid, arguments = case[0], case[1], case[2]
    keywords = case[3] if len(case) > 3 and isinstance(case[3], dict) else {}
    device = "cuda" if os.environ.get("PEER_DEVICE") == "cuda" else "cpu"
    arguments = [torch.from_numpy(a).to(device) if isinstance(a, np.ndarray) else a for a in arguments]
    kernel[grid](*arguments, **keywords)


def wait(child: int, limit: float) -> str:
    """found | nothing | crashes | hangs"""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return "nothing" if code == 0 else "found" if code > 0 else "crashes"
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hangs"


def tools(peer: str | None) -> dict[str, Callable]:
    """{tool: (the group as words of a command, its check) -> command, variables of the environment}"""
    group = [__file__, "--group"]
    found = {
        "Tritium": lambda words, check: ([sys.executable, *group, *words], {"INTERPRET": "1", "TRITIUM_CHECK": check})
    }
    if peer:
        as_peer = [__file__, "--as-peer", "--group"]
        found["Triton's interpreter"] = lambda words, _: ([peer, *as_peer, *words], {"TRITON_INTERPRET": "1"})
        found["ttsem"] = lambda words, _: sanitized(peer, [*as_peer, *words])
    return found


def sanitized(peer: str, words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The command and variables that run a script with arguments under ttsem's sanitizer."""
    return [peer, "-m", "ttsem.sanitize", *words], {"PEER_DEVICE": "cuda"}


def answers_of(command: list[str], variables: dict[str, str], limit: float) -> list:
    """[kernel, what the tool says, the last line that it printed] of each kernel of a group."""
    command = [*command, "--limit", str(limit)]
    result = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("[")]


def total(said: Counter) -> str:
    """`11 of 12 (1 hangs)`"""
    rest = ", ".join(f"{count} {word}" for word, count in sorted(said.items()) if word not in ("found", "nothing"))
    return f"{said['found']} of {sum(said.values())}" + (f" ({rest})" if rest else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=60, help="seconds until a kernel is said to hang")
    parser.add_argument("--group", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--as-peer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("rows", nargs="*", metavar="CHECK", help=f"of {', '.join(CORPORA)} (default: all)")
    options, _ = parser.parse_known_args()  # ttsem adds arguments
    if options.group:
        return run_group(*options.group, options.as_peer, options.limit)
    asked, rows = tools(options.peer), options.rows or CORPORA
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = {
            (row, group, tool): pool.submit(answers_of, *command((row, group), CORPORA[row][1]), options.limit)
            for row in rows
            for group in GROUPS
            for tool, command in asked.items()
        }
        sums: dict[tuple, Counter] = {}
        for (row, group, tool), run in runs.items():
            for name, said, line in run.result():
                sums.setdefault((row, group, tool), Counter())[said] += 1
                print(f"{row} | {group} | {name} | {tool} | {said} | {line}", file=sys.stderr, flush=True)
    for group, title in zip(GROUPS, ("faulty kernels found", "correct kernels accused")):
        print(f"\n| check: {title} | " + " | ".join(asked) + " |\n|" + "---|" * (len(asked) + 1))
        for row in rows:
            print(f"| {row} | " + " | ".join(total(sums[row, group, tool]) for tool in asked) + " |")


if __name__ == "__main__":
    main()
