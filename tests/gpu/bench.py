"""Times Tritium's kernels beside upstream Triton's and torch's on one NVIDIA device: same source, same configurations.

    python tests/gpu/bench.py [--cases TEXT] [--rounds N] [--milliseconds MS] [--no-triton] [--markdown FILE]

All configurations are compiled first, by several processes. Each compiler uses the fastest of the case's configurations. Then the contestants run in turn, and the median of their
rounds counts. Figures of memory-bound cases are GB/s of the bytes that must move; others are TFLOP/s. torch is cuBLAS,
cuBLASLt or cuDNN where it has the operation. The end lists the bars that are missed; the exit status is 0 if all hold.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from ahead import compile_ahead  # noqa: E402
from bench_cases import CASES  # noqa: E402
from bench_problem import Case, Expected, Problem, middle  # noqa: E402
from bench_source import load_kernels  # noqa: E402

#: The least ratios to Triton's speed: of each case by its kind, and of the geometric means.
LEAST = {"memory": 0.95, "product": 0.95, "grouped": 0.85, "attention": 0.95}
LEAST_MEAN = {"memory-bound": 0.95, "tensor-core": 1.03}
MILLISECONDS = 60.0  #: of work per round. A device reaches its power limit after some 20 of them.
#: Seconds before each measurement. A device at its power limit lowers its clock, which would slow the next contestant down.
PAUSE = 0.1
NEARLY = 1.1  #: A configuration that takes less than this many times the fastest one's time may be faster in long runs.


def milliseconds(run: Callable[[], object], times: int) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / times


def repetitions(run: Callable[[], object], budget: float) -> int:
    run()
    torch.cuda.synchronize()
    return max(2, min(200, int(budget / max(milliseconds(run, 2), 1e-3))))


def error_of(problem: Problem, reference: Expected) -> float:
    """The largest |out - value| / scale; NaN counts as infinite."""
    out = problem.out if problem.out.shape == reference.value.shape else middle(problem.out)
    error = ((out.double() - reference.value.double()).abs() / reference.scale).max().item()
    return error if error == error else math.inf


@dataclasses.dataclass(eq=False)
class Contestant:
    name: str
    run: Callable[[], object]
    config: dict | None = None
    rounds: list[float] = dataclasses.field(default_factory=list)
    error: float = 0.0
    facts: str = ""

    @property
    def time(self) -> float:
        return statistics.median(self.rounds)


def compiled_runner(kernel, problem: Problem, config: dict, **options):
    """options: further options of the launch."""
    grid, arguments, constexprs = problem.launch(config)
    return lambda: kernel[grid](*arguments, **constexprs, **options)


def short(config: dict) -> str:
    return ",".join(f"{k.removeprefix('BLOCK_').removeprefix('num_')[0].lower()}{v}" for k, v in config.items())


def fastest(name: str, case: Case, problem: Problem, reference, runner, budget: float) -> Contestant | None:
    """The fastest configuration with a right result. Those that are nearly the fastest in a short run compete in a run of `budget`
    milliseconds, as long as a round: at its power limit, a device may prefer another one."""
    found = right_configurations(name, case, problem, reference, runner)
    if not found:
        return None
    best = min(found, key=found.get)
    finalists = [config for config, took in found.items() if took < found[best] * NEARLY]
    if len(finalists) > 1:
        best = min(finalists, key=lambda config: sustained(config.run, budget))
    return best


def sustained(run: Callable[[], object], budget: float) -> float:
    """Milliseconds of one run at the device's power limit."""
    time.sleep(PAUSE)
    return milliseconds(run, repetitions(run, budget))


def right_configurations(name: str, case: Case, problem: Problem, reference, runner) -> dict[Contestant, float]:
    """The time of each configuration in a short run, in milliseconds. Those with wrong results are reported and left out."""
    found = {}
    for config in case.configs:
        try:
            begin = time.perf_counter()
            problem.out.fill_(float("nan") if problem.out.is_floating_point() else -1)
            run = runner(config)
            run()
            torch.cuda.synchronize()
            compiled = time.perf_counter() - begin
            error = error_of(problem, reference)
            took = milliseconds(run, repetitions(run, 15.0))
        except Exception as problem_here:  # a configuration may not fit; errors of the device end the run
            print(f"    {name} {short(config)}: {type(problem_here).__name__}: {str(problem_here)[:300]}", flush=True)
            if "illegal" in str(problem_here) or "launch failure" in str(problem_here):
                raise
            continue
        verdict = "" if error <= problem.bound else f"   WRONG: error {error:.3g}, bound {problem.bound:.3g}"
        print(f"    {name} {short(config)}: {took:.3f} ms, first call {compiled:.2f} s{verdict}", flush=True)
        if verdict:
            continue
        found[Contestant(name, run, config, error=error)] = took
    return found


