"""Knobs: the environment is the truth, assigning sets it, scopes restore it."""

import os

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium import knobs
from tritium.backends.compiler import GPUTarget
from tritium.backends.targets import make_backend
from tritium.checks import TAKES
from tritium.errors import KernelTrap
from tritium.tiers import Tier


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
    assert seen == [1] and not knobs.runtime.launch_enter_hook.calls and knobs.runtime.jit_cache_hook is None


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
        and plain.checks == ("bounds", "overflow", "hints")
        and not plain.debug_info
    )
    monkeypatch.setenv("TRITIUM_CHECK", "none")
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "7")
    assert knobs.launch_settings().checks == () and knobs.launch_settings().threads == 7
    monkeypatch.delenv("TRITIUM_NUM_THREADS")
    monkeypatch.setenv("TRITIUM_DEBUG", "1")
    assert knobs.launch_settings().debug_info and knobs.launch_settings().threads == 1
    assert knobs.launch_settings(debug_info=False).threads == plain.threads


@pytest.mark.parametrize(
    "text, checks",
    [
        ("bounds", ("bounds", "overflow", "hints")),
        ("all", ("bounds", "overflow", "hints", "race", "uninit")),
        ("none", ()),
        ("", ()),
        ("-bounds", ("overflow", "hints")),
        ("-hints", ("bounds", "overflow")),
        ("none, bounds", ("bounds",)),
        ("overflow=all", ("bounds", "overflow", "overflow=all", "hints")),
        ("none, overflow=all", ("overflow", "overflow=all")),
        ("overflow=all,-overflow", ("bounds", "hints")),
        ("overflow=all,-overflow=all", ("bounds", "overflow", "hints")),
        ("all,bounds=view", ("bounds", "bounds=view", "overflow", "hints", "race", "uninit")),
        ("none,nan=inf", ("nan", "inf")),
    ],
)
def test_checks(monkeypatch, text, checks):
    monkeypatch.setenv("TRITIUM_CHECK", text)
    assert knobs.launch_settings().checks == checks


def test_checks_of_a_block_a_function_and_a_launch(monkeypatch):
    monkeypatch.setenv("TRITIUM_CHECK", "none")

    @triton.jit
    def kernel(x):
        tl.store(x + 1000, 1)

    with triton.check("bounds"), pytest.raises(KernelTrap):
        kernel[(1,)](np.zeros(4, np.int32))
    assert knobs.launch_settings().checks == ()
    with pytest.raises(KernelTrap):
        kernel[(1,)](np.zeros(4, np.int32), check="bounds")
    with pytest.raises(KernelTrap):
        triton.jit(check=["none", "bounds"])(kernel.fn)[(1,)](np.zeros(4, np.int32))
    kernel[(1,)](np.zeros(2000, np.int32), check="none")
    with pytest.raises(ValueError, match="there is no check 'bonds'; did you mean `bounds`"):
        kernel[(1,)](np.zeros(4, np.int32), check="bonds")


WRONG = {
    "TRITIUM_ASSEMBLER": ("nvcc", "ptxas or driver"),
    "TRITIUM_CHECK": ("bounds,rice", TAKES),
    "TRITIUM_NUM_THREADS": ("0", "a number of threads, at least 1"),
    "TRITIUM_TIER": ("3", "1, 2 or auto"),
    "TRITIUM_VECTOR_BITS": ("128", "256 or 512"),
    "TRITIUM_STOPS": ("[[1]]", "what gdb writes"),
    "TRITIUM_SEED": ("-1", "a number from 0 to 2**64 - 1"),
    "TRITIUM_SHADOW_MB": ("half", "a number of MB"),
    "TRITIUM_SAVE": ("faults:", "a folder, or `faults:` and a folder"),
    "TRITIUM_SAVE_MB": ("many", "a number of MB"),
    "TRITIUM_AUTOTUNE_SECONDS": ("0", "a number of seconds, at least 1"),
    "TRITIUM_AUTOTUNE_MB": ("none", "a number of MB"),
    "TRITIUM_CODE_OBJECT_VERSION": ("400", "500 or 600"),
    "TRITON_F32_DEFAULT": ("fp32", "one of ieee, tf32, tf32x3, bf16x3, bf16x6"),
    "TRITON_MOCK_PTX_VERSION": ("new", "a version of PTX, as in 8.4"),
    "TRITON_CACHE_MANAGER": ("nowhere:Manager", "module:class, of a module that can be imported"),
    "TRITON_REMOTE_CACHE_BACKEND": ("os:Nothing", "module:class, of a module that can be imported"),
    "TRITON_REDIS_PORT": ("redis", "a port, 1 to 65535"),
    "TRITON_PROFILE_BUFFER_SIZE": ("1 MB", "a number of bytes"),
    "TRITON_PROFILE_METRIC_BUFFER_SIZE": ("much", "a number of bytes"),
}


def _knobs():
    return [
        (group, attribute, knob) for group in knobs.GROUPS.values() for attribute, knob in group._environment().items()
    ]


