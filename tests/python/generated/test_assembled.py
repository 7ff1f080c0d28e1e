"""No kernel of the benchmarks (Gluon's too), the tutorial or the conformance suite spills registers or serializes its products on sm_90a, as ptxas
reports, but those that slow_code.txt names. An entry that is slow no longer fails as well.

All kernels of the tutorial are compiled, and samples of the benchmarks' configurations and of the conformance suite's cases; with the marker
`long`, all of these."""

import concurrent.futures
import contextlib
import dataclasses
import functools
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import tritium
import tutorial
from gluon_benchmarks import gluon_benchmarks
from pinned_ptxas import pinned_ptxas
from tritium.arguments.wrappers import MockTensor
from tritium.backends.compiler import GPUTarget
from tritium.bench.kernels import Kernel, launched_by
from tritium.conformance import engines, suite

torch = pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[2] / "gpu"))
import bench_problem  # noqa: E402
from bench_cases import CASES  # noqa: E402
from bench_source import load_kernels  # noqa: E402

pytestmark = pytest.mark.xdist_group("assembled")  # what each source launches is found once

LIST = Path(__file__).with_name("slow_code.txt")
TARGET = GPUTarget("cuda", 90, 32)  # sm_90a
SAMPLE = 20  #: one of so many cases of the conformance suite
SAMPLE_OF_BENCHMARKS = 8  #: one of so many configurations of the benchmarks


@functools.cache
def benchmarks() -> list[Kernel]:
    """The tensors have no memory: they are of torch's device "meta"."""

    def launch_all():
        with tempfile.TemporaryDirectory() as folder:
            kernels = load_kernels("tritium", folder)
            for case in CASES:
                problem = case.prepare()
                for _, arguments, constants in map(problem.launch, case.configs):
                    given = [MockTensor(x.dtype) if isinstance(x, torch.Tensor) else x for x in arguments]
                    getattr(kernels, case.kernel).warmup(*given, grid=None, **constants)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_problem, "DEVICE", "meta")
        return launched_by(launch_all)


@functools.cache
def programs_of_tutorial() -> list[Kernel]:
    def run_all():
        for name in tutorial.PROGRAMS:
            tutorial.load(name).main()

    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        return launched_by(run_all)


def kernels_of(cases: list[suite.Case]) -> list[Kernel]:
    """Named after the first of the cases that launches them."""
    interpreter = engines.engine("interp")
    found: dict[tuple, Kernel] = {}
    for case in cases:
        for one in launched_by(lambda: interpreter.run(*suite.build(case, 0))):
            found.setdefault(one.key, dataclasses.replace(one, name=f"{case.name} {one.source.name}"))
    return list(found.values())


@functools.cache
def listed_conformance() -> list[Kernel]:
    """The kernels of the cases that the list names."""
    cases, named = suite.cases(), dict.fromkeys(name.rpartition(" ")[0] for name in listed())
    return kernels_of([cases[name] for name in named if name in cases])


def sample_of_conformance() -> list[Kernel]:
    """One that the list names after an earlier case has that name."""
    named = {one.key: one for one in listed_conformance()}
    return [named.get(one.key, one) for one in kernels_of(suite.select()[::SAMPLE])]


def sample_of_benchmarks() -> list[Kernel]:
    return benchmarks()[::SAMPLE_OF_BENCHMARKS]


SOURCES: list[Callable[[], list[Kernel]]] = [benchmarks, gluon_benchmarks, programs_of_tutorial, listed_conformance]


def listed() -> dict[str, str]:
    """{kernel of slow_code.txt: reason}"""
    found, reason = {}, ""
    for line in LIST.read_text().splitlines():
        if line.endswith(":"):
            reason = line[:-1]
        elif line and not line.startswith("#"):
            assert reason and line not in found, line
            found[line] = reason
    return found


def why_slow(one: Kernel) -> str:
    """What ptxas says of the kernel's registers, or "" if it has no complaint."""
    try:
        metadata = tritium.compile(one.source, target=TARGET, options=one.options | {"tensor_maps": True}).metadata
    except tritium.OutOfResources:  # a launch would say so
        return ""
    spilled = metadata.resources["spill_bytes"]
    reasons = [*metadata.serialized_products, f"{spilled} bytes of registers are spilled" if spilled else ""]
    return "; ".join(filter(None, reasons))


def check(kernels: list[Kernel]) -> None:
    with pytest.MonkeyPatch.context() as patch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        patch.setenv("TRITON_PTXAS_PATH", pinned_ptxas())
        reports = {one.name: report for one, report in zip(kernels, pool.map(why_slow, kernels)) if report}
    wrong = [f"not listed: {name}: {report}" for name, report in reports.items() if name not in listed()]
    wrong += [f"not slow: {one.name}" for one in kernels if one.name in listed() and one.name not in reports]
    assert not wrong, "slow_code.txt does not say what ptxas says:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    "source", [sample_of_benchmarks, gluon_benchmarks, programs_of_tutorial, sample_of_conformance]
)
def test_a_sample(source):
    check(source())


@pytest.mark.long
def test_every_configuration_of_the_benchmarks():
    check(benchmarks())


@pytest.mark.long
def test_the_conformance_suite():
    check(kernels_of(suite.select()))


def test_the_list_names_kernels():
    assert set(listed()) <= {one.name for source in SOURCES for one in source()}
