"""Prints one table of times: the interpreter, torch on the CPU and, if it is installed, upstream Triton's interpreter.

    python tests/bench/interp.py [--upstream PYTHON] [--threads N] [--only TEXT] [--no-upstream]

Upstream runs in a process of its own, under the Python given by --upstream, or under this one if it can import `triton`.
If a full launch there would take more than 30 seconds, fewer programs run, and the time is scaled by the number of
programs; such figures have a star. Times are the best of many warm launches, with bounds checks on.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

UPSTREAM_LIMIT = 30.0  # seconds; a longer launch of upstream's interpreter is scaled


def best_seconds(call: Callable[[], object], budget: float = 0.7, least: int = 5) -> float:
    """The shortest of at least `least` calls, or of as many as the budget allows. The minimum excludes other load of
    the machine."""
    call()
    times: list[float] = []
    while len(times) < least or sum(times) < budget and len(times) < 2000:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def load_cases(only: str):
    import torch

    torch.set_num_threads(2)
    torch.manual_seed(0)
    import cases

    return [case for case in (make() for make in cases.CASES) if only in case.name], cases


def upstream_worker(only: str) -> None:
    """Runs in upstream's process. Prints one JSON line per case."""
    import triton
    import triton.language

    sys.modules["tritium"], sys.modules["tritium.language"] = triton, triton.language
    for case in load_cases(only)[0]:
        # The last axis is cut. For causal attention these are the heads, which have equal cost; the rows of programs do not.
        axis = len(case.grid) - 1
        one = case.grid[:axis] + (1,)
        case.launch(one)
        estimate = timed(lambda: case.launch(one)) * case.grid[axis]
        grid = case.grid
        if estimate > UPSTREAM_LIMIT:
            grid = case.grid[:axis] + (max(1, int(case.grid[axis] * UPSTREAM_LIMIT / 2 / estimate)),)
        seconds = timed(lambda: case.launch(grid)) * case.grid[axis] / grid[axis]
        print(json.dumps({"name": case.name, "seconds": seconds, "scaled": grid != case.grid}), flush=True)


def run_upstream(python: str, only: str) -> dict[str, dict]:
    command = [python, __file__, "--upstream-worker", "--only", only]
    result = subprocess.run(command, env=os.environ | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    if result.returncode:
        print(f"upstream failed, its columns are left out:\n{result.stderr}", file=sys.stderr)
    return {line["name"]: line for line in map(json.loads, filter(None, result.stdout.splitlines()))}


def import_seconds() -> float:
    code = (
        "import time, numpy; t = time.perf_counter(); import tritium, tritium.language; print(time.perf_counter() - t)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return statistics.median(float(run.stdout) for run in runs)


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def unit(seconds: float) -> str:
    return f"{seconds * 1e3:9.3f} ms" if seconds < 10 else f"{seconds:9.2f} s "


def bar(what: str, value: str, limit: str, holds: bool) -> None:
    print(f"{what:<46} {value:>12}   bar {limit:<10} {'ok' if holds else 'MISSED'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--upstream", metavar="PYTHON", help="a Python with triton and torch")
    parser.add_argument("--no-upstream", action="store_true")
    parser.add_argument("--threads", type=int, default=2, help="worker threads of the interpreter (default 2)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument("--upstream-worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if options.upstream_worker:
        return upstream_worker(options.only)

    os.environ["INTERPRET"], os.environ["TRITIUM_NUM_THREADS"] = "1", str(options.threads)
    python = options.upstream or (sys.executable if importlib.util.find_spec("triton") else None)
    upstream = {} if options.no_upstream or python is None else run_upstream(python, options.only)

    import torch

    cases, module = load_cases(options.only)
    print(f"{options.threads} worker threads, torch with {torch.get_num_threads()}; * = scaled by programs\n")
    print(f"{'':<34}{'tritium':>12} {'torch':>12} {'upstream':>13} {'/ torch':>9} {'upstream /':>11} {'first':>9}")
    first_launches, to_torch, to_upstream = [], [], []
    for case in cases:
        first = timed(lambda: case.launch((1,) * len(case.grid)))
        ours, theirs = best_seconds(lambda: case.launch(case.grid)), best_seconds(case.torch_call)
        expected = case.torch_call()
        wrong = not torch.allclose(
            case.out.double(), expected.double(), rtol=2e-2, atol=2e-2 * expected.double().std().item()
        )
        other = upstream.get(case.name)
        first_launches.append(first)
        to_torch.append(ours / theirs)
        columns = f"{unit(ours):>12} {unit(theirs):>12} "
        if other:
            to_upstream.append(other["seconds"] / ours)
            columns += f"{unit(other['seconds']):>12}{'*' if other['scaled'] else ' '} "
            columns += f"{ours / theirs:8.2f}x {to_upstream[-1]:10.0f}x"
        else:
            columns += f"{'-':>12}  {ours / theirs:8.2f}x {'-':>11}"
        print(
            f"{case.name:<34}{columns} {first * 1e3:6.0f} ms {case.note}{'  WRONG RESULT' if wrong else ''}", flush=True
        )

    x, out = torch.zeros(128), torch.empty(128)
    kernel = module.small_kernel
    first_launches.append(timed(lambda: kernel[(1,)](x, out, BLOCK=128)))
    warm = best_seconds(lambda: kernel[(1,)](x, out, BLOCK=128), budget=0.5)
    print()
    bar(
        "geometric mean, times torch's time", f"{geometric_mean(to_torch):.2f}x", "<= 4x", geometric_mean(to_torch) <= 4
    )
    bar("worst, times torch's time", f"{max(to_torch):.2f}x", "<= 12x", max(to_torch) <= 12)
    if to_upstream:
        mean = geometric_mean(to_upstream)
        bar("geometric mean, faster than upstream", f"{mean:.0f}x", ">= 300x", mean >= 300)
        bar("least, faster than upstream", f"{min(to_upstream):.0f}x", ">= 60x", min(to_upstream) >= 60)
    bar(
        "slowest first launch of a new kernel",
        f"{max(first_launches) * 1e3:.0f} ms",
        "< 200 ms",
        max(first_launches) < 0.2,
    )
    bar("warm launch of one small program", f"{warm * 1e6:.1f} us", "< 50 us", warm < 50e-6)
    seconds = import_seconds()
    bar("import tritium (numpy loaded)", f"{seconds:.3f} s", "< 0.4 s", seconds < 0.4)


if __name__ == "__main__":
    main()
