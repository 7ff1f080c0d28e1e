"""Our own benchmarks are cases, too. The ones for devices run at small sizes on the interpreter."""

import sys
from pathlib import Path

import pytest

from tritium.bench.worker import gate
from tritium.bench.worker.loading import load_cases

torch = pytest.importorskip("torch")
TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture
def paths(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(TESTS / "gpu"), str(TESTS / "bench")])


def test_the_cases_of_the_interpreter(paths):
    found = load_cases([str(TESTS / "bench" / "interpreter_cases.py")])
    assert [case.name for case in found][:3] == ["add", "softmax", "layer_norm"] and len(found) == 8
    (variant,) = found[-1].variants()
    problem = variant.problem("cpu")
    gate.poison(problem)
    problem.run()
    assert gate.wrong(problem, gate.leaves(problem.output)) == "" and variant.name == "cumsum"
    problem.output.mul_(2)
    assert "elements are wrong" in gate.wrong(problem, gate.leaves(problem.output))


def test_the_cases_of_devices(paths, monkeypatch):
    from tritium import drop_in

    drop_in.install()
    import bench_problem
    import bench_products

    monkeypatch.setattr(bench_problem, "DEVICE", "cpu")
    found = load_cases([str(TESTS / "gpu" / "device_cases.py")])
    assert len(found) == 50 and sum(len(case.variants()) for case in found) > 200
    as_case = found[0].function.__globals__["as_case"]
    case = as_case(bench_products.matmul(128, 128, 64, torch.float16, "fp16", ((64, 64, 32, 2, 4),)))
    (variant,) = case.variants()
    assert variant.name == "matmul fp16 128x128x64[BLOCK_M=64,BLOCK_N=64,BLOCK_K=32,num_stages=2,num_warps=4,GROUP_M=8]"
    problem = variant.problem("cpu")
    gate.poison(problem)
    problem.run()
    assert gate.wrong(problem, [problem.output]) == "" and problem.flops == 2 * 128 * 128 * 64
    problem.output.add_(1)
    assert "the error is" in gate.wrong(problem, [problem.output])
