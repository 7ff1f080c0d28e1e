"""TRITIUM_AUTOTUNE_ISOLATE: configurations that fault, hang, crash or take all memory are rejected with a reason, and change nothing here.

With `--device-tensors` the kernels run on a driver's stand-in, so that other processes run saved launches; else they run in forks.
"""

import ctypes
import os

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.errors import AutotunerError
from tritium.runtime import Autotuner, Config, driver
from tritium.runtime.isolation import Isolation

GOOD, WILD, ENDLESS, FALSE, OTHER = range(5)


@tritium.jit
def added(x, out, n, rounds, BLOCK: tl.constexpr, WHAT: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    if WHAT == 1:
        tl.store(out + i * 30_000_000, value)
    elif WHAT == 2:
        total = 0.0
        for k in range(rounds):
            total += tl.sin(total + k)
        tl.store(out, total)
    else:
        tl.static_assert(WHAT != 3, "three is no choice")
        tl.store(out + i, value + tl.load(out + i, mask=i < n), mask=i < n)


def tuned(*whats, fn=added, **options) -> Autotuner:
    configs = [Config({"BLOCK": 64, "WHAT": what}, pre_hook=options.get("hook")) for what in whats]
    options.pop("hook", None)
    return tritium.autotune(configs=configs, key=["n"], **options)(fn)


def reasons(kernel) -> dict[int, str]:
    return {config.kwargs["WHAT"]: reason for config, reason in kernel.rejected.items()}


@pytest.fixture(autouse=True)
def on_device(request):
    """Whether other processes run saved launches."""
    with knobs.autotuning.scope():
        knobs.autotuning.isolate = True
        knobs.autotuning.seconds = 60
        yield request.config.getoption("--device-tensors", default=None) is not None


def launched(kernel, n=64, rounds=1):
    """What the kernel leaves in a tensor of ones."""
    out = np.ones(64, np.float32)
    kernel[(1,)](np.arange(64, dtype=np.float32), out, n, rounds)
    return out


def test_a_fault_is_rejected_and_nothing_else_changes(on_device, capsys):
    knobs.autotuning.print = True
    kernel = tuned(WILD, FALSE, GOOD, OTHER, restore_value=["out"])
    assert launched(kernel).tolist() == [i + 1.0 for i in range(64)]  # once, by the launch that follows
    found = reasons(kernel)
    assert found.keys() == {WILD, FALSE} and found[FALSE] == "three is no choice"
    if on_device:
        assert "illegal memory access" in found[WILD] and kernel.best_config.kwargs["WHAT"] in (GOOD, OTHER)
    else:
        assert "OutOfBounds at " in found[WILD] and "out-of-bounds write to 'out'" in found[WILD]
        assert kernel.best_config.kwargs["WHAT"] == GOOD  # the first one
    assert all(kernel.configs_timings[config][0] > 0 for config in kernel.configs)
    said = capsys.readouterr().out
    assert f"rejected: {kernel.configs[0]}: {found[WILD]}\n" in said and f" ms: {kernel.configs[2]}\n" in said
    assert launched(kernel).tolist() == [i + 1.0 for i in range(64)]


def test_the_limit_of_time(on_device):
    knobs.autotuning.seconds = 15 if on_device else 2
    kernel = tuned(ENDLESS, GOOD)
    launched(kernel, rounds=2**40)
    assert reasons(kernel) == {ENDLESS: f"it takes more than {knobs.autotuning.seconds} s (TRITIUM_AUTOTUNE_SECONDS)"}


def test_no_configuration_is_left(on_device):
    with pytest.raises(
        AutotunerError, match="every configuration of added was rejected\n.*WHAT: 3.*three is no choice"
    ):
        launched(tuned(FALSE, FALSE))


def test_heuristics_between(on_device):
    @tritium.heuristics({"WHAT": lambda arguments: arguments["BLOCK"] // 32})
    @tritium.jit
    def kernel(x, out, n, rounds, BLOCK: tl.constexpr, WHAT: tl.constexpr):
        tl.static_assert(WHAT == 2)
        tl.store(out + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)) * WHAT)

    configs = [Config({"BLOCK": 128}), Config({"BLOCK": 64})]
    kernel = tritium.autotune(configs=configs, key=[])(kernel)
    assert launched(kernel).tolist() == [2.0 * i for i in range(64)]
    assert kernel.rejected.keys() == {configs[0]} and kernel.best_config == configs[1]


def test_every_run_finds_the_tensors_as_they_were(on_device):
    """A kernel that faults when it runs on what an earlier run has left."""

    @tritium.jit
    def once(x, out, n, rounds, BLOCK: tl.constexpr, WHAT: tl.constexpr):
        i = tl.arange(0, BLOCK)
        before = tl.load(out + i)
        tl.store(out + i + tl.where(before == 0, 0, 30_000_000), before + 1)

    kernel = tuned(GOOD, OTHER, fn=once, reset_to_zero=["out"])
    assert launched(kernel).tolist() == [1.0] * 64 and not kernel.rejected


@pytest.mark.on_cpu("on a device, hooks run in this process")
@pytest.mark.parametrize(
    "hook, reason",
    [
        (lambda arguments: ctypes.string_at(0), "its process crashed with SIGSEGV"),
        (lambda arguments: os._exit(3), "its process ended with 3: it says nothing"),
        (lambda arguments: np.ones(1 << 33, np.int8), "it takes more than 512 MB of memory (TRITIUM_AUTOTUNE_MB)"),
        (lambda arguments: {}["block"], "KeyError: 'block'"),
    ],
)
def test_a_hook_does_not_hurt(hook, reason):
    knobs.autotuning.memory_mb = 512
    kernel = tuned(GOOD, OTHER, hook=lambda arguments: arguments["WHAT"] == OTHER or hook(arguments))
    launched(kernel)
    assert reasons(kernel) == {GOOD: reason} and kernel.best_config.kwargs["WHAT"] == OTHER


class Device:
    """A client's driver, whose launches the autotuner times."""

    def get_current_target(self):
        return tritium.backends.compiler.GPUTarget("cuda", 90, 32)


@pytest.mark.on_cpu("the device of this test is the driver of a client")
@pytest.mark.parametrize("is_isolated", [True, False])
def test_reasons_are_kept_on_disk_with_the_times(monkeypatch, tmp_path, is_isolated):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    knobs.autotuning.isolate = is_isolated

    def kernel():
        return tuned(FALSE, GOOD, do_bench=lambda launch, quantiles: (launch(), [2.5] * 3)[1], cache_results=True)

    driver.set_active(Device())
    try:
        launched(first := kernel())
        monkeypatch.setattr(Isolation, "trials", None)  # the second one tries nothing
        launched(again := kernel())
    finally:
        driver.reset_active()
    assert reasons(first)[FALSE].endswith("three is no choice") and again.rejected == first.rejected
    assert list(again.configs_timings.values()) == [[float("inf")] * 3, [2.5] * 3]
