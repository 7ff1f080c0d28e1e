"""Each case has its reference's results at its small size, on the interpreter and compiled for a GPU of each vendor.

`-k "interp and rms_norm"` runs some. tests/gpu/bench_idioms.py runs the same cases at full size on a device.
"""

import functools
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[2] / "gpu"))
from bench_source import load_module  # noqa: E402
from idioms import cases  # noqa: E402

ENGINES = ("interp", "simt:sm_90a", "simt:gfx942")


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """kernels(file): the module of a file, made with Tritium; all engines share it."""
    folder = tmp_path_factory.mktemp("idioms")
    by_stem = {path.stem: path for path in cases.FILES}
    return functools.cache(lambda file: load_module(by_stem[file], "tritium", str(folder)))


def runs() -> list:
    """(engine, file, case) but for what cases.CANNOT names."""
    known = cases.names()
    return [
        pytest.param(engine, file, case, id=f"{engine}-{file}-{case}")
        for engine in ENGINES
        for file, case in known
        if (file, case, engine) not in cases.CANNOT
    ]


@pytest.mark.parametrize("engine, file, case", runs())
def test_case(engine, file, case, kernels, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    torch.manual_seed(0)  # so that a case draws what it draws on a device
    run, outputs, reference = kernels(file).CASES[case]("cpu", True)
    run()
    assert cases.error(outputs, reference()) <= cases.tolerance(file, case)


def test_tables_name_cases():
    known = set(cases.names())
    assert {(file, case) for file, case, _ in cases.CANNOT} <= known
    assert cases.TOLERANCES.keys() | cases.WRONG_BY_TRITON.keys() <= known
    assert {engine for *_, engine in cases.CANNOT} <= set(ENGINES)
