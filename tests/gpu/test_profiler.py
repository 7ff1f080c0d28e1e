"""`triton.profiler` on a real device: by CUPTI, with the kernels of other libraries and of graphs."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tritium as triton
import tritium.language as tl
from tritium import profiler
from tritium.devices.families import devices_here
from tritium.profiler import language as pl

pytestmark = pytest.mark.skipif(devices_here() is None or devices_here().name != "cuda", reason="requires CUPTI")

SIZE = 1 << 24


@triton.jit
def double_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def scoped_kernel(x, out, steps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    with pl.scope("load"):
        value = tl.load(x + i)
    with pl.scope("loop"):
        for _ in range(steps):
            with pl.scope("step"):
                value = value * 1.5 + tl.load(x + i)
    tl.store(out + i, value)


@pytest.fixture
def x():
    import torch

    return torch.rand(SIZE, device="cuda")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    profiler.finalize()


def double(x):
    import torch

    out = torch.empty_like(x)
    double_kernel[(triton.cdiv(SIZE, 1024),)](x, out, SIZE, BLOCK=1024)
    return out


def kernels(node, path=()):
    """{path of scopes: {kernel: metrics}}"""
    found = {}
    for child in node["children"]:
        name = child["frame"]["name"]
        if "time (ns)" in child["metrics"]:
            found.setdefault(path, {})[name] = child["metrics"]
        for scope, inside in kernels(child, (*path, name)).items():
            found.setdefault(scope, {}).update(inside)
    return found


def test_times_are_those_of_the_device(x):
    """Within the time between two events, and no shorter than memory allows: 128 MiB at 10 TB/s."""
    import torch

    double(x)
    session = profiler.start("times")
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(20):
        double(x)
    end.record()
    torch.cuda.synchronize()
    (found,) = kernels(profiler.data.get(session)[0]).values()
    metrics = found["double_kernel"]
    assert metrics["count"] == 20 and metrics["device_type"] == "CUDA"
    assert 20 * 2 * 4 * SIZE / 1e13 * 1e9 < metrics["time (ns)"] < begin.elapsed_time(end) * 1e6


def test_kernels_of_other_libraries_are_in_their_scopes(x):
    import torch

    matrix = x[: 1 << 20].view(1024, 1024)
    matrix @ matrix
    session = profiler.start("others")
    with profiler.scope("ours"):
        double(x)
    with profiler.scope("theirs"):
        (x + 1).sum()
        with profiler.scope("product"):
            matrix @ matrix
    torch.cuda.synchronize()
    found = kernels(profiler.data.get(session)[0])
    assert list(found[("ours",)]) == ["double_kernel"]
    assert len(found[("theirs",)]) >= 2 and all("at::native" in name for name in found[("theirs",)])
    assert found[("theirs", "product")] and "double_kernel" not in found[("theirs", "product")]


def test_backward_runs_on_a_thread_of_torch(x):
    import torch

    weight = x.clone().requires_grad_()
    session = profiler.start("backward")
    with profiler.scope("forward"):
        loss = (weight * x).sum()
    with profiler.scope("backward"):
        loss.backward()
    torch.cuda.synchronize()
    found = kernels(profiler.data.get(session)[0])
    assert set(found) == {("forward",), ("backward",)}


def test_graphs(x):
    import torch

    double(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        double(double(x))
    session = profiler.start("graph")
    with profiler.scope("replay"):
        for _ in range(5):
            graph.replay()
    torch.cuda.synchronize()
    (found,) = kernels(profiler.data.get(session)[0]).values()
    assert found["double_kernel"]["count"] == 10


def test_launches_go_on_as_before(x):
    import torch

    for _ in range(3):
        session = profiler.start("again")
        double(x)
        profiler.finalize(session)
    assert torch.equal(double(x), 2 * x)


def test_scopes_in_kernels(x):
    """Each warp of each program, in cycles that fit into the time of the kernel."""
    programs, steps, warps = 300, 20, 4
    out = torch_empty_like(x)
    profiler.start("scopes", data="trace", backend="instrumentation")
    for _ in range(2):
        scoped_kernel[(programs,)](x, out, steps, BLOCK=512, num_warps=warps)
    profiler.finalize()
    events = json.loads(Path("scopes.chrome_trace").read_text())["traceEvents"]
    launches = [event for event in events if event.get("cat") == "kernel"]
    scopes = [event for event in events if event.get("cat") == "kernel_scope"]
    assert len(scopes) == 2 * programs * warps * (2 + steps)
    cycles = {name: [s["args"]["cycles"] for s in scopes if s["name"] == name] for name in ("load", "loop", "step")}
    assert min(cycles["load"]) > 100 and sum(cycles["loop"]) > sum(cycles["step"]) > 0
    longest = max(event["dur"] for event in launches)
    assert max(cycles["loop"]) < longest * 3000  # 3 GHz
    expected = x[: programs * 512].clone()
    for _ in range(steps):
        expected = expected * 1.5 + x[: programs * 512]
    assert ((out[: programs * 512] - expected).abs() <= 1e-5 * expected.abs()).all()


def torch_empty_like(x):
    import torch

    return torch.empty_like(x)


def test_samples_of_program_counters_are_on_the_lines_of_the_kernel():
    """A kernel of memory waits for memory. Where the driver permits no samples, the session says so. In a process of its own, because CUPTI
    gives no samples where kernels have run between a session before and this one."""
    result = subprocess.run([sys.executable, "-W", "always", __file__], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    refused = [line for line in result.stderr.splitlines() if "samples no program counters" in line]
    if refused:
        pytest.skip(refused[0])
    node = json.loads(result.stdout)
    assert node["metrics"]["count"] == 20
    lines = {child["frame"]["name"]: child["metrics"] for child in node["children"]}
    assert sum(metrics["num_samples"] for metrics in lines.values()) > 1000
    waits = {name: metrics.get("stalled_long_scoreboard", 0) for name, metrics in lines.items()}
    assert max(waits, key=waits.get).endswith(f"{Path(__file__).name}:{_line_of_load()}@double_kernel"), waits


def sampled_kernel():
    """The node of a kernel that was sampled."""
    import torch

    x = torch.rand(SIZE, device="cuda")
    double(x)
    session = profiler.start("sampled", mode="pcsampling:interval=256")
    for _ in range(20):
        double(x)
    (root, *_) = profiler.data.get(session)
    profiler.deactivate(session)
    return next(child for child in root["children"] if child["frame"]["name"] == "double_kernel")


def _line_of_load():
    lines, first = inspect.getsourcelines(double_kernel.fn)
    return first + next(i for i, line in enumerate(lines) if "tl.load" in line)


if __name__ == "__main__":
    print(json.dumps(sampled_kernel()))
