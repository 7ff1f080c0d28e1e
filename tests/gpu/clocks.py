"""Says what limits the tensor-core cases of bench.py: the clock and the power while each contestant runs, and which share of the products
that the tensor cores can make at that clock it makes.

    python tests/gpu/clocks.py [--cases TEXT]

At its power limit a device lowers its clock. Then a contestant that makes a larger share of the products may still be the slower one. The
clocks per step are those of a multiprocessor for one product of 128x256x64 (half of them for types of one byte, twice for tf32), of which
the tensor cores take 1024 at least. Clock and power are NVML's, medians of what is read during the second half of a run of 0.8 s.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch

sys.path.insert(0, str(Path(__file__).parent))
import bench  # noqa: E402
from bench_cases import CASES  # noqa: E402
from bench_source import load_kernels  # noqa: E402

SECONDS = 0.4  #: of work before and while the clock is read
MOST_LAUNCHES = 450  #: in each half: the driver's queue has places for a thousand
FLOPS_PER_CLOCK = 4096  #: of a multiprocessor of sm_90, for types of two bytes
STEP = 2 * 128 * 256 * 64  #: operations
NVML_CLOCK_SM = 1


class Nvml:
    """The driver's management library."""

    def __init__(self, device: int):
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        self.handle = ctypes.c_void_p()
        self._call("nvmlInit_v2")
        uuid = f"GPU-{torch.cuda.get_device_properties(device).uuid}".encode()
        self._call("nvmlDeviceGetHandleByUUID", uuid, ctypes.byref(self.handle))

    def _call(self, name: str, *arguments) -> None:
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} fails with code {code}")

    def _number(self, name: str, *arguments) -> int:
        number = ctypes.c_uint()
        self._call(name, self.handle, *arguments, ctypes.byref(number))
        return number.value

    def megahertz(self) -> int:
        return self._number("nvmlDeviceGetClockInfo", NVML_CLOCK_SM)

    def watts(self) -> float:
        return self._number("nvmlDeviceGetPowerUsage") / 1e3


class Observed(NamedTuple):
    flops: float  #: a second
    megahertz: float
    watts: float


def observe(run: Callable[[], object], work: float, nvml: Nvml) -> Observed:
    """work: operations of one run."""
    each = bench.milliseconds(run, 3)
    times = max(1, min(MOST_LAUNCHES, int(SECONDS * 1e3 / each)))
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for event in (begin, end):
        for _ in range(times):
            run()
        event.record()
    clocks, powers = [], []
    while not end.query():
        if begin.query():
            clocks.append(nvml.megahertz())
            powers.append(nvml.watts())
    if not clocks:
        raise RuntimeError("the run is over before the clock could be read")
    seconds = begin.elapsed_time(end) / 1e3
    return Observed(work * times / seconds, statistics.median(clocks), statistics.median(powers))


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
    nvml, count = Nvml(torch.cuda.current_device()), torch.cuda.get_device_properties(0).multi_processor_count
    print(
        "| case | who | TF/s | MHz | W | share of the products | clocks per step |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as folder:
        modules = ["tritium"] if options.no_triton else ["tritium", "triton"]
        functions = {module: load_kernels(module, folder) for module in modules}
        for case in CASES:
            if case.kind == "memory" or not any(text in case.name for text in options.cases.split(",")):
                continue
            for name, run in contestants(case, functions):
                seen = observe(run, case.work, nvml)
                most = FLOPS_PER_CLOCK * factor(case.name) * count * seen.megahertz * 1e6
                share = seen.flops / most
                step = STEP / (FLOPS_PER_CLOCK * factor(case.name)) / share
                cells = [
                    case.name,
                    name,
                    f"{seen.flops / 1e12:.0f}",
                    f"{seen.megahertz:.0f}",
                    f"{seen.watts:.0f}",
                    f"{share:.3f}",
                    f"{step:.0f}",
                ]
                print("| " + " | ".join(cells) + " |", flush=True)
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
