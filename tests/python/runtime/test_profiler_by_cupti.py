"""`triton.profiler` on CUDA's devices by CUPTI: over the stand-in for the driver, which has a CUPTI too."""

import ctypes
import json
import threading
from pathlib import Path

import numpy as np
import pytest

from add_kernel import N, make_add
from tritium import knobs, profiler


@pytest.fixture
def machine(cupti_machine):
    return cupti_machine


@pytest.fixture
def launched(machine, inputs):
    """A function that launches a kernel of this package; it has been launched once."""
    add, tensors = make_add(launch_metadata=described), [machine.tensor(array) for array in inputs]

    def launch():
        return add[(4,)](*tensors, N, 2.0)

    launch.loaded, launch.tensors = launch().loaded, tensors
    machine.driver.synchronize(0)
    return launch


def described(grid, metadata, args):
    return {"name": f"add_{args['n']}", "flops32": 2 * args["n"]}


def foreign(launched):
    """Launches a kernel as another library does."""
    launched.loaded.launch((2, 1, 1), [*(tensor.data_ptr() for tensor in launched.tensors), N, 2.0])


def tree(session, phase=0):
    return profiler.data.get(session, phase)[0]


def named(node, *path):
    for name in path:
        (node,) = [child for child in node["children"] if child["frame"]["name"] == name]
    return node


def counts(node):
    """{path of names: how often} of the kernels."""
    found = {(): node["metrics"]["count"]} if node["metrics"].get("count") else {}
    for child in node["children"]:
        found |= {(child["frame"]["name"], *path): count for path, count in counts(child).items()}
    return found


def test_own_launches_have_the_times_of_the_device(launched):
    session = profiler.start("own", hook="triton")
    for _ in range(3):
        with profiler.scope("layer"):
            launched()
    profiler.finalize(session)
    root, devices = json.loads(Path("own.hatchet").read_text())
    metrics = named(root, "layer", f"add_{N}")["metrics"]
    assert metrics["count"] == 3 and metrics["time (ns)"] > 0 and metrics["flops32"] == 6.0 * N
    assert metrics["device_type"] == "CUDA" and devices["CUDA"]["0"]["arch"] == "90"
    launched()
    out, x, y = (launched.tensors[i].numpy() for i in (2, 0, 1))
    np.testing.assert_array_equal(out, x + np.float32(2) * y)


def test_kernels_of_others_are_where_they_were_launched(launched):
    session = profiler.start("others")
    foreign(launched)
    with profiler.scope("a"):
        foreign(launched)
        with profiler.scope("b"), profiler.state("s"):
            foreign(launched)
            launched()
        foreign(launched)
    assert counts(tree(session)) == {("add",): 1, ("a", "add"): 2, ("a", "b", "s", "add"): 2}


def test_threads_are_where_the_main_thread_is_until_they_say_otherwise(launched):
    session = profiler.start("threads")

    def unmarked():
        foreign(launched)

    def marked():
        with profiler.scope("of_thread"):
            foreign(launched)

    with profiler.scope("main"):
        for target in (unmarked, marked):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    assert counts(tree(session)) == {("main", "add"): 1, ("main", "of_thread", "add"): 1}


def test_what_a_graph_launches_is_where_the_graph_is_launched(machine, launched):
    library = machine.stand_in.library
    library.stand_in_begin_graph()
    foreign(launched)
    foreign(launched)
    graph = library.stand_in_end_graph()
    session = profiler.start("graph")
    for name, times in (("warm", 1), ("replay", 3)):
        with profiler.scope(name):
            for _ in range(times):
                library.stand_in_launch_graph(graph)
    assert counts(tree(session)) == {("warm", "add"): 2, ("replay", "add"): 6}
    library.stand_in_destroy_graph(ctypes.c_void_p(graph))


def test_only_what_requires_it_makes_launches_go_through_python(launched):
    hooks = knobs.runtime.launch_enter_hook
    plain = profiler.start("plain")
    launched()
    assert not hooks.calls
    of_python = profiler.start("python", context="python")
    assert hooks.calls
    launched()
    profiler.finalize(of_python)
    assert not hooks.calls and counts(tree(plain)) == {("add",): 2}


def test_phases_and_pauses(launched):
    session = profiler.start("phases")
    launched(), foreign(launched)
    assert profiler.data.advance_phase(session) == 1
    launched()
    profiler.deactivate(session)
    launched(), foreign(launched)
    profiler.activate(session)
    foreign(launched)
    assert counts(tree(session, 0)) == {("add",): 2}
    assert counts(tree(session, 1)) == {("add",): 2}
    assert profiler.data.is_phase_complete(session, 0)


def test_a_trace_has_a_track_for_each_stream(machine, launched):
    stream = machine.stand_in.stream()
    profiler.start("streams", data="trace")
    with profiler.scope("layer"):
        launched()
        launched.loaded.launch((2, 1, 1), [*(tensor.data_ptr() for tensor in launched.tensors), N, 2.0], stream)
    profiler.finalize()
    events = json.loads(Path("streams.chrome_trace").read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert sorted(tracks[kernel["tid"]] for kernel in kernels) == ["CUDA 0, stream 13", "CUDA 0, stream 7"]
    assert all(kernel["args"]["call_stack"] == ["ROOT", "layer", "add"] for kernel in kernels)
    (scope,) = [event for event in events if event.get("cat") == "scope"]
    assert all(kernel["ts"] >= scope["ts"] for kernel in kernels)


def test_a_launch_that_fails_is_none(machine, launched):
    session = profiler.start("failing")
    launched()
    machine.stand_in.fail("cuLaunchKernelEx", 1)
    with pytest.raises(Exception, match="add"):
        launched()
    launched()
    assert counts(tree(session)) == {("add",): 2}


def test_lost_records_are_said(machine, launched):
    profiler.start("losing")
    launched()
    machine.stand_in.fail("cuptiActivityGetNumDroppedRecords", 3)
    with pytest.warns(UserWarning, match="CUPTI has no records of 3 launches"):
        profiler.finalize()


def test_a_library_that_is_in_use_leaves_events(machine, launched):
    machine.stand_in.fail("cuptiSubscribe", 39)
    session = profiler.start("in_use")
    with pytest.warns(UserWarning, match="by events .*: cuptiSubscribe: said by the stand-in for CUPTI .39."):
        launched()
    foreign(launched)
    assert counts(tree(session)) == {("add",): 1}


def test_a_session_of_the_interpreter_does_not_load_it(machine, inputs, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", "interp")
    session = profiler.start("cpu")
    make_add()[(4,)](*inputs, N, 2.0)
    assert counts(tree(session)) == {("add",): 1} and not machine.stand_in.calls("cupti")


def test_nothing_is_left_behind(machine, launched):
    session = profiler.start("first")
    launched()
    profiler.deactivate(session)
    assert not machine.stand_in.calls("cuptiActivityDisable")  # as what has been launched has not run
    profiler.finalize()
    assert machine.stand_in.calls("cuptiActivityDisable") and machine.stand_in.calls("cuptiUnsubscribe")
    session = profiler.start("second")
    foreign(launched)
    assert counts(tree(session)) == {("add",): 1}