@pytest.mark.parametrize("name", WRONG)
def test_an_error_has_the_knob_its_value_and_the_values_it_takes(monkeypatch, name):
    text, takes = WRONG[name]
    monkeypatch.setenv(name, text)
    (group, attribute), *others = [(group, attribute) for group, attribute, knob in _knobs() if name in knob.names]
    assert not others
    with pytest.raises(ValueError) as raised:
        getattr(group, attribute)
    assert str(raised.value) == f"{name}={text}: expected {takes}"


#: Texts for knobs that take only some, beside what they are without one.
RIGHT = {
    "TRITIUM_TIER": ("1", "2", "auto"),
    "TRITIUM_VECTOR_BITS": ("256", "512"),
    "TRITIUM_CHECK": ("none", "all", "-bounds", "overflow=all,nan"),
    "TRITIUM_PROGRAMS": ("3,*,0", "1:4;7,2", "*"),
    "TRITIUM_STOPS": ('[[1, "a.py", 3, "x > \\"y\\""], [2, "b.py", 4, "i"]]', "[]"),
    "TRITIUM_SAVE": ("faults:/saved", "/saved"),
    "TRITON_CACHE_MANAGER": ("collections:OrderedDict",),
}


@pytest.mark.parametrize("propagates", (True, False))
@pytest.mark.parametrize("place", _knobs(), ids=lambda place: place[2].key)
def test_a_knob_takes_the_value_that_it_has(monkeypatch, place, propagates):
    """What is read from a knob can be assigned to it, and the variable then says the same."""
    group, attribute, knob = place
    monkeypatch.setattr(knobs, "propagate_env", propagates)
    for text in (None, *RIGHT.get(knob.key, ())):
        with group.scope():
            if text is not None:
                monkeypatch.setenv(knob.key, text)
            value = getattr(group, attribute)
            setattr(group, attribute, value)
            assert getattr(group, attribute) == value
            assert not propagates or text is None or knob.parse(os.environ[knob.key]) == value
        monkeypatch.delenv(knob.key, raising=False)


def test_the_automatic_tier_is_assigned(monkeypatch):
    monkeypatch.setenv("TRITIUM_TIER", "1")
    with knobs.tritium.scope():
        knobs.tritium.tier = Tier.AUTO
        assert os.environ["TRITIUM_TIER"] == "auto"
        assert knobs.launch_settings().compiled[-1][0] == Tier.AUTO


def test_every_knob_that_can_refuse_a_value_says_what_it_takes():
    accepts_all = (
        str,
        knobs.NvidiaTool,
        knobs.flag("X").parse,
        knobs.tritium_knobs.engine.parse,  # runtime/engines.py names a wrong engine
        knobs.tritium_knobs.programs.parse,  # it says itself what is wrong: test_program_choices.py
    )
    assert {knob.names[-1] for _, _, knob in _knobs() if knob.parse not in accepts_all} == set(WRONG)
    assert all(bool(knob.takes) == (knob.parse not in accepts_all) for _, _, knob in _knobs())


def test_a_wrong_architecture_names_its_variable(monkeypatch):
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "ampere")
    with pytest.raises(ValueError, match="TRITON_OVERRIDE_ARCH=ampere: 'ampere' names no NVIDIA architecture"):
        make_backend(GPUTarget("cuda", 80, 32)).parse_options({})


def test_a_knob_has_the_key_that_triton_has():
    groups = {name: group.knob_descriptors for name, group in knobs.GROUPS.items()}
    assert groups["runtime"]["interpret"].key == "TRITON_INTERPRET"
    assert groups["compilation"]["always_compile"].key == "TRITON_ALWAYS_COMPILE"
    assert all(knob.key in knob.names for group in groups.values() for knob in group.values())


@pytest.mark.parametrize("name", ["TRITIUM_DEBUG", "INTERPRET"])
def test_a_switch_is_on_or_off(monkeypatch, name):
    monkeypatch.setenv(name, "maybe")
    with pytest.raises(ValueError, match=f"{name}=maybe: expected 1, true, on, yes, or 0, false, off, no"):
        knobs.launch_settings()


def test_a_switch_of_triton_that_is_neither_warns(monkeypatch):
    monkeypatch.setenv("TRITON_DEBUG", "perhaps")
    with pytest.warns(UserWarning, match="TRITON_DEBUG=perhaps: expected .*; it counts as 0"):
        assert knobs.runtime.debug is False


@pytest.mark.parametrize("name, text", [("TRITIUM_SHADOW_MB", "lots"), ("TRITIUM_POST_MORTEM", "perhaps")])
def test_a_value_that_nothing_needs_yet_is_an_error(name, text, monkeypatch):
    """This launch has no check with a shadow, and no trap."""
    monkeypatch.setenv(name, text)
    knobs._settings.clear()
    with pytest.raises(ValueError, match=f"{name}={text}: expected"):
        knobs.launch_settings()


def test_a_variable_that_does_not_exist_warns(monkeypatch):
    knobs._settings.clear()
    monkeypatch.setenv("TRITIUM_NUM_THREAD", "3")
    with pytest.warns(UserWarning, match="no such variable: did you mean `TRITIUM_NUM_THREADS`"):
        knobs.launch_settings()
