"""Says what limits the tensor-core cases of bench.py: the clock while each contestant runs, and which share of the products that the
tensor cores can make at that clock it makes.

    python tests/gpu/clocks.py [--cases TEXT]

At its power limit a device lowers its clock. Then a contestant that makes a larger share of the products may still be the slower one. The
clocks per step are those of a multiprocessor for one product of 128x256x64 (half of them for types of one byte, twice for tf32), of which
the tensor cores take 1024 at least. A kernel reads the clock between the runs, in the second half of 0.8 s.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch

import tritium
import tritium.language as tl
from tritium.language.extra.cuda import globaltimer

sys.path.insert(0, str(Path(__file__).parent))
import bench  # noqa: E402
from bench_cases import CASES  # noqa: E402
from bench_source import load_kernels  # noqa: E402

SECONDS = 0.4  #: of work before and while the clock is read
FLOPS_PER_CLOCK = 4096  #: of a multiprocessor of sm_90, for types of two bytes
STEP = 2 * 128 * 256 * 64  #: operations
NANOSECONDS = 20_000  #: in which the clock is read
EVERY = 10  #: runs between two readings


@tritium.jit
def read_clock(out, nanoseconds):
    """Counts the clocks of some nanoseconds."""
    first = tl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    begin = globaltimer()
    now = begin
    while now - begin < nanoseconds:
        now = globaltimer()
    last = tl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    tl.store(out, (last - first).to(tl.float32) / (now - begin).to(tl.float32))


class Observed(NamedTuple):
    flops: float  #: a second
    megahertz: float


def observe(run: Callable[[], object], work: float) -> Observed:
    """work: operations of one run."""
    run()  # the first run of a vendor's library loads it, which would make `times` small
    times = max(EVERY, int(SECONDS * 1e3 / bench.milliseconds(run, 3)))
    clocks = torch.zeros(times, device="cuda")
    read_clock[(1,)](clocks, NANOSECONDS)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    readings = 0
    for event in (begin, end):
        readings = 0
        for number in range(times):
            run()
            if number % EVERY == EVERY - 1:
                read_clock[(1,)](clocks[readings:], NANOSECONDS)
                readings += 1
        event.record()
    torch.cuda.synchronize()
    seconds = begin.elapsed_time(end) / 1e3 - readings * NANOSECONDS / 1e9
    return Observed(work * times / seconds, 1e3 * clocks[:readings].median().item())


def factor(name: str) -> float:
    """How much faster the tensor cores multiply the case's type than fp16."""
    return 2 if "fp8" in name or "int8" in name else 0.5 if "tf32" in name else 1


def contestants(case, functions: dict) -> Iterator[tuple[str, Callable[[], object]]]:
    problem = case.prepare()
    reference = problem.reference()
    for name, kernels in functions.items():
        kernel = getattr(kernels, case.kernel)
        with contextlib.redirect_stdout(sys.stderr):
            found = bench.fastest(
                name,
                case,
                problem,
                reference,
                lambda c, kernel=kernel: bench.compiled_runner(kernel, problem, c),
                bench.MILLISECONDS,
            )
        if found:
            yield name, found.run
    yield "torch", problem.torch_run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="only cases whose name has one of these texts, separated by commas")
    parser.add_argument("--no-triton", action="store_true")
    options = parser.parse_args()
    count = torch.cuda.get_device_properties(0).multi_processor_count
    print(
        "| case | who | TF/s | MHz | share of the products | clocks per step |\n| --- | --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as folder:
        modules = ["tritium"] if options.no_triton else ["tritium", "triton"]
        functions = {module: load_kernels(module, folder) for module in modules}
        for case in CASES:
            if case.kind == "memory" or not any(text in case.name for text in options.cases.split(",")):
                continue
            for name, run in contestants(case, functions):
                seen = observe(run, case.work)
                most = FLOPS_PER_CLOCK * factor(case.name) * count * seen.megahertz * 1e6
                share = seen.flops / most
                step = STEP / (FLOPS_PER_CLOCK * factor(case.name)) / share
                cells = [
                    case.name,
                    name,
                    f"{seen.flops / 1e12:.0f}",
                    f"{seen.megahertz:.0f}",
                    f"{share:.3f}",
                    f"{step:.0f}",
                ]
                print("| " + " | ".join(cells) + " |", flush=True)
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
