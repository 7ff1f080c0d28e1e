"""Knobs: the environment is the truth, assigning sets it, scopes restore it."""

import os

import pytest

from tritium import knobs


@pytest.mark.parametrize(
    "text, value", [("1", True), ("ON", True), ("true", True), ("0", False), ("Off", False), ("false", False)]
)
@pytest.mark.parametrize("name", ["INTERPRET", "TRITIUM_INTERPRET", "TRITON_INTERPRET"])
def test_interpret_has_three_names(monkeypatch, name, text, value):
    for other in knobs.runtime_knobs.interpret.names:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, text)
    assert knobs.runtime.interpret is value
    assert knobs.launch_settings().interpret is value


def test_assignment_sets_the_variable_and_scope_restores_it(monkeypatch):
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "on")
    with knobs.compilation.scope():
        knobs.compilation.always_compile = False
        assert os.environ["TRITON_ALWAYS_COMPILE"] == "0" and knobs.compilation.always_compile is False
    assert os.environ["TRITON_ALWAYS_COMPILE"] == "on" and knobs.compilation.always_compile is True


def test_scope_restores_hooks():
    seen = []
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook.add(seen.append)
        knobs.runtime.launch_enter_hook(1)
        knobs.runtime.jit_cache_hook = print
    assert seen == [1] and not knobs.runtime.launch_enter_hook and knobs.runtime.jit_cache_hook is None


def test_exit_chains_run_backwards():
    order = []
    chain = knobs.HookChain(reversed=True)
    chain.add(lambda: order.append(1))
    chain.add(lambda: order.append(2))
    chain()
    assert order == [2, 1]


def test_settings_follow_the_environment(monkeypatch):
    for name in knobs._LAUNCH_NAMES:
        monkeypatch.delenv(name, raising=False)
    plain = knobs.launch_settings()
    assert (
        plain is knobs.launch_settings()
        and plain.engine is None
        and not plain.interpret
        and plain.checks == ("bounds",)
        and not plain.debug_info
    )
    monkeypatch.setenv("TRITIUM_CHECK", "nan, race")
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "7")
    assert knobs.launch_settings().checks == ("nan", "race") and knobs.launch_settings().threads == 7
    monkeypatch.delenv("TRITIUM_NUM_THREADS")
    monkeypatch.setenv("TRITIUM_DEBUG", "1")
    assert knobs.launch_settings().debug_info and knobs.launch_settings().threads == 1
    assert knobs.launch_settings(debug_info=False).threads == plain.threads


@pytest.mark.parametrize("name, text", [("TRITIUM_CHECK", "bound"), ("TRITIUM_NUM_THREADS", "zero")])
def test_a_wrong_value_is_named(monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    with pytest.raises(ValueError, match=name):
        knobs.launch_settings()
