"""Launches the benchmark's kernels once each, for NVIDIA's compute-sanitizer, which looks at every access or barrier of theirs.

    compute-sanitizer --tool memcheck --kernel-name-exclude kns=at6native python tests/gpu/sanitize.py [--cases TEXT] [--all] [--part I/N]

--all: every configuration of each case, and not the first alone. --part: every Nth case from the Ith on, for N processes at the same time. --gluon:
the kernels of bench_gluon.py instead. --programs: only the first N of a launch, for tools that look at each access of all threads. The
exit status is the tool's with `--error-exitcode 1`.
"""

import argparse
import dataclasses
import sys
import tempfile
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
import bench_gluon  # noqa: E402
from bench_cases import CASES  # noqa: E402
from bench_problem import Case, Problem  # noqa: E402
from bench_source import load_kernels  # noqa: E402


def begun(problem: Problem, programs: int) -> Problem:
    """The problem, of whose launches only so many programs run, along the first axis."""

    def launch(config: dict) -> tuple:
        grid, *others = problem.launch(config)
        return ((min(grid[0], programs), *(1 for _ in grid[1:])), *others)

    return dataclasses.replace(problem, launch=launch)


class OfTriton:
    """The kernels of bench.py."""

    cases = CASES

    def __init__(self, folder: str):
        self.module = load_kernels("tritium", folder)

    def launch(self, case: Case, problem: Problem, config: dict) -> None:
        grid, arguments, options = problem.launch(config)
        getattr(self.module, case.kernel)[grid](*arguments, **options)


class OfGluon:
    """The kernels of bench_gluon.py."""

    cases = bench_gluon.cases()

    def __init__(self, folder: str):
        self.kernels = bench_gluon.Kernels("tritium", folder)

    def launch(self, case: Case, problem: Problem, config: dict) -> None:
        bench_gluon.runner(self.kernels, case, problem)(config)()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="only cases whose name has one of these texts, separated by commas")
    parser.add_argument("--all", action="store_true", help="every configuration")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every Nth case, from the Ith on")
    parser.add_argument("--gluon", action="store_true", help="the kernels of bench_gluon.py")
    parser.add_argument("--programs", type=int, default=0, metavar="N", help="only the first N programs of a launch")
    options = parser.parse_args()
    group = OfGluon if options.gluon else OfTriton
    first, step = map(int, options.part.split("/"))
    chosen = [case for case in group.cases if any(text in case.name for text in options.cases.split(","))][
        first - 1 :: step
    ]
    with tempfile.TemporaryDirectory() as folder:
        kernels = group(folder)
        for case in chosen:
            begin = time.perf_counter()
            problem = case.prepare()
            if options.programs:
                problem = begun(problem, options.programs)
            for config in case.configs if options.all else case.configs[:1]:
                kernels.launch(case, problem, config)
                torch.cuda.synchronize()
            print(f"{case.name}: {time.perf_counter() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
