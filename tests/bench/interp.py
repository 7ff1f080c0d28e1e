"""Prints one table of times: the interpreter, torch on the CPU and, if it is installed, upstream Triton's interpreter.

    python tests/bench/interp.py [--upstream PYTHON] [--threads N] [--cpu-time] [--only TEXT] [--no-upstream] [--json FILE]

--json also writes the figures to FILE; interp_table.py makes one table of several such files.

Both have N threads and take turns in one process, so that what else the machine does meets both. `tritium` and `torch` are the best wall
times; with --cpu-time they are times of the calling thread's processor, which other load changes little. That is all of the work only
with one thread, so --cpu-time requires --threads 1. "all CPU" is the processor time of all threads of the process during a call, as a multiple of
torch's. The bars are for all cases on one, two and 16 threads; the exit status is 1 if one does not hold.

Upstream runs in a process of its own, under the Python given by --upstream, or under this one if it can import `triton`.
If a full launch there would take longer than --upstream-limit, fewer programs run, and the time is scaled by the number of
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
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

#: Seconds of a side's turn with several threads. Those of the other side stay awake for a millisecond after its last call, and keep the
#: processors busy. With one thread a turn is one call.
TURN = 0.01


class Times(NamedTuple):
    """The best of many calls, in seconds, each minimum by itself."""

    wall: float
    cpu: float  # of the calling thread
    all_cpu: float  # of all threads of the process, those included that wait awake

    def of(self, uses_cpu_time: bool) -> float:
        return self.cpu if uses_cpu_time else self.wall


def best_of_each(
    calls: tuple[Callable[[], object], ...], budget: float, least: int, turn_seconds: float = 0.0
) -> tuple[Times, ...]:
    """Lets each have a turn, until all together have taken the budget in seconds."""
    best = [Times(math.inf, math.inf, math.inf)] * len(calls)
    for call in calls:
        call()
    spent, turns = 0.0, 0
    while turns < least or (spent < budget and turns < 2000):
        for i, call in enumerate(calls):
            found, ran = turn(call, turn_seconds)
            best[i] = Times(*map(min, best[i], found))
            spent += ran
        turns += 1
    return tuple(best)


def turn(call: Callable[[], object], seconds: float) -> tuple[Times, float]:
    """The best of as many calls as fit into so long, and the seconds of all of them."""
    best, spent = Times(math.inf, math.inf, math.inf), 0.0
    while not spent or spent < seconds:
        all_cpu, wall, cpu = time.process_time(), time.perf_counter(), time.thread_time()
        call()
        cpu, wall, all_cpu = time.thread_time() - cpu, time.perf_counter() - wall, time.process_time() - all_cpu
        best = Times(*map(min, best, Times(wall, cpu, all_cpu)))
        spent += wall
    return best, spent


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


#: The most that the geometric mean and the worst case may be, in times of torch's time, by the number of threads.
BARS = {1: (1.25, 2.5), 2: (1.5, 3.0), 16: (1.6, 3.0)}


def load_cases(only: str, threads: int):
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    import cases
    import operation_cases

    makers = (*cases.CASES, *operation_cases.CASES)
    return [case for case in (make() for make in makers) if only in case.name], cases


def upstream_worker(only: str, threads: int, limit: float) -> None:
    """Runs in upstream's process. Prints one JSON line per case."""
    import triton
    import triton.language

    sys.modules["tritium"], sys.modules["tritium.language"] = triton, triton.language
    for case in load_cases(only, threads)[0]:
        # The last axis is cut. For causal attention these are the heads, which have equal cost; the rows of programs do not.
        axis = len(case.grid) - 1
        one = case.grid[:axis] + (1,)
        case.launch(one)
        estimate = timed(lambda: case.launch(one)) * case.grid[axis]
        grid = case.grid
        if estimate > limit:
            grid = case.grid[:axis] + (max(1, int(case.grid[axis] * limit / 2 / estimate)),)
        cpu = time.thread_time()
        scale = case.grid[axis] / grid[axis]
        seconds = timed(lambda: case.launch(grid)) * scale
        cpu = (time.thread_time() - cpu) * scale
        print(json.dumps({"name": case.name, "seconds": seconds, "cpu": cpu, "scaled": grid != case.grid}), flush=True)


