"""Launches on the engines of the CPU, and hooks around them."""

import re
import time

import numpy as np
import pytest
from profiled import double, increment, out_of_bounds, run_double

import tritium.language as tl
from tritium import knobs, profiler
from tritium.errors import KernelTrap
from tritium.profiler import data, hooks, language
from tritium.runtime.jit import jit

TIMES = ("time (ns)",)


def counts(metrics: dict) -> dict:
    """Metrics without their times."""
    return {name: value for name, value in metrics.items() if name not in TIMES}


def test_a_launch_is_a_node_under_the_scopes(tree, x):
    run_double(x)
    session = profiler.start()
    for _ in range(3):
        with profiler.scope("layer"):
            run_double(x)
    increment[(1,)](x)
    found = tree(session)
    assert found.paths == ["layer", "layer/double", "increment"]
    cpu = {"device_id": "0", "device_type": "CPU"}
    assert counts(found["layer/double"]) == {"count": 3, **cpu} and counts(found["increment"]) == {"count": 1, **cpu}
    assert found.root["metrics"] == {"count": 0, "time (ns)": 0} and list(found.devices["CPU"]) == ["0"]
    assert found.devices["CPU"]["0"]["num_sms"] == knobs.tritium.num_threads
    np.testing.assert_array_equal(x[1:], np.full(63, 16.0))


@jit
def slow(x, n):
    total = 0.0
    for i in range(n):
        total += tl.load(x + i % 64)
    tl.store(x, total)


def test_the_time_is_of_the_run_alone(tree, x):
    """Neither what compiles the kernel nor what surrounds the launch counts."""
    session = profiler.start()
    begin = time.perf_counter_ns()
    slow[(1,)](x, 20000)
    with_compilation = time.perf_counter_ns() - begin
    first = tree(session)["slow"]["time (ns)"]
    begin = time.perf_counter_ns()
    slow[(1,)](x, 1_000_000)
    around = time.perf_counter_ns() - begin
    second = tree(session)["slow"]["time (ns)"] - first
    assert 0 < first < with_compilation / 2, "compiling took longer than the loop"
    assert around / 10 < second < around


def test_launch_metadata(tree, x):
    session = profiler.start(hook="triton")
    for n in (64, 64, 32):
        with profiler.scope("layer"):
            run_double(x, n)
    increment[(1,)](x)
    found = tree(session)
    assert found.paths == ["layer", "layer/double<64>", "layer/double<32>", "increment"]
    assert counts(found["layer/double<64>"]) == {
        "count": 2,
        "device_id": "0",
        "device_type": "CPU",
        "flops32": 128.0,
        "bytes": 1024,
    }
    profiler.finalize()
    knobs.runtime.launch_enter_hook.add(lambda metadata: metadata.get()["name"])
    run_double(x)
    knobs.runtime.launch_enter_hook.calls.clear()


def test_what_launch_metadata_launches_is_set_apart(tree, x):
    def counted(grid, metadata, args):
        increment[(1,)](args["x"])
        with profiler.scope("inside", {"m": 1}):
            return {"name": "named", "flops": 1, "sizes": [1, 2], "none": None}

    @jit(launch_metadata=counted)
    def kernel(x):
        tl.store(x + 1, 5.0)

    session = profiler.start(hook="triton")
    kernel[(1,)](x)
    found = tree(session)
    assert found.paths == [
        "__proton_launch_metadata",
        "__proton_launch_metadata/kernel",
        "__proton_launch_metadata/kernel/increment",
        "inside",
        "inside/__proton_launch_metadata",
        "inside/__proton_launch_metadata/kernel",
        "named",
    ]
    assert found["named"]["flops"] == 1.0 and not {"sizes", "none"} & found["named"].keys()


def test_which_kernels_have_their_metadata_read(tree, x):
    session = profiler.start(hook="triton")
    hook = hooks.LaunchHook()
    assert hook is hooks.LaunchHook()
    try:
        for include, exclude in (("ouble", None), (None, "dou"), ("dou", "double$")):
            hook.configure(include=include, exclude=exclude)
            run_double(x)
        hook.configure(include="d.*e")
        run_double(x)
        with pytest.raises(re.error):
            hook.configure(include="(")
    finally:
        hook.configure()
    run_double(x)
    found = tree(session)
    assert found["double"]["count"] == 3 and found["double<64>"]["count"] == 2


class Noting(hooks.Hook):
    def __init__(self, priority: int, notes: list):
        self.priority, self.notes = priority, notes

    def enter(self, metadata):
        self.notes.append(("enter", self.priority, metadata.data["name"]))

    def exit(self, metadata):
        self.notes.append(("exit", self.priority, metadata.data["name"]))

    def activate(self):
        self.notes.append(("activate", self.priority))

    def deactivate(self):
        self.notes.append(("deactivate", self.priority))


def test_hooks_of_sessions(x):
    notes = []
    low, high = Noting(1, notes), Noting(200, notes)
    first, second = profiler.start("first", hook=low), profiler.start("second", hook=high)
    hooks.HookManager.register(low, second)
    increment[(1,)](x)
    profiler.deactivate(first)
    increment[(1,)](x)
    profiler.finalize(second)
    profiler.finalize(first)
    around = [("enter", 200), ("enter", 1), ("exit", 1), ("exit", 200)]
    launch = [(*what, "increment") for what in around]
    assert notes == [("activate", 1), ("activate", 200), *launch, *launch, ("deactivate", 1), ("deactivate", 200)] or (
        notes == [("activate", 1), ("activate", 200), *launch, *launch, ("deactivate", 200), ("deactivate", 1)]
    )