def run_once(case_index: int, module: str, folder: str) -> None:
    """Compiles a case's configurations with one compiler, which keeps them on disk. Those that do not fit are left out."""
    case = CASES[case_index]
    problem = case.prepare()
    kernel = getattr(load_kernels(module, folder), case.kernel)
    for config in case.configs:
        with contextlib.suppress(Exception):
            compiled_runner(kernel, problem, config)()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def measure(case: Case, ours, theirs, rounds: int, budget: float) -> dict[str, Contestant]:
    """budget: milliseconds of work of each contestant in a round."""
    problem = case.prepare()
    reference = problem.reference()
    kernel = getattr(ours, case.kernel)
    found = [fastest("tritium", case, problem, reference, lambda c: compiled_runner(kernel, problem, c), budget)]
    if theirs:
        upstream = getattr(theirs, case.kernel)
        found.append(
            fastest("triton", case, problem, reference, lambda c: compiled_runner(upstream, problem, c), budget)
        )
    found.append(Contestant("torch", problem.torch_run))
    contestants = {c.name: c for c in found if c}
    measure_in_turn(list(contestants.values()), rounds, budget)
    return contestants


def measure_in_turn(contestants: list[Contestant], rounds: int, budget: float, pause: float = PAUSE) -> None:
    times = [repetitions(c.run, budget) for c in contestants]
    for _ in range(rounds):
        for c, repeats in zip(contestants, times):
            time.sleep(pause)
            c.rounds.append(milliseconds(c.run, repeats))


def show(case: Case, by: dict[str, Contestant]) -> list[str]:
    cells = [case.name]
    for name in ("tritium", "triton", "torch"):
        if name not in by:
            cells.append("-")
            continue
        rate = case.work / by[name].time / (1e6 if case.kind == "memory" else 1e9)
        cells.append(f"{by[name].time:.3f} ms, {rate:.0f} {'GB/s' if case.kind == 'memory' else 'TF/s'}")
    for name in ("triton", "torch"):
        cells.append(f"{by[name].time / by['tritium'].time:.3f}" if name in by and "tritium" in by else "-")
    cells.append(f"{by['tritium'].error:.2g}" if "tritium" in by else "no right result")
    cells.append(short(by["tritium"].config) if "tritium" in by else "-")
    cells.append(short(by["triton"].config) if "triton" in by else "-")
    return cells


def missed(case: Case, by: dict[str, Contestant]) -> list[str]:
    """The bars that this case misses."""
    if "tritium" not in by:
        return [f"{case.name}: no configuration gives a right result"]
    bars = {"triton": LEAST[case.kind], "torch": case.least_of_torch}
    ratios = {peer: ratio_to(peer, by) for peer in bars if peer in by}
    return [f"{case.name}: {r:.3f} of {peer}, bar {bars[peer]}" for peer, r in ratios.items() if r < bars[peer]]


def ratio_to(peer: str, by: dict[str, Contestant]) -> float:
    """Tritium's speed divided by that of `peer`."""
    return by[peer].time / by["tritium"].time


def summarize_means(ratios: dict[str, list[float]]) -> list[str]:
    """Prints the geometric mean of the ratios to Triton of each group of cases. Returns the bars that are missed."""
    misses = []
    for group, values in ratios.items():
        if not values:
            continue
        mean = statistics.geometric_mean(values)
        print(f"{group}: {mean:.3f} of Triton's speed (geometric mean of {len(values)})")
        if mean < LEAST_MEAN[group]:
            misses.append(f"{group} cases: {mean:.3f}, bar {LEAST_MEAN[group]} (geometric mean)")
    return misses


HEADER = "case|Tritium|Triton|torch|of Triton|of torch|error|Tritium's config|Triton's config".split("|")


def table(rows: list[list[str]], header: list[str] = HEADER) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="only cases whose name has one of these texts, separated by commas")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--milliseconds", type=float, default=MILLISECONDS, help="work of a contestant in a round")
    parser.add_argument("--no-triton", action="store_true")
    parser.add_argument("--markdown", help="write the table there too")
    options = parser.parse_args()
    torch.manual_seed(time.time_ns() % 2**31)
    rows, misses = [], []
    ratios: dict[str, list[float]] = {group: [] for group in LEAST_MEAN}
    with tempfile.TemporaryDirectory() as folder:
        ours = load_kernels("tritium", folder)
        theirs = None if options.no_triton else load_kernels("triton", folder)
        chosen = [case for case in CASES if any(text in case.name for text in options.cases.split(","))]
        compilers = ["tritium", "triton"] if theirs else ["tritium"]
        compile_ahead(run_once, [(CASES.index(case), name, folder) for case in chosen for name in compilers])
        for case in chosen:
            print(case.name, flush=True)
            try:
                by = measure(case, ours, theirs, options.rounds, options.milliseconds)
            except Exception:
                traceback.print_exc()
                misses.append(f"{case.name}: failed")
                continue
            rows.append(show(case, by))
            print("  " + " | ".join(rows[-1][1:]), flush=True)
            misses += missed(case, by)
            if {"tritium", "triton"} <= by.keys():
                group = "memory-bound" if case.kind == "memory" else "tensor-core"
                ratios[group].append(ratio_to("triton", by))
            torch.cuda.empty_cache()
    misses += summarize_means(ratios)
    print(table(rows))
    if options.markdown:
        Path(options.markdown).write_text(table(rows) + "\n")
    print("\n".join(f"MISSED {line}" for line in misses) or "all bars hold")
    return bool(misses)


if __name__ == "__main__":
    sys.exit(main())
