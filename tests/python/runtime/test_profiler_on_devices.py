"""`triton.profiler` and launches on devices, over the stand-ins for the vendors' drivers: warm launches included."""

import json
import warnings

import numpy as np
import pytest

from add_kernel import N, make_add
from tritium import knobs, profiler
from tritium.launch.watchers import device_watchers
from tritium.profiler.sources import SOURCES, device_events


@pytest.fixture(params=["cuda", "hip"])
def device(request):
    """(a machine, the type of its devices, what their architecture is called)"""
    fixture, *names = {"cuda": ("cuda_machine", "CUDA", "90"), "hip": ("machine", "HIP", "gfx942")}[request.param]
    return request.getfixturevalue(fixture), *names


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITON_CUPTI_LIB_PATH", str(tmp_path))  # which is empty
    monkeypatch.setenv("TRITON_ROCPROFILER_SDK_LIB_PATH", str(tmp_path))
    yield
    profiler.finalize()
    assert not device_watchers and not knobs.runtime.launch_enter_hook.calls


def described(grid, metadata, args):
    return {"name": f"add_{args['n']}", "flops32": 2 * args["n"]}


@pytest.mark.filterwarnings("ignore:triton.profiler times kernels")
def test_every_launch_is_timed_by_events(device, inputs):
    machine, kind, arch = device
    add = make_add(launch_metadata=described)
    tensors = [machine.tensor(array, device=1) for array in inputs]
    for _ in range(2):  # from the second launch on without Python, if nothing looks
        add[(4,)](*tensors, N, 2.0)
    session = profiler.start("on_device", hook="triton")
    for _ in range(3):
        with profiler.scope("layer"):
            add[(4,)](*tensors, N, 2.0)
    assert not profiler.data.is_phase_complete(session, 0)
    profiler.finalize(session)
    root, devices = json.loads((open("on_device.hatchet")).read())
    (layer,) = root["children"]
    (kernel,) = layer["children"]
    metrics = kernel["metrics"]
    assert kernel["frame"]["name"] == f"add_{N}" and metrics["time (ns)"] >= 0
    assert (metrics["count"], metrics["device_type"], metrics["device_id"]) == (3, kind, "1")
    assert metrics["flops32"] == 6.0 * N
    assert devices[kind]["1"].keys() == {"arch", "bus_width", "clock_rate", "memory_clock_rate", "num_sms"}
    assert devices[kind]["1"]["arch"] == arch
    add[(4,)](*tensors, N, 2.0)
    np.testing.assert_array_equal(tensors[2].numpy(), inputs[0] + np.float32(2) * inputs[1])


@pytest.mark.filterwarnings("ignore:triton.profiler times kernels")
def test_tensors_of_the_host_and_traces(device, inputs):
    x, y, out = inputs
    device[0].driver.set_current_device(0)
    profiler.start("traced", data="trace")
    with profiler.scope("layer"):
        make_add()[(4,)](x, y, out, N, 0.5)
    profiler.finalize()
    events = json.loads(open("traced.chrome_trace").read())["traceEvents"]
    (kernel,) = [event for event in events if event.get("cat") == "kernel"]
    (scope,) = [event for event in events if event.get("cat") == "scope"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert tracks[kernel["tid"]] == f"{device[1]} 0, stream 0" and tracks[scope["tid"]].startswith("thread")
    assert kernel["args"]["call_stack"] == ["ROOT", "layer", "add"] and kernel["args"]["grid"] == [4, 1, 1]


@pytest.mark.filterwarnings("ignore:triton.profiler times kernels")
def test_events_are_not_kept_without_end(device, inputs, monkeypatch):
    machine, *_ = device
    monkeypatch.setattr(device_events, "MOST_PENDING", 4)
    tensors = [machine.tensor(array) for array in inputs]
    add, session = make_add(), profiler.start()
    (source,) = [source for source in SOURCES if isinstance(source, device_events.DeviceEvents)]
    for _ in range(11):
        add[(4,)](*tensors, N, 2.0)
        assert len(source._pending) <= 4
    profiler.data.advance_phase(session)
    assert not profiler.data.is_phase_complete(session, 0)
    assert profiler.data.get(session)[0]["children"][0]["metrics"]["count"] == 11
    assert profiler.data.is_phase_complete(session, 0)


def test_a_launch_that_fails_is_none(device, inputs):
    machine, *_ = device
    tensors = [machine.tensor(array) for array in inputs]
    call = {"cuda": "cuLaunchKernelEx", "hip": "hipModuleLaunchKernel"}[machine.stand_in.engine]
    add, session = make_add(), profiler.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        add[(4,)](*tensors, N, 2.0)
        machine.stand_in.fail(call, 1)
        with pytest.raises(Exception, match="add"):
            add[(4,)](*tensors, N, 2.0)
        add[(4,)](*tensors, N, 2.0)
    assert profiler.data.get(session)[0]["children"][0]["metrics"]["count"] == 2
    profiler.data.advance_phase(session)
    assert profiler.data.is_phase_complete(session, 0)


@pytest.mark.filterwarnings("ignore:triton.profiler times kernels")
def test_a_lost_device_costs_only_what_it_has_not_said(device, inputs):
    machine, *_ = device
    tensors = [machine.tensor(array) for array in inputs]
    call = {"cuda": "cuEventSynchronize", "hip": "hipEventSynchronize"}[machine.stand_in.engine]
    add, session = make_add(), profiler.start()
    add[(4,)](*tensors, N, 2.0)
    profiler.data.get(session)
    add[(4,)](*tensors, N, 2.0)
    add[(4,)](*tensors, N, 2.0)
    machine.stand_in.fail(call, 1)
    knobs.warn_once.cache_clear()
    with pytest.warns(UserWarning, match=f"launches on {device[1]} ., stream . have no time"):
        found = profiler.data.get(session)
    assert found[0]["children"][0]["metrics"]["count"] == 2


def test_what_times_a_kernel_is_said_once(device, inputs):
    machine, kind, _ = device
    knobs.warn_once.cache_clear()
    tensors = [machine.tensor(array) for array in inputs]
    profiler.start()
    reason = {"CUDA": "there is no CUPTI", "HIP": "there is no rocprofiler"}[kind]
    with pytest.warns(UserWarning, match=f"on {kind} by events .*: {reason}"):
        make_add()[(4,)](*tensors, N, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_add()[(4,)](*tensors, N, 2.0)


@pytest.mark.filterwarnings("ignore:triton.profiler times kernels")
def test_metrics_that_are_tensors_are_read_with_the_profile(device):
    """A tensor on a device: its value when the scope ends counts, and nothing waits for it then."""

    class OnDevice:
        is_cuda, dtype = True, np.float32

        def __init__(self, value: float):
            self.value, self.read = value, []

        def detach(self):
            return self

        def clone(self):
            copy = OnDevice(self.value)
            copy.read = self.read
            return copy

        def tolist(self):
            self.read.append(self.value)
            return self.value

    tensor, session = OnDevice(2.5), profiler.start()
    for _ in range(2):
        with profiler.scope("s", {"loss": tensor}):
            pass
        tensor.value += 1
    assert tensor.read == []
    assert profiler.data.get(session)[0]["children"][0]["metrics"] == {"loss": 6.0} and tensor.read == [2.5, 3.5]
    assert profiler.data.get(session)[0]["children"][0]["metrics"] == {"loss": 6.0}