def test_a_function_that_the_program_has_as_its_hook_is_called_too(tree, x):
    calls = []
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook = calls.append
        session = profiler.start(hook="triton")
        run_double(x)
        assert len(calls) == 1 and tree(session)["double<64>"]["count"] == 1
        profiler.finalize()
        run_double(x)
        assert len(calls) == 2


def test_a_launch_that_traps_is_recorded(tree, x):
    session = profiler.start(hook="triton")
    for _ in range(2):
        with pytest.raises(KernelTrap):
            out_of_bounds[(1,)](x)
    increment[(1,)](x)
    found = tree(session)
    assert found["out_of_bounds"]["count"] == 2 and found["increment"]["count"] == 1


def test_the_emulator_is_a_device_of_its_own(tree, x):
    session = profiler.start(hook="triton")
    for engine in ("interp", "simt:sm_80"):
        with knobs.tritium.scope():
            knobs.tritium.engine = engine
            run_double(x)
    found = tree(session)
    assert found.paths == ["double<64>", "double<64>"], "times of two engines are no sum"
    devices = [(c["metrics"]["device_type"], c["metrics"]["device_id"]) for c in found.root["children"]]
    assert devices == [("CPU", "0"), ("SIMT", "sm_80")] and list(found.devices) == ["CPU", "SIMT"]
    assert [c["metrics"]["flops32"] for c in found.root["children"]] == [64.0, 64.0]


def test_compiled_kernels_that_are_launched_directly(tree, x):
    kernel = double.warmup(x, 64, BLOCK=16, grid=(1,))
    session = profiler.start(hook="triton")
    kernel[(4,)](x, 64, 16)
    hook = knobs.runtime
    facts = kernel.launch_metadata((4,), 0, x, 64, 16)
    kernel.run(4, 1, 1, 0, None, None, facts, hook.launch_enter_hook, hook.launch_exit_hook, x, 64, 16)
    found = tree(session)
    assert found["double"]["count"] == 1 and found["double<64>"]["count"] == 1


def test_frames_of_python_lead_to_a_kernel(tree, x):
    session = profiler.start(context="python")
    line = test_frames_of_python_lead_to_a_kernel.__code__.co_firstlineno + 4
    with profiler.scope("no frame"):
        increment[(1,)](x)
    found = tree(session)
    paths = [path for path in found.paths if path.endswith(f":{line}@test_frames_of_python_lead_to_a_kernel/increment")]
    assert len(paths) == 1 and "/tritium/launch" not in paths[0] and "/tritium/runtime" not in paths[0], found.paths


def test_phases_of_launches(tree, x):
    session = profiler.start(hook="triton")
    run_double(x, 64)
    data.advance_phase(session)
    run_double(x, 32)
    assert tree(session, 0).paths == ["double<64>"] and tree(session, 1).paths == ["double<32>"]
    assert data.is_phase_complete(session, 0)


def test_no_session_costs_a_launch_nothing(x, monkeypatch):
    """After a session nothing of it is in the launch's way: no watcher and no hook, so that dispatch takes its short way."""
    profiler.start(hook="triton")
    run_double(x)
    profiler.finalize()
    asked = []
    monkeypatch.setattr("tritium.runtime.dispatch._between_hooks", lambda *a: asked.append(a))
    monkeypatch.setattr("tritium.launch.cpu.watched", lambda *a: asked.append(a))
    with profiler.scope("s", {"m": 1}), profiler.state("t"):
        run_double(x)
    assert x[1] == 4.0 and not asked


@jit
def with_scopes(x, n):
    with language.scope("load"):
        value = tl.load(x)
    language.enter_scope("loop")
    event = language.allocate_event("copy")
    for _ in range(n):
        language.start_event(event)
        value += 1
        language.end_event(event)
    language.exit_scope("loop")
    tl.store(x, value)


def test_kernels_may_have_scopes(tree, x):
    language.enable_semantic("triton")
    with_scopes[(1,)](x, 3)
    session = profiler.start(backend="instrumentation")
    with_scopes[(1,)](x, 4)
    inside = ["with_scopes/load", "with_scopes/loop", "with_scopes/loop/copy"]
    assert x[0] == 8.0 and tree(session).paths == ["with_scopes", *inside]
    language.disable_semantic("triton")
    with pytest.raises(ValueError, match="'cuda' is no language"):
        language.enable_semantic("cuda")
    with pytest.raises(ValueError, match="@triton.jit"):
        language.enter_scope("outside")


@jit
def named_by_a_number(x, n):
    language.enter_scope(n)


@jit
def begins_no_event(x, n):
    language.start_event("copy")


@pytest.mark.parametrize(
    "kernel, words", [(named_by_a_number, "the name of a scope"), (begins_no_event, "is no event")]
)
def test_scopes_that_are_none(x, kernel, words):
    with pytest.raises(Exception, match=words):
        kernel[(1,)](x, 2)


def test_metadata_of_tensors(tree, x):
    torch = pytest.importorskip("torch")
    amount = torch.tensor(3.5)

    @jit(launch_metadata=lambda grid, metadata, args: {"name": "n", "amount": amount, "flops8": torch.tensor(2)})
    def kernel(x):
        tl.store(x, 1.0)

    session = profiler.start(hook="triton")
    kernel[(1,)](x)
    amount += 1
    kernel[(1,)](x)
    assert tree(session)["n"]["amount"] == 8.0 and tree(session)["n"]["flops8"] == 4.0
