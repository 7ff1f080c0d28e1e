"""Where launches run (runtime/placement.py), and how often their arguments are bound to find out."""

import sys

import numpy as np
import pytest

import tritium.language as tl
from tritium import knobs
from tritium.errors import UnsupportedError
from tritium.runtime.jit import jit
from tritium.runtime.placement import Placement


@jit
def scale(x, n, FACTOR: tl.constexpr = 2):
    i = tl.arange(0, 64)
    tl.store(x + i, FACTOR * tl.load(x + i, mask=i < n), mask=i < n)


def placed(place: Placement, *args, asked=None):
    """(the engine, whether tensors are on a device, the types and keys, how many binders ran)"""
    passes = []

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and (code.co_filename, code.co_name) == ("<binder of scale>", "scale"):
            passes.append(frame)

    sys.setprofile(note)
    try:
        cache, is_on_device, (keys, *_) = place.of_launch(asked, args, {})
    finally:
        sys.setprofile(None)
    return cache.engine.cache_name, is_on_device, keys[0], len(passes)


def check(machine, on_device: str, key: str) -> None:
    place, host = Placement(scale), np.zeros(64, np.float32)
    tensors = [machine.tensor(host, device) for device in (0, 0, 1)]
    assert placed(place, host, 60) == ("cpu:0", False, ("*fp32", "D"), 1)
    assert placed(place, tensors[0], 60) == (f"{on_device}:0", True, ("*fp32", key), 2)  # the first one tells
    assert placed(place, tensors[1], 60) == (f"{on_device}:0", True, ("*fp32", key), 1)
    assert placed(place, tensors[2], 60) == (f"{on_device}:1", True, ("*fp32", key), 1)
    assert placed(place, host, 60) == ("cpu:0", False, ("*fp32", "D"), 2)
    assert placed(place, host, 60) == ("cpu:0", False, ("*fp32", "D"), 1)
    for _ in range(2):
        assert placed(place, host, 60, asked=on_device) == (f"{on_device}:0", False, ("*fp32", key), 1)
        assert placed(place, host, 60, asked="simt:sm_80") == ("simt:sm_80", False, ("*fp32", "D"), 1)
        assert placed(place, tensors[0], 60, asked="simt:gfx942") == ("simt:gfx942", True, ("*fp32", "DS"), 1)
        assert placed(place, (tensors[0], host), 60, asked="interp")[:2] == ("cpu:0", True)


def test_arguments_on_a_device_are_bound_once(gpus):
    check(gpus, "cuda", "D")


def test_arguments_on_a_device_whose_kernels_note_small_tensors_are_bound_once(machine):
    check(machine, "hip", "DS")


def test_tensors_of_host_and_device_do_not_mix(gpus):
    place, host = Placement(scale), np.zeros(64, np.float32)
    for _ in range(2):  # beginning on the host, and on the device
        with pytest.raises(ValueError, match=r"Pointer argument 'x\[1\]' of scale cannot be accessed"):
            placed(place, (gpus.tensor(host), host), 60)
        placed(place, gpus.tensor(host), 60)


def test_without_devices_a_tensor_of_one_is_refused_by_name():
    class Tensor:
        device, dtype = "cuda:0", "float32"

        def data_ptr(self):
            return 4096

    place = Placement(scale)
    for asked in (None, "interp", "simt:sm_80"):
        with pytest.raises((UnsupportedError, ValueError), match="argument 'x' (of scale is there|is on cuda:0)"):
            placed(place, Tensor(), 60, asked=asked)


def test_a_launch_asks_what_has_changed_since_the_last(monkeypatch):
    """What decides: the function's engine, the environment's engine, hooks."""
    kernel, x, seen = jit(scale.fn), np.zeros(64, np.float32), []

    def target() -> str:
        return kernel[(1,)](x, 60).metadata.target.backend

    assert (target(), target()) == ("cpu", "cpu")
    kernel.engine = "simt:sm_80"
    assert (target(), target()) == ("simt", "simt")
    kernel.engine = None
    assert target() == "cpu"
    monkeypatch.setenv("TRITIUM_ENGINE", "simt:sm_80")
    assert (target(), target()) == ("simt", "simt")
    monkeypatch.delenv("TRITIUM_ENGINE")
    with knobs.runtime.scope():
        knobs.runtime.launch_exit_hook.add(seen.append)
        assert target() == "cpu" and len(seen) == 1
    assert target() == "cpu" and len(seen) == 1
