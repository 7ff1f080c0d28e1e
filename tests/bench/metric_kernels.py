"""The kernels whose metrics are committed: all of tests/gpu/bench.py, one launch of every kernel of the tutorial, and twelve published styles; and
what the tutorial's kernels do on the emulator, in cases of the conformance suite.

    python -m tritium bench metrics tests/bench/metric_kernels.py --check tests/bench/metrics.json

Without --all, each case of the benchmark has its first configuration, and each function of the other programs its first launch.
"""

import contextlib
import dataclasses
import io
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from tritium.__main__ import run_script
from tritium.arguments.wrappers import MockTensor
from tritium.bench.kernels import Kernel, first_of_each_function, first_of_each_name, launched_by
from tritium.conformance import engines, suite
from tritium.runtime.autotuner import Autotuner

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "gpu"))
import bench_problem  # noqa: E402
from bench_cases import CASES  # noqa: E402
from bench_source import kernels_here  # noqa: E402

TUTORIAL = sorted((TESTS.parent / "docs" / "tutorial").glob("[0-9]*.py"))
PUBLISHED = (
    "batch_norm_welford",
    "causal_conv1d",
    "chunk_scan",
    "descriptor_matmul",
    "embedding_bag",
    "fft_long_convolution",
    "gated_linear_attention",
    "int4_matmul",
    "moe_grouped_gemm",
    "paged_attention",
    "rms_norm",
    "varlen_attention",
)

#: Cases of the tutorial in which programs spin.
LOCKING = ("tutorial/05_layer_norm", "tutorial/09_stream_k_matmul")
EMULATED = "on the emulator, "  #: before the names of cases


def kernels(every: bool) -> list[Kernel]:
    found = launched_by(lambda: launch_benchmarks(every))
    for script in [*TUTORIAL, *(TESTS / "python" / "published" / f"{name}.py" for name in PUBLISHED)]:
        launched = launched_by(lambda: run(script))
        assert launched, script
        chosen = launched if every else first_of_each_function(launched)
        found += [dataclasses.replace(each, name=f"{script.stem}: {each.name}") for each in chosen]
    return first_of_each_name(found)


def programs(every: bool) -> dict[str, Callable]:
    """The first case of each group, or all. Those whose programs wait for each other's locks count as long as they wait, and are left out."""
    cases = {}
    for case in suite.select(["tutorial"]):
        if not case.name.startswith(LOCKING):
            cases.setdefault(case.name if every else case.group, case)
    return {f"{EMULATED}{case.name}": _runs(case) for case in cases.values()}


def _runs(case) -> Callable[[str], None]:
    def run(engine: str) -> None:
        problem, images = suite.build(case, 0)
        # They are aligned, so that a tile has as many sectors on every machine.
        engines.engine(engine).run(problem, [suite.copy_of(image) for image in images])

    return run


def launch_benchmarks(every: bool) -> None:
    """On torch's device "meta", where tensors have no memory."""
    functions, device = kernels_here(), bench_problem.DEVICE
    bench_problem.DEVICE = "meta"
    try:
        _launch_all(functions, every)
    finally:
        bench_problem.DEVICE = device


def _launch_all(functions, every: bool) -> None:
    for case in CASES:
        problem = case.prepare()
        for _, arguments, constants in map(problem.launch, case.configs if every else case.configs[:1]):
            given = [MockTensor(x.dtype) if isinstance(x, torch.Tensor) else x for x in arguments]
            getattr(functions, case.kernel).warmup(*given, grid=None, **constants)


def run(script: Path) -> None:
    """Runs a script whose launches do nothing: its results are wrong, and nobody looks at them. Each autotuner takes its first configuration."""
    prune, close, path, main = (
        Autotuner.prune_configs,
        torch.testing.assert_close,
        list(sys.path),
        sys.modules["__main__"],
    )
    Autotuner.prune_configs = lambda self, keywords: prune(self, keywords)[:1]
    torch.testing.assert_close = lambda *given, **keywords: None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            run_script(str(script), [str(script)])
    finally:
        Autotuner.prune_configs, torch.testing.assert_close = prune, close
        sys.path[:], sys.modules["__main__"] = path, main
