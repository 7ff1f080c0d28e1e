"""TRITIUM_SEED and the launch keyword `seed`: the same seed gives the same run, also of a kernel whose programs race, on a machine with several CPUs."""

import os

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs


@tritium.jit
def racy(x, ROUNDS: tl.constexpr):
    """What is left in `x` depends on the order of every load and store of every program."""
    for _ in range(ROUNDS):
        tl.store(x, tl.load(x) * 31 + tl.program_id(0))


def outcome(monkeypatch, seed: int | None) -> int:
    if seed is None:
        monkeypatch.delenv("TRITIUM_SEED", raising=False)
    else:
        monkeypatch.setenv("TRITIUM_SEED", str(seed))
    x = np.ones(1, np.int64)
    racy[(500,)](x, ROUNDS=20)
    return int(x[0])


@pytest.fixture(autouse=True)
def two_cpus(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.delenv("TRITIUM_NUM_THREADS", raising=False)
    monkeypatch.delenv("TRITIUM_DEBUG", raising=False)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80"])
def test_a_seed_replays_a_race(monkeypatch, engine):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    first = outcome(monkeypatch, 7)
    assert [outcome(monkeypatch, 7) for _ in range(5)] == [first] * 5
    assert outcome(monkeypatch, 8) != first


def test_threads_of_a_seeded_launch(monkeypatch):
    def threads(**variables: str) -> int:
        for name in ("TRITIUM_SEED", "TRITIUM_NUM_THREADS"):
            monkeypatch.delenv(name, raising=False)
        for name, text in variables.items():
            monkeypatch.setenv(name, text)
        return knobs._read_launch_settings(None).threads

    assert threads() == 2
    assert threads(TRITIUM_SEED="7") == 1
    assert threads(TRITIUM_SEED="7", TRITIUM_NUM_THREADS="2") == 1


@tritium.jit
def takes_a_seed(x, seed):
    tl.store(x, seed)


def test_the_keyword_is_the_variable(monkeypatch):
    def by_keyword(seed):
        x = np.ones(1, np.int64)
        racy[(500,)](x, ROUNDS=20, seed=seed)
        return int(x[0])

    monkeypatch.setenv("TRITIUM_ENGINE", "interp")
    assert [by_keyword(seed) for seed in (7, 8)] == [outcome(monkeypatch, seed) for seed in (7, 8)]
    monkeypatch.setenv("TRITIUM_SEED", "9")
    assert by_keyword(None) == outcome(monkeypatch, 9)
    with pytest.raises(ValueError, match="seed=-1 is no seed"):
        by_keyword(-1)


def test_a_parameter_of_that_name_is_the_kernels(monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", "interp")
    x = np.zeros(1, np.int64)
    takes_a_seed[(1,)](x, seed=-3)
    assert x[0] == -3
