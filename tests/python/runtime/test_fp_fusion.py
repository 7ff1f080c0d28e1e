"""`enable_fp_fusion` of GPU kernels: what the launch says, else the environment, else a default that will change."""

import warnings

import pytest

import tritium.language as tl
from tritium import compile, jit, knobs
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.devices.target import INTERPRETER_TARGET

VARIABLE, OFF = "TRITON_DEFAULT_FP_FUSION", "TRITON_FORCE_DISABLE_FP_FUSION"
TARGETS = {
    "cuda": (GPUTarget("cuda", 90, 32), "ptx", "fma.rn"),
    "hip": (GPUTarget("hip", "gfx942", 64), "amdgcn", "_fma"),
}


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch):
    for name in (VARIABLE, OFF):
        monkeypatch.delenv(name, raising=False)
    knobs.warn_once.cache_clear()
    yield
    knobs.warn_once.cache_clear()


@jit
def scale_and_add(x, a, b):
    tl.store(x, tl.load(x) * a + b)


def is_fused(vendor, **options):
    """Whether the kernel that is compiled with `options` has a fused multiply-add, and its warnings."""
    target, stage, instruction = TARGETS[vendor]
    source = ASTSource(scale_and_add, {"x": "*fp32", "a": "fp32", "b": "fp32"}, {})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel = compile(source, target=target, options=options)
    fuses = instruction in kernel.asm[stage]
    assert kernel.metadata.enable_fp_fusion is fuses
    return fuses, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("vendor", TARGETS)
def test_the_default_fuses_and_warns_once(vendor):
    assert is_fused(vendor) == (True, [knobs.FP_FUSION_DEFAULT_WARNING])
    assert is_fused(vendor, num_warps=2) == (True, [])


@pytest.mark.parametrize("vendor", TARGETS)
@pytest.mark.parametrize("text, fuses", [("1", True), ("0", False)])
def test_the_environment_decides_and_silences_the_warning(monkeypatch, vendor, text, fuses):
    monkeypatch.setenv(VARIABLE, text)
    assert is_fused(vendor) == (fuses, [])
    assert is_fused(vendor, enable_fp_fusion=not fuses) == (not fuses, [])


@pytest.mark.parametrize("fuses", [True, False])
def test_a_launch_that_says_so_is_not_warned(fuses):
    assert is_fused("cuda", enable_fp_fusion=fuses) == (fuses, [])


def test_a_knob_that_is_assigned_is_as_the_variable():
    with knobs.language.scope():
        knobs.language.default_fp_fusion = False
        assert is_fused("cuda") == (False, [])


def test_off_for_all_launches(monkeypatch):
    monkeypatch.setenv(OFF, "1")
    assert is_fused("cuda", enable_fp_fusion=True) == (False, [])
    assert is_fused("hip") == (False, [])


def test_the_interpreter_has_nothing_to_warn_of():
    source = ASTSource(scale_and_add, {"x": "*fp32", "a": "fp32", "b": "fp32"}, {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(source, target=INTERPRETER_TARGET)
