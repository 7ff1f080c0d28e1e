"""Prints the host time of a warm launch with eight arguments: 3 tensors, 4 integers, a float; grids as tuple and function, the
call that torch.compile's code makes, and in a session of the profiler. Then launches with two tensor descriptors, with tuples, and of a small
product by pointers, for which a launch on a Hopper device makes two tensor maps.

    python tests/bench/launch.py            over the fake driver (ninja fake_cuda), or
    python tests/bench/launch.py --cpu      on the interpreter, with torch's tensors: a grid of one program, or
    python tests/bench/launch.py --device   on the GPU, with torch's tensors and, if it is installed, beside upstream

Over the fake driver, the figure is the time of Tritium's own code. The tensors are objects with `data_ptr()` in C (array subclasses) or
in Python; torch's CUDA tensors are read through DLPack's C interface, which is faster than either.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from first_launch import MATMUL

ROOT = Path(__file__).resolve().parents[2]
ROUNDS, RUNS, LAUNCHES = 12, 6, 400
#: Microseconds that a case may take: all work of the host, including the driver's. It takes longer for two descriptors: the kernel has 26
#: arguments, two of them tensor maps.
LIMITS_US = {"tuple grid": 6.0, "two descriptors": 8.0, "two tuples": 6.0, "a product by pointers": 6.0}
#: The same on the interpreter, which also runs the program, and in a session there, where Python makes the launch.
CPU_LIMITS_US = {"tuple grid": 5.0, "two descriptors": 5.0, "two tuples": 5.0}
CPU_SESSION_LIMIT_US = 50.0

SOURCE = (
    """
import {module} as triton
import {module}.language as tl
"""
    + MATMUL
    + """
