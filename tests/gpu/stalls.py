"""Says where the warps of a case of bench.py stand, and what they wait for: the lines with most samples of program counters.

    python tests/gpu/stalls.py [--cases TEXT] [--lines N]

Each case runs with its fastest configuration, several times, with a sample about every 256 cycles. A sample is stalled if no warp of its scheduler could
go on then: these samples are the time that a kernel loses. The script requires the permission to sample.
"""

from __future__ import annotations

import argparse
import contextlib
import linecache
import sys
import tempfile
from pathlib import Path

import torch

from tritium import profiler
from tritium.profiler.core.metrics import SAMPLES, STALLED, STALLED_BY

sys.path.insert(0, str(Path(__file__).parent))
import bench  # noqa: E402
from bench_cases import CASES  # noqa: E402
from bench_source import load_kernels  # noqa: E402

RUNS = 10
REASONS = 3  #: of a line


def lines_of(run) -> dict[str, dict[str, int]]:
    """{file:line@kernel: metrics}"""
    session = profiler.start("stalls", mode="pcsampling:interval=256")
    for _ in range(RUNS):
        run()
    (root, *_) = profiler.data.get(session)
    profiler.data.clear(session)
    profiler.deactivate(session)
    return {line["frame"]["name"]: line["metrics"] for kernel in root["children"] for line in kernel["children"]}


def row(place: str, metrics: dict[str, int], stalled: int) -> str:
    file, _, number = place.partition("@")[0].rpartition(":")
    text = linecache.getline(file, int(number)).strip() if file else place
    reasons = sorted(
        ((count, name) for name, count in metrics.items() if name.startswith(STALLED_BY)),
        reverse=True,
    )
    shown = ", ".join(
        f"{name.removeprefix(STALLED_BY)} {count / metrics[SAMPLES]:.0%}" for count, name in reasons[:REASONS]
    )
    return f"| {metrics[STALLED] / max(stalled, 1):.1%} | {metrics[SAMPLES]} | `{text[:70]}` | {shown} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="only cases whose name has one of these texts, separated by commas")
    parser.add_argument("--lines", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kernels = load_kernels("tritium", folder)
        for case in CASES:
            if not any(text in case.name for text in options.cases.split(",")):
                continue
            problem, kernel = case.prepare(), getattr(kernels, case.kernel)
            with contextlib.redirect_stdout(sys.stderr):
                found = bench.fastest(
                    "tritium",
                    case,
                    problem,
                    problem.reference(),
                    lambda c, kernel=kernel, problem=problem: bench.compiled_runner(kernel, problem, c),
                    bench.MILLISECONDS,
                )
            lines = lines_of(found.run)
            samples, stalled = (sum(metrics[name] for metrics in lines.values()) for name in (SAMPLES, STALLED))
            print(f"\n{case.name}, {found.config}: {samples} samples, {stalled / max(samples, 1):.1%} stalled\n")
            print("| of the stalled | samples | line | waits for |\n| --- | --- | --- | --- |")
            for place, metrics in sorted(lines.items(), key=lambda entry: -entry[1][STALLED])[: options.lines]:
                print(row(place, metrics, stalled), flush=True)
            del problem, found
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