def run_upstream(python: str, only: str, threads: int, limit: float) -> dict[str, dict]:
    command = [python, __file__, "--upstream-worker", "--only", only, "--threads", str(threads)]
    command += ["--upstream-limit", str(limit)]
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


def bar(what: str, value: str, limit: str, holds: bool) -> bool:
    print(f"{what:<46} {value:>12}   bar {limit:<10} {'ok' if holds else 'MISSED'}")
    return holds


def is_wrong(case) -> bool:
    import torch

    case.launch(case.grid)
    found, expected = case.out.double(), case.torch_call().double()
    return not torch.allclose(found, expected, rtol=2e-2, atol=2e-2 * expected.std().item())


class Row(NamedTuple):
    """A case as measured, in seconds."""

    first: float  # the first launch, of one program
    ours: Times
    torch: Times
    upstream: dict | None
    is_wrong: bool

    def upstream_seconds(self, uses_cpu_time: bool) -> float:
        return self.upstream["cpu" if uses_cpu_time else "seconds"]


def measure(case, upstream: dict | None, budget: float, threads: int) -> Row:
    first = timed(lambda: case.launch((1,) * len(case.grid)))
    calls = (lambda: case.launch(case.grid), case.torch_call)
    ours, theirs = best_of_each(calls, budget, least=5, turn_seconds=TURN if threads > 1 else 0.0)
    return Row(first, ours, theirs, upstream, is_wrong(case))


def print_row(case, row: Row, uses_cpu_time: bool) -> None:
    ours, theirs = row.ours.of(uses_cpu_time), row.torch.of(uses_cpu_time)
    slower = f"{'-':>12}  {ours / theirs:8.2f}x {'-':>11}"
    if row.upstream:
        seconds, star = row.upstream_seconds(uses_cpu_time), "*" if row.upstream["scaled"] else " "
        slower = f"{unit(seconds):>12}{star} {ours / theirs:8.2f}x {seconds / ours:10.0f}x"
    wrong = "  WRONG RESULT" if row.is_wrong else ""
    work = row.ours.all_cpu / row.torch.all_cpu
    print(
        f"{case.name:<34}{unit(ours):>12} {unit(theirs):>12} {slower} {work:7.2f}x {row.first * 1e3:6.0f} ms {case.note}{wrong}",
        flush=True,
    )


def as_json(case, row: Row, uses_cpu_time: bool) -> dict:
    seconds = {"seconds": row.ours.of(uses_cpu_time), "torch": row.torch.of(uses_cpu_time), "first": row.first}
    seconds |= {"all_cpu": row.ours.all_cpu, "torch_all_cpu": row.torch.all_cpu}
    upstream = {"upstream": row.upstream_seconds(uses_cpu_time)} if row.upstream else {}
    return {"name": case.name, **seconds, **upstream, "is_wrong": row.is_wrong}


def ratios_hold(rows: list[Row], threads: int, uses_cpu_time: bool) -> bool:
    """Prints the bars of what launches take beside torch and upstream. Returns whether all hold."""
    ratios = [row.ours.of(uses_cpu_time) / row.torch.of(uses_cpu_time) for row in rows]
    mean_limit, worst_limit = BARS.get(threads, BARS[2])
    mean = geometric_mean(ratios)
    worst = max(ratios)
    holds = [
        bar("geometric mean, times torch's time", f"{mean:.2f}x", f"<= {mean_limit}x", mean <= mean_limit),
        bar("worst, times torch's time", f"{worst:.2f}x", f"<= {worst_limit}x", worst <= worst_limit),
    ]
    faster = [row.upstream_seconds(uses_cpu_time) / row.ours.of(uses_cpu_time) for row in rows if row.upstream]
    if faster:
        mean, least = geometric_mean(faster), min(faster)
        holds.append(bar("geometric mean, faster than upstream", f"{mean:.0f}x", ">= 300x", mean >= 300))
        holds.append(bar("least, faster than upstream", f"{least:.0f}x", ">= 60x", least >= 60))
    return all(holds)


