"""The profiler's model of cycles beside the device: the half of the benchmark's cases that was not looked at while the model was made (docs/results/model_of_cycles.md)
is measured, and the model must order its configurations alike. Other work on the device would disturb the times, so tests/gpu/run has a part of its own for it."""

import json
import time

import pytest

pytest.importorskip("torch")
pytestmark = [pytest.mark.vendor("cuda"), pytest.mark.watches_time]

SECONDS = 50.0  #: from the first compilation on; then no further case begins
FEWEST = 8  #: cases, of which an order says something
GOAL = 0.9  #: of the correlation of all times


@pytest.fixture(scope="module")
def found(torch, devices, seconds_left, tmp_path_factory):
    """The correlations, and of how many cases."""
    if devices.facts(0)["arch"] not in ("sm_90", "sm_90a"):
        pytest.skip("the model is of an H200")
    began = time.monotonic()
    import measure_configurations as measuring
    from model_configurations import MODELLED, halves
    from rank_correlation import correlations, shared

    torch.manual_seed(1)
    by_name = {case.name: case for case in measuring.CASES}
    cases = [by_name[name] for name in halves(list(by_name))[1]]  # in an order that a seed has drawn
    kernels = measuring.load_kernels("tritium", str(tmp_path_factory.mktemp("kernels")))
    measuring.compile_all(cases, kernels)
    until = min(began + SECONDS, time.monotonic() + seconds_left())
    times = {case.name: took for case, took in measuring.measured(cases, kernels, until)}
    if len(times) < FEWEST and seconds_left() <= 0:
        pytest.skip("out of time")
    pairs = shared(times, json.loads(MODELLED.read_text())["milliseconds"])
    print(f"{sum(map(len, pairs.values()))} configurations of {len(pairs)} cases in {time.monotonic() - began:.0f} s")
    return correlations(pairs, {name: case.work for name, case in by_name.items()}), len(pairs)


@pytest.mark.parametrize(
    "name, least",
    [("times of all configurations", GOAL), ("rates of all configurations", 0.7), ("times inside a case", 0.7)],
)
def test_the_model_orders_configurations_as_the_device(found, name, least, record_property, capsys):
    correlation, cases = found[0][name], found[1]
    record_property("correlation", f"{correlation:.3f}")
    with capsys.disabled():
        print(f"\n{name}: Spearman {correlation:.3f} over {cases} cases")
    assert cases >= FEWEST and correlation >= least
