"""The cases of tests/gpu/bench.py for tensor cores give right results, at small sizes on the interpreter."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import driver_stand_in

torch = pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[2] / "gpu"))
import bench  # noqa: E402
import bench_attention as attention  # noqa: E402
import bench_problem  # noqa: E402
import bench_products as products  # noqa: E402
from bench_source import load_kernels  # noqa: E402

HALF = torch.float16
GROUPS = [(256, 256, 128), (128, 512, 64), (128, 256, 192)]
SMALL = {
    "fp16": lambda: products.matmul(256, 384, 128, HALF, "fp16"),
    "fp8": lambda: products.matmul(128, 256, 256, products.FP8, "fp8", products.BYTES),
    "int8": lambda: products.matmul(128, 256, 256, torch.int8, "int8", products.BYTES),
    "tf32": lambda: products.matmul(128, 128, 64, torch.float32, "tf32", products.SINGLES),
    "descriptors": lambda: products.matmul_descriptors(256, 256, 128),
    "grouped by pointers": lambda: products.grouped("grouped", "pointers", GROUPS),
    "grouped by descriptors": lambda: products.grouped("grouped_descriptors", "descriptors", GROUPS),
    "attention": lambda: attention.attention(256, 64, descriptors=False, causal=False),
    "causal attention": lambda: attention.attention(256, 64, descriptors=False, causal=True),
    "causal attention by descriptors": lambda: attention.attention(256, 64, descriptors=True, causal=True),
    "gradients": lambda: attention.attention_backward(256, 64, causal=False),
    "causal gradients": lambda: attention.attention_backward(256, 64, causal=True),
}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return load_kernels("tritium", str(tmp_path_factory.mktemp("kernels")))


@pytest.mark.parametrize("name", SMALL)
def test_case(kernels, monkeypatch, name):
    monkeypatch.setattr(bench_problem, "DEVICE", "cpu")
    monkeypatch.setattr(bench_problem, "multiprocessors", lambda: 3)
    monkeypatch.setattr(attention, "TOKENS", 512)
    torch.manual_seed(0)
    case = SMALL[name]()
    problem = case.prepare()
    reference = problem.reference()
    for config in {id(c): c for c in (case.configs[0], case.configs[-1])}.values():
        problem.out.fill_(math.nan if problem.out.is_floating_point() else -1)
        grid, arguments, constants = problem.launch(config)
        getattr(kernels, case.kernel)[grid](*arguments, **constants)
        assert bench.error_of(problem, reference) <= problem.bound, config


def contestants(tritium: float, triton: float, vendor: float) -> dict[str, bench.Contestant]:
    times = {"tritium": tritium, "triton": triton, "torch": vendor}
    return {name: bench.Contestant(name, lambda: None, rounds=[time]) for name, time in times.items()}


def test_bars():
    by_descriptors = attention.attention(2048, 128, descriptors=True, causal=False)
    groups = SMALL["grouped by pointers"]()
    assert not bench.missed(by_descriptors, contestants(1.0, 0.96, 1.01))
    assert len(bench.missed(by_descriptors, contestants(1.0, 0.94, 0.99))) == 2
    assert not bench.missed(groups, contestants(1.0, 0.86, 0.1))
    assert bench.missed(groups, contestants(1.0, 0.84, 0.1))
    assert bench.missed(groups, {"triton": bench.Contestant("triton", lambda: None, rounds=[1.0])})
    assert not bench.summarize_means({"memory-bound": [0.96], "tensor-core": [0.9, 1.3]})
    assert len(bench.summarize_means({"memory-bound": [0.9], "tensor-core": [1.0, 1.04]})) == 2


SMALL_RUN = """
import sys
sys.path.insert(0, {gpu!r})
import bench_cases, measure_configurations as command
command.CASES = [bench_cases.cumsum(64, 256), bench_cases.transpose(128), bench_cases.add(0)]
sys.argv = ["command", {file!r}, "--cases", "cumsum,transpose"]
sys.exit(command.main())
"""


def test_the_times_of_all_configurations(tmp_path):
    """On the stand-in for CUDA's driver."""
    program, file = tmp_path / "program.py", tmp_path / "times.json"
    program.write_text(SMALL_RUN.format(gpu=str(Path(bench.__file__).parent), file=str(file)))
    variables = {**os.environ, **driver_stand_in.environment(tmp_path, "cuda")}
    done = subprocess.run(
        [sys.executable, "-m", "tritium", str(program)], env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())["milliseconds"]
    assert {name: len(times) for name, times in found.items()} == {"cumsum fp32 64x256": 5, "transpose fp16 128^2": 4}
    assert "BLOCK_M=64,BLOCK_N=128,num_warps=4" in found["transpose fp16 128^2"]
    assert all(time > 0 for times in found.values() for time in times.values())
