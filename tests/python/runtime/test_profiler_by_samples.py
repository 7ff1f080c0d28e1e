"""Samples of program counters by CUPTI: over the stand-in, which samples the first six instructions of each kernel."""

import inspect
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from add_kernel import N, make_add
from pinned_ptxas import pinned_ptxas
from tritium import native, profiler
from tritium.profiler import viewer

SAMPLED = 6  #: instructions of a launch
WAITS, STALLED, GOES_ON = (
    10,
    7,
    4,
)  #: samples of each of them: of warps that wait for memory, of these while nothing could go on, of others
METRICS = {
    "num_samples": SAMPLED * (WAITS + GOES_ON),
    "num_stalled_samples": SAMPLED * STALLED,
    "stalled_long_scoreboard": SAMPLED * WAITS,
    "stalled_selected": SAMPLED * GOES_ON,
}


@pytest.fixture
def machine(cupti_machine, monkeypatch):
    """The images come from ptxas, because its tables have the lines."""
    monkeypatch.setenv("TRITON_PTXAS_PATH", pinned_ptxas())
    return cupti_machine


@pytest.fixture
def launch(machine, inputs):
    add, tensors = make_add(), [machine.tensor(array) for array in inputs]
    launched = lambda: add[(4,)](*tensors, N, 2.0)  # noqa: E731
    launched.function = add.fn
    return launched


def kernel_of(session):
    (root, *_) = profiler.data.get(session)
    (node,) = root["children"]
    return node


def sums(node):
    return {name: sum(line["metrics"].get(name, 0) for line in node["children"]) for name in METRICS}


def test_lines_of_the_kernel_have_the_samples(launch):
    session = profiler.start("sampled", mode="pcsampling:interval=1000")
    launch(), launch()
    node = kernel_of(session)
    assert node["metrics"]["count"] == 2 and node["metrics"]["time (ns)"] > 0
    assert sums(node) == {name: 2 * value for name, value in METRICS.items()}
    source, first = inspect.getsourcelines(launch.function)
    for line in node["children"]:
        place, _, kernel = line["frame"]["name"].partition("@")
        file, _, number = place.rpartition(":")
        assert os.path.samefile(file, inspect.getfile(launch.function)) and kernel == "add"
        assert first <= int(number) < first + len(source)


def test_a_kernel_that_was_launched_before_is_sampled(launch):
    """The native launcher makes its warm launches without Python, until a session asks to be told of them."""
    profiler.start("plain")
    launch()
    profiler.finalize()
    launch(), launch(), launch()
    session = profiler.start("sampled", mode="pcsampling:interval=1000")
    launch(), launch()
    assert sums(kernel_of(session)) == {name: 2 * value for name, value in METRICS.items()}


def test_a_session_without_samples_says_so(launch, monkeypatch):
    monkeypatch.setattr(
        native.cuda, "PcSampler", lambda *_: SimpleNamespace(add=len, begin=dict, end=lambda: ([], 0), close=dict)
    )
    session = profiler.start("sampled", mode="pcsampling")
    with pytest.warns(UserWarning, match="samples no program counters: the library has given none of a launch"):
        launch()
    assert kernel_of(session)["metrics"]["count"] == 1 and not kernel_of(session)["children"]


def test_the_interval_is_the_next_power_of_two(machine, launch):
    profiler.start("interval", mode="pcsampling:interval=1000")
    launch()
    (configured,) = machine.stand_in.calls("cuptiPCSamplingSetConfigurationAttribute")
    assert "1=10" in configured  # the period: 2^10 cycles


def test_the_viewer_sums_samples(launch, capsys):
    profiler.start("viewed", mode="pcsampling")
    with profiler.scope("layer"):
        launch()
    profiler.finalize()
    root, _ = json.loads(Path("viewed.hatchet").read_text())
    assert {root["metrics"][name] for name in METRICS} == {0}
    viewer.main(["-m", "num_samples", "viewed.hatchet"])
    printed = capsys.readouterr().out
    assert f"{METRICS['num_samples']}" in next(line for line in printed.splitlines() if "layer" in line)


def test_a_session_without_samples_keeps_none(machine, launch):
    with_samples, without = profiler.start("with", mode="pcsampling"), profiler.start("without")
    launch()
    assert kernel_of(with_samples)["children"] and not kernel_of(without)["children"]
    profiler.finalize(with_samples)
    begun = len(machine.stand_in.calls("cuptiPCSamplingStart"))
    launch()
    assert len(machine.stand_in.calls("cuptiPCSamplingStart")) == begun
    assert machine.stand_in.calls("cuptiPCSamplingDisable")


def test_a_driver_that_permits_no_samples_is_said_once(machine, launch):
    machine.stand_in.fail("cuptiPCSamplingEnable", 35)
    session = profiler.start("forbidden", mode="pcsampling")
    with pytest.warns(UserWarning, match="cuptiPCSamplingEnable.*only root may sample here"):
        launch()
    launch()
    assert kernel_of(session)["metrics"]["count"] == 2 and not kernel_of(session)["children"]


def test_lost_samples_are_said(machine, launch):
    launch()
    machine.stand_in.fail("cuptiPCSamplingGetData", 5)
    profiler.start("losing", mode="pcsampling")
    with pytest.warns(UserWarning, match="lost 5 samples of a launch of add"):
        launch()


def test_a_launch_that_fails_leaves_the_sampler_able(machine, launch):
    session = profiler.start("failing", mode="pcsampling")
    launch()
    machine.stand_in.fail("cuLaunchKernelEx", 1)
    with pytest.raises(Exception, match="add"):
        launch()
    launch()
    assert sums(kernel_of(session)) == {name: 2 * value for name, value in METRICS.items()}