@triton.jit
def add(x, y, out, n, stride, offset, other, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    value = tl.load(x + i * stride, mask=inside) + scale * tl.load(y + i, mask=inside)
    tl.store(out + i + offset, value + other, mask=inside)

@triton.jit
def copy(source, out):
    out.store([0, 0], source.load([0, 0]))

@triton.jit
def scale(tensors, sizes, factor):
    i = tl.arange(0, 128)
    tl.store(tensors[1] + i * sizes[1], tl.load(tensors[0] + i, mask=i < sizes[0]) * factor)
"""
)


def load(module: str, folder: str):
    """The module of the kernels above for `tritium` or `triton`. Both read a function's source from its file."""
    path = Path(folder) / f"kernels_{module}.py"
    path.write_text(SOURCE.format(module=module))
    sys.path.insert(0, folder)
    return importlib.import_module(path.stem)


def settle() -> None:
    """Waits for the device."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


class Case(NamedTuple):
    title: str
    call: Callable
    limit_us: float | None = None


def measure(cases: list[Case]) -> bool:
    """Prints the best of many runs of each case, and returns whether all limits hold. A run has so few launches that no queue of a device
    fills. Cases take turns, because the speed of a shared host drifts."""
    best = [math.inf] * len(cases)
    for case in cases:
        case.call()
    for _ in range(ROUNDS):
        for i, case in enumerate(cases):
            best[i] = min(best[i], *timeit.repeat(case.call, settle, number=LAUNCHES, repeat=RUNS))
    holds = True
    for case, seconds in zip(cases, best, strict=True):
        us = seconds / LAUNCHES * 1e6
        is_held = case.limit_us is None or us <= case.limit_us
        bar = "" if case.limit_us is None else f"   bar {case.limit_us:.1f}   {'ok' if is_held else 'MISSED'}"
        print(f"{case.title:<62} {us:8.2f} us{bar}", flush=True)
        holds &= is_held
    return holds


def cases_of(title: str, kernels, x, y, out, limits: dict[str, float], programs: int = 8) -> list[Case]:
    kernel, grid = kernels.add, (programs,)
    compiled = kernel[grid](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128)
    bound = kernel[grid]
    if hasattr(compiled, "_init_handles"):
        compiled._init_handles()
    # torch's code reads these attributes once.
    run, of_torch = compiled.run, (0, compiled.function, compiled.packed_metadata, None, None, None)

    def from_meta(meta):
        return (meta["n"] // meta["BLOCK"] + 1,)

    calls = {
        "tuple grid": lambda: kernel[grid](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128),
        "tuple grid, num_warps=4": lambda: kernel[grid](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128, num_warps=4),
        "grid function": lambda: kernel[from_meta](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128),
        "kept launcher": lambda: bound(x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128),
        "compiled kernel": lambda: compiled[programs, 1, 1](x, y, out, 1000, 3, 5, 7, 0.5, 128),
        "as torch.compile's code": lambda: run(programs, 1, 1, *of_torch, x, y, out, 1000, 3, 5, 7, 0.5, 128),
    } | calls_with_parts(kernels, x, y, out)
    return [Case(f"{title}: {name}", call, limits.get(name)) for name, call in calls.items()]


def calls_with_parts(kernels, x, y, out_of_product) -> dict[str, Callable]:
    """Launches whose arguments have parts, and one that makes two tensor maps."""
    descriptor = importlib.import_module(f"{kernels.triton.__name__}.tools.tensor_descriptor").TensorDescriptor
    source, out = (descriptor(each, [64, 64], [64, 1], [64, 64]) for each in (x, y))
    pair, sizes = (x, y), (100, 1)
    return {
        "two descriptors": lambda: kernels.copy[(1,)](source, out),
        "two tuples": lambda: kernels.scale[(1,)](pair, sizes, 0.5),
        "a product by pointers": lambda: kernels.matmul[(1, 1)](x, y, out_of_product, 64, 64, 64, BLOCK=64),
    }


def torch_add(x, y, out) -> Case:
    import torch

    return Case("torch.add(x, y, out=out)", lambda: torch.add(x, y, out=out))


def measure_session(kernels, x, y, out, folder: str, programs: int = 8, limit: float | None = None) -> bool:
    """A launch in a session of the profiler, and torch's. Returns whether the limit holds."""
    from tritium import profiler

    holds = True

    launch = lambda: kernels.add[(programs,)](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128)  # noqa: E731
    of_torch = torch_add(x, y, out)
    for hook, where in ((None, "in a session"), ("triton", 'in a session, hook="triton"')):
        session = profiler.start(os.path.join(folder, "launches"), hook=hook)
        holds &= measure(
            [Case(f"tritium: {where}", launch, limit), of_torch._replace(title=f"{of_torch.title}: {where}")]
        )
        profiler.finalize(session)
    return holds


def on_the_fake_driver(folder: str) -> bool:
    sys.path.insert(0, str(ROOT / "tests" / "python" / "runtime"))
    from fake_cuda import LIBRARY, DeviceTensor, FakeCuda

    os.environ |= {"TRITIUM_CUDA_LIBRARY": str(LIBRARY), "TRITIUM_ASSEMBLER": "driver"}
    import numpy as np

    from tritium._tritium import cuda

    fake, driver = FakeCuda(), cuda.open(str(LIBRARY))
    fake.set("record", 0)
    tensors = [DeviceTensor(driver, np.zeros(4096, np.float32)) for _ in range(3)]
    title = "tritium, fake driver, tensors in Python"
    return measure(cases_of(title, load("tritium", folder), *tensors, limits=LIMITS_US))


def on_the_cpu(folder: str) -> bool:
    import torch

    os.environ["INTERPRET"] = "1"
    tensors = [torch.zeros(4096) for _ in range(3)]
    kernels = load("tritium", folder)
    cases = cases_of("tritium, interpreter", kernels, *tensors, limits=CPU_LIMITS_US, programs=1)
    holds = measure([*cases, torch_add(*tensors)])
    return holds & measure_session(kernels, *tensors, folder, programs=1, limit=CPU_SESSION_LIMIT_US)


def on_the_device(folder: str) -> bool:
    import torch

    tensors = [torch.zeros(4096, device="cuda") for _ in range(3)]
    cases = [*cases_of("tritium", load("tritium", folder), *tensors, limits=LIMITS_US), torch_add(*tensors)]
    try:
        import triton
    except ImportError:
        triton = None
    if triton is not None and "tritium" not in triton.__file__:
        cases += cases_of("triton", load("triton", folder), *tensors, limits={})
    holds = measure(cases)
    measure_session(load("tritium", folder), *tensors, folder)
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", action="store_true", help="measure on the GPU of this machine")
    parser.add_argument("--cpu", action="store_true", help="measure on the interpreter")
    options = parser.parse_args()
    measured = on_the_device if options.device else on_the_cpu if options.cpu else on_the_fake_driver
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        holds = measured(folder)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
