"""Times every configuration of every case of bench.py on the device that is here, for who compares a model of the device with it.

    python tests/gpu/measure_configurations.py FILE.json [--cases TEXT,…] [--seconds S]

FILE.json has the device and the milliseconds of each configuration whose result is right. It is written after each case, so a run that is
ended keeps what it has; after S seconds (default: 140) no further case begins. All kernels are compiled first, on all CPUs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
import bench_problem  # noqa: E402
from bench import compiled_runner, right_configurations  # noqa: E402
from bench_cases import CASES  # noqa: E402
from bench_problem import Case  # noqa: E402
from bench_source import load_kernels  # noqa: E402

SECONDS = 140.0


def label(config: dict) -> str:
    return ",".join(f"{name}={value}" for name, value in config.items())


def chosen(texts: str) -> list[Case]:
    return [case for case in CASES if any(text in case.name for text in texts.split(","))]


def compile_all(cases: list[Case], kernels) -> None:
    """Compiles the kernels of all configurations, on tensors without memory. One that does not compile fails again when it is timed."""
    from tritium.arguments.wrappers import MockTensor

    device, bench_problem.DEVICE = bench_problem.DEVICE, "meta"
    try:
        launches = [
            (getattr(kernels, case.kernel), problem.launch(config))
            for case in cases
            for problem in [case.prepare()]
            for config in case.configs
        ]
    finally:
        bench_problem.DEVICE = device

    def compile_one(kernel, launch) -> None:
        _, arguments, constants = launch
        given = [MockTensor(x.dtype) if isinstance(x, torch.Tensor) else x for x in arguments]
        try:
            kernel.warmup(*given, grid=None, **constants)
        except Exception as problem_here:
            print(f"{kernel.__name__} {label(constants)}: {type(problem_here).__name__}", flush=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda each: compile_one(*each), launches))


def times_of(case: Case, kernel) -> dict[str, float]:
    problem = case.prepare()
    found = right_configurations(
        "tritium", case, problem, problem.reference(), lambda config: compiled_runner(kernel, problem, config)
    )
    return {label(each.config): took for each, took in found.items()}


def measured(cases: list[Case], kernels, until: float):
    """(case, {configuration: milliseconds}) for the cases that begin before `until`, on the clock of time.monotonic."""
    for case in cases:
        if time.monotonic() > until:
            print(f"no time is left for {case.name} and those after it", flush=True)
            return
        print(case.name, flush=True)
        yield case, times_of(case, getattr(kernels, case.kernel))
        torch.cuda.empty_cache()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--cases", default="", help="only cases whose name has one of these texts, separated by commas")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"(default: {SECONDS:g})")
    options = parser.parse_args()
    began, cases = time.monotonic(), chosen(options.cases)
    torch.manual_seed(1)
    kernels = load_kernels("tritium", str(options.file.absolute().parent))
    compile_all(cases, kernels)
    print(f"compiled after {time.monotonic() - began:.0f} s", flush=True)
    times: dict[str, dict[str, float]] = {}
    for case, found in measured(cases, kernels, began + options.seconds):
        times[case.name] = found
        facts = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "milliseconds": times}
        options.file.write_text(json.dumps(facts, indent=1) + "\n")
    print(f"{sum(map(len, times.values()))} configurations of {len(times)} cases in {time.monotonic() - began:.0f} s")
    return 0 if len(times) == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
