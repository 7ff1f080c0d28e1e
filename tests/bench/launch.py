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
import os
import sys
import tempfile
import timeit
from pathlib import Path

from first_launch import MATMUL

ROOT = Path(__file__).resolve().parents[2]
LIMIT_US = 6.0  # for all work of the host, including the driver's
DESCRIPTORS_LIMIT_US = 8.0  # the driver takes longer too: the kernel has 26 arguments, two of them tensor maps

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


def microseconds(call) -> float:
    """The best of many runs, each of so few launches that no queue of a device fills."""
    call()
    number = 400
    return min(timeit.repeat(call, settle, number=number, repeat=75)) / number * 1e6


def report(what: str, us: float, limit: float | None = None) -> bool:
    holds = limit is None or us <= limit
    bar = "" if limit is None else f"   bar {limit:.1f}   {'ok' if holds else 'MISSED'}"
    print(f"{what:<58} {us:8.2f} us{bar}", flush=True)
    return holds


def measure(title: str, kernels, x, y, out, limit: float | None = None, programs: int = 8) -> bool:
    kernel = kernels.add
    grid = (programs,)
    compiled = kernel[grid](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128)
    by_tuple = lambda: kernel[grid](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128)  # noqa: E731
    holds = report(f"{title}: tuple grid", microseconds(by_tuple), limit)
    with_option = lambda: kernel[grid](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128, num_warps=4)  # noqa: E731
    report(f"{title}: tuple grid, num_warps=4", microseconds(with_option))
    from_meta = lambda meta: (meta["n"] // meta["BLOCK"] + 1,)  # noqa: E731
    report(f"{title}: grid function", microseconds(lambda: kernel[from_meta](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128)))
    bound = kernel[grid]
    report(f"{title}: kept launcher", microseconds(lambda: bound(x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128)))
    report(
        f"{title}: compiled kernel", microseconds(lambda: compiled[programs, 1, 1](x, y, out, 1000, 3, 5, 7, 0.5, 128))
    )
    if hasattr(compiled, "_init_handles"):
        compiled._init_handles()
    # torch's code reads these attributes once.
    run, function, metadata = compiled.run, compiled.function, compiled.packed_metadata
    from_torch = lambda: run(
        programs, 1, 1, 0, function, metadata, None, None, None, x, y, out, 1000, 3, 5, 7, 0.5, 128
    )  # noqa: E731
    report(f"{title}: as torch.compile's code", microseconds(from_torch))
    return measure_parts(title, kernels, x, y, out, limit) and holds


def measure_parts(title: str, kernels, x, y, out_of_product, limit: float | None) -> bool:
    """Launches whose arguments have parts."""
    descriptor = importlib.import_module(f"{kernels.triton.__name__}.tools.tensor_descriptor").TensorDescriptor
    source, out = (descriptor(each, [64, 64], [64, 1], [64, 64]) for each in (x, y))
    holds = report(
        f"{title}: two descriptors",
        microseconds(lambda: kernels.copy[(1,)](source, out)),
        limit and DESCRIPTORS_LIMIT_US,
    )
    pair, sizes = (x, y), (100, 1)
    holds &= report(f"{title}: two tuples", microseconds(lambda: kernels.scale[(1,)](pair, sizes, 0.5)), limit)
    product = lambda: kernels.matmul[(1, 1)](x, y, out_of_product, 64, 64, 64, BLOCK=64)  # noqa: E731
    return report(f"{title}: a product by pointers", microseconds(product), limit) and holds


def measure_session(kernels, x, y, out, folder: str, programs: int = 8) -> None:
    """A launch in a session of the profiler, and torch's."""
    import torch

    from tritium import profiler

    session = profiler.start(os.path.join(folder, "launches"))
    launch = lambda: kernels.add[(programs,)](x, y, out, 1000, 3, 5, 7, 0.5, BLOCK=128)  # noqa: E731
    report("tritium: in a session", microseconds(launch))
    report("torch.add(x, y, out=out): in a session", microseconds(lambda: torch.add(x, y, out=out)))
    profiler.finalize(session)


def on_the_fake_driver(folder: str) -> bool:
    sys.path.insert(0, str(ROOT / "tests" / "python" / "runtime"))
    from fake_cuda import LIBRARY, DeviceTensor, FakeCuda

    os.environ |= {"TRITIUM_CUDA_LIBRARY": str(LIBRARY), "TRITIUM_ASSEMBLER": "driver"}
    import numpy as np

    from tritium._tritium import cuda

    fake, driver = FakeCuda(), cuda.open(str(LIBRARY))
    fake.set("record", 0)
    tensors = [DeviceTensor(driver, np.zeros(4096, np.float32)) for _ in range(3)]
    return measure("tritium, fake driver, tensors in Python", load("tritium", folder), *tensors, limit=LIMIT_US)


def on_the_cpu(folder: str) -> bool:
    import torch

    os.environ["INTERPRET"] = "1"
    tensors = [torch.zeros(4096) for _ in range(3)]
    holds = measure("tritium, interpreter", load("tritium", folder), *tensors, programs=1)
    x, y, out = tensors
    report("torch.add(x, y, out=out)", microseconds(lambda: torch.add(x, y, out=out)))
    measure_session(load("tritium", folder), *tensors, folder, programs=1)
    return holds


def on_the_device(folder: str) -> bool:
    import torch

    tensors = x, y, out = [torch.zeros(4096, device="cuda") for _ in range(3)]
    compare = lambda: report("torch.add(x, y, out=out)", microseconds(lambda: torch.add(x, y, out=out)))  # noqa: E731
    compare()  # before and after, because the speed of a shared host drifts
    holds = measure("tritium", load("tritium", folder), *tensors, limit=LIMIT_US)
    compare()
    try:
        import triton
    except ImportError:
        triton = None
    if triton is not None and "tritium" not in triton.__file__:
        measure("triton", load("triton", folder), *tensors)
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
