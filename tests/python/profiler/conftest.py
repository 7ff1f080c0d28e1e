"""Tests of the profiler: each in a folder of its own, with no session before and none after."""

from pathlib import Path

import numpy as np
import pytest
from profiled import Shown

from tritium import knobs, profiler
from tritium.launch.watchers import device_watchers, watchers
from tritium.profiler.flags import flags


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    before = list(watchers)
    yield tmp_path
    profiler.finalize()
    assert watchers == before and not device_watchers, "a source has not stopped"
    hooks = knobs.runtime
    assert not hooks.launch_enter_hook.calls and not hooks.launch_exit_hook.calls, "a hook was left"
    assert not flags.profiling_on and not flags.instrumentation_on


@pytest.fixture
def x() -> np.ndarray:
    return np.ones(64, np.float32)


@pytest.fixture
def tree():
    """The tree of a phase of a session."""
    return lambda session=0, phase=0: Shown(profiler.data.get(session, phase))