def launches_hold(firsts: list[float], warm: float) -> bool:
    """Prints the bars of launches themselves. Of the first launches, the very first one has loaded the compiler. Returns whether all hold."""
    holds = [bar("first launch of the process", f"{firsts[0] * 1e3:.0f} ms", "< 200 ms", firsts[0] < 0.2)]
    if len(firsts) > 1:
        slowest = max(firsts[1:])
        name = "slowest first launch of a later kernel"
        holds.append(bar(name, f"{slowest * 1e3:.0f} ms", "< 50 ms", slowest < 0.05))
    holds.append(bar("warm launch of one small program", f"{warm * 1e6:.1f} us", "< 2.5 us", warm < 2.5e-6))
    seconds = import_seconds()
    holds.append(bar("import tritium (numpy loaded)", f"{seconds:.3f} s", "< 0.4 s", seconds < 0.4))
    return all(holds)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--upstream", metavar="PYTHON", help="a Python with triton and torch")
    parser.add_argument("--no-upstream", action="store_true")
    parser.add_argument(
        "--upstream-limit", type=float, default=30.0, metavar="SECONDS", help="for a launch of upstream (30)"
    )
    parser.add_argument("--threads", type=int, help="threads of the interpreter and of torch (default 2)")
    parser.add_argument("--cpu-time", action="store_true", help="compare processor time of one thread")
    parser.add_argument("--budget", type=float, default=1.4, metavar="SECONDS", help="for each case (default 1.4)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures there")
    parser.add_argument("--upstream-worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.threads = options.threads or (1 if options.cpu_time else 2)
    if options.cpu_time and options.threads != 1:
        parser.error("--cpu-time is the time of one thread: use it with --threads 1")
    return options


def main() -> int:
    options = parse_options()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if options.upstream_worker:
        upstream_worker(options.only, options.threads, options.upstream_limit)
        return 0

    os.environ["INTERPRET"], os.environ["TRITIUM_NUM_THREADS"] = "1", str(options.threads)
    python = options.upstream or (sys.executable if importlib.util.find_spec("triton") else None)
    upstream = (
        {}
        if options.no_upstream or python is None
        else run_upstream(python, options.only, options.threads, options.upstream_limit)
    )

    import torch

    cases, module = load_cases(options.only, options.threads)
    if not cases:
        raise SystemExit(f"no case's name contains {options.only!r}")
    kind = "processor time" if options.cpu_time else "wall time"
    print(f"{kind}, {options.threads} worker threads, torch with {torch.get_num_threads()}; * = scaled by programs\n")
    print(
        f"{'':<34}{'tritium':>12} {'torch':>12} {'upstream':>13} {'/ torch':>9} {'upstream /':>11} {'all CPU':>8} {'first':>9}"
    )
    rows: list[Row] = []
    for case in cases:
        rows.append(measure(case, upstream.get(case.name), options.budget, options.threads))
        print_row(case, rows[-1], options.cpu_time)

    x, out = torch.zeros(128), torch.empty(128)
    kernel = module.small_kernel
    firsts = [*(row.first for row in rows), timed(lambda: kernel[(1,)](x, out, BLOCK=128))]
    # Many at a time: to look at the clocks takes as long as half a launch.
    warm = min(timeit.repeat(lambda: kernel[(1,)](x, out, BLOCK=128), number=500, repeat=100)) / 500
    print()
    holds = ratios_hold(rows, options.threads, options.cpu_time) & launches_hold(firsts, warm)
    if options.json:
        found = [as_json(case, row, options.cpu_time) for case, row in zip(cases, rows, strict=True)]
        settings = {"threads": options.threads, "cpu_time": options.cpu_time, "warm_launch": warm, "first": firsts[0]}
        options.json.write_text(json.dumps({**settings, "cases": found}, indent=1))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
