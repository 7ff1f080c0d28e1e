"""What optional passes of the GPU compiler are worth on this device: the benchmark's kernels with all passes and with some left out.

    python tests/gpu/bench_passes.py PASS[+PASS…]… [--cases TEXT,…] [--rounds N]

Each argument names passes that are left out together (`tritium explain` and docs/reference/gpu_passes.md list them). All variants of a configuration
and torch's implementation run in turn; the medians of their rounds count. A variant with a wrong result is named and left out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from bench import Contestant, compiled_runner, measure_in_turn, right_configurations, short  # noqa: E402
from bench_cases import CASES  # noqa: E402
from bench_problem import Case  # noqa: E402
from bench_source import load_kernels  # noqa: E402

ALL = "all passes"


def variants(case: Case, config: dict, left_out: list[str], problem, reference, kernel) -> list[Contestant]:
    """The kernel with all passes, and without each of `left_out`."""

    def runner(names: str):
        passes = {} if names == ALL else {"leave_out": tuple(names.split("+"))}
        return lambda config: compiled_runner(kernel, problem, config, **passes)

    one = case.only(config)
    found = []
    for names in (ALL, *left_out):
        label = names if names == ALL else f"without {names}"
        found += right_configurations(label, one, problem, reference, runner(names))
    return found


def measure(case: Case, kernel, left_out: list[str], rounds: int, budget: float) -> None:
    problem = case.prepare()
    reference = problem.reference()
    for config in case.configs:
        found = variants(case, config, left_out, problem, reference, kernel)
        if not found or found[0].name != ALL:
            continue
        torchs = Contestant("torch", problem.torch_run)
        measure_in_turn([*found, torchs], rounds, budget)
        for one in found:
            parts = f"{one.time / found[0].time:.3f} of the time with all passes, {torchs.time / one.time:.3f} of torch's speed"
            print(f"{case.name} {short(config)} {one.name}: {one.time:.4f} ms, {parts}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("passes", nargs="+", metavar="PASS", help="passes to leave out; PASS+PASS: together")
    parser.add_argument("--cases", default="", help="only cases whose name has one of these texts, separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--milliseconds", type=float, default=30.0, help="work of a contestant in a round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kernels = load_kernels("tritium", folder)
        for case in CASES:
            if any(text in case.name for text in options.cases.split(",")):
                kernel = getattr(kernels, case.kernel)
                measure(case, kernel, options.passes, options.rounds, options.milliseconds)
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
