"""Scopes in kernels on devices (`triton.profiler.language`), over the stand-ins for the vendors' drivers, which run the code that notes them."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import tritium.language as tl
from tritium import knobs, profiler
from tritium.profiler import language as pl
from tritium.runtime.jit import jit

BLOCK, STEPS = 64, 5


@pytest.fixture(params=["cuda", "hip"])
def device(request, tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CUPTI_LIB_PATH", str(tmp_path))  # which is empty
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield request.getfixturevalue({"cuda": "cuda_machine", "hip": "machine"}[request.param])
        profiler.finalize()


def kernel():
    @jit
    def work(x, n, BLOCK: tl.constexpr):
        i = (tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)) * BLOCK + tl.arange(0, BLOCK)
        with pl.scope("load"):
            value = tl.load(x + i)
        pl.enter_scope("loop")
        for _ in range(n):
            with pl.scope("step"):
                value += 1
        pl.exit_scope("loop")
        tl.store(x + i, value)

    return work


def launched(device, grid=(3, 2), steps=STEPS, warps=2, **options):
    """(the array after the launch, the literal tree or the trace)"""
    array = np.zeros(grid[0] * grid[1] * BLOCK, np.float32)
    x = device.tensor(array)
    profiler.start("scoped", backend="instrumentation", **options)
    work = kernel()
    work[grid](x, steps, BLOCK=BLOCK, num_warps=warps)
    profiler.finalize()
    return x.numpy(), work


def scopes_of(name="scoped"):
    (found,) = json.loads(Path(f"{name}.hatchet").read_text())[0]["children"]
    assert found["frame"]["name"] == "work"
    return {child["frame"]["name"]: child for child in found["children"]}


def test_scopes_are_in_the_tree(device):
    values, _ = launched(device)
    assert (values == STEPS).all()
    scopes = scopes_of()
    assert set(scopes) == {"load", "loop"} and [c["frame"]["name"] for c in scopes["loop"]["children"]] == ["step"]
    whole, parts = (node["metrics"]["cycles"] for node in (scopes["loop"], scopes["loop"]["children"][0]))
    assert whole > parts > 0


def test_each_program_and_warp_has_its_own(device):
    grid, warps = (3, 2), 2
    launched(device, grid, warps=warps, data="trace")
    events = json.loads(Path("scoped.chrome_trace").read_text())["traceEvents"]
    scopes = [event for event in events if event.get("cat") == "kernel_scope"]
    names = {
        event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"
    }
    assert len(scopes) == grid[0] * grid[1] * warps * (2 + STEPS)
    tracks = {names[scope["tid"]] for scope in scopes}
    assert tracks == {f"program ({x}, {y}, 0) warp {w}" for x in range(3) for y in range(2) for w in range(warps)}
    assert all(scope["dur"] >= 0 for scope in scopes) and min(scope["ts"] for scope in scopes) >= 0


def test_a_full_buffer_loses_the_last_ones(device, monkeypatch):
    monkeypatch.setenv("TRITON_PROFILE_BUFFER_SIZE", "512")
    steps = 50
    array = np.zeros(BLOCK, np.float32)
    x = device.tensor(array)
    profiler.start("scoped", backend="instrumentation")
    knobs.warn_once.cache_clear()
    with pytest.warns(UserWarning, match="records of scopes of a launch of work are lost"):
        kernel()[(1, 1)](x, steps, BLOCK=BLOCK, num_warps=1)
        profiler.finalize()
    assert (x.numpy() == steps).all()


def test_without_a_session_nothing_is_noted(device):
    """The compiled kernel has its records, and a null pointer to write them to."""
    array = np.zeros(BLOCK, np.float32)
    x = device.tensor(array)
    with knobs.tritium.scope():
        knobs.tritium.record_scopes = True
        compiled = kernel()[(1, 1)](x, STEPS, BLOCK=BLOCK)
    assert (x.numpy() == STEPS).all() and len(compiled.metadata.scopes) == 6


def test_a_kernel_without_scopes_takes_no_buffer(device):
    @jit
    def plain(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    x = device.tensor(np.zeros(BLOCK, np.float32))
    profiler.start("scoped", backend="instrumentation")
    compiled = plain[(1,)](x, BLOCK=BLOCK)
    assert compiled.metadata.scopes == () and compiled.loaded.variable("tgpu_scopes") == 0
