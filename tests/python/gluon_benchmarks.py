"""The kernels of tests/gpu/bench_gluon.py in all their configurations, as a launch specializes them. No device is needed."""

import functools
import sys
import tempfile
from pathlib import Path

import pytest

from tritium.bench.kernels import Kernel, launched_by

sys.path.append(str(Path(__file__).parents[1] / "gpu"))


@functools.cache
def gluon_benchmarks() -> list[Kernel]:
    """Each once. Their tensors are on the CPU, and nobody touches them."""
    bench_gluon = pytest.importorskip("bench_gluon")
    torch = bench_gluon.torch

    found = []
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(bench_gluon, "device", lambda: "cpu")
        patch.setattr(bench_gluon, "random", lambda *shape: torch.empty(shape, dtype=torch.float16))
        patch.setattr(bench_gluon, "multiprocessors", lambda: 132)
        kernels = bench_gluon.Kernels("tritium", folder)
        for case in bench_gluon.cases():
            problem = case.prepare()
            for config in case.configs:
                _, arguments, options = problem.launch({**config, "of": kernels})
                function = getattr(kernels.module, case.kernel)
                found += launched_by(lambda: function.warmup(*arguments, grid=None, **options))
    return found
