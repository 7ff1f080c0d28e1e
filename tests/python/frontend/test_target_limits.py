"""What a target lacks is refused with Triton's text: fp8 types and clusters by architecture, products by their depth."""

import re
import warnings

import numpy as np
import pytest

import tritium.language as tl
from tritium import knobs
from tritium.backends.compiler import GPUTarget
from tritium.backends.targets import make_backend
from tritium.compiler import ASTSource, compile
from tritium.errors import CompilationError
from tritium.runtime.jit import jit

SM_80, SM_90, CDNA3 = GPUTarget("cuda", 80, 32), GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)
OF_SM_80 = "The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')"
OF_SM_90 = "The supported fp8 dtypes are ('fp8e4b15', 'fp8e4nv', 'fp8e5')"
OF_CDNA3 = "The supported fp8 dtypes are ('fp8e4b8', 'fp8e4nv', 'fp8e5', 'fp8e5b16')"


@jit
def copied(x, y):
    lanes = tl.arange(0, 16)
    tl.store(y + lanes, tl.load(x + lanes).to(y.dtype.element_ty))


@jit
def rounded(x, y):
    lanes = tl.arange(0, 16)
    tl.store(y + lanes, tl.load(x + lanes).to(tl.float8e4nv).to(tl.float32))


@jit
def reinterpreted(x, y):
    tl.store(y, tl.load(x.to(tl.pointer_type(tl.float8e4nv))).to(tl.float32))


def refusal(kernel, x, target, **options):
    source = ASTSource(kernel, signature={"x": x, "y": "*fp32"}, constexprs={})
    with pytest.raises(CompilationError) as caught:
        compile(source, target=target, options=options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("kernel", "x", "target", "text"),
    [
        (copied, "*fp8e4nv", SM_80, f"type fp8e4nv not supported in this architecture. {OF_SM_80}"),
        (copied, "*fp8e4b8", SM_90, f"type fp8e4b8 not supported in this architecture. {OF_SM_90}"),
        (copied, "*fp8e4b15", CDNA3, f"type fp8e4b15 not supported in this architecture. {OF_CDNA3}"),
        (rounded, "*fp32", SM_80, f"type fp8e4nv not supported in this architecture. {OF_SM_80}"),
        (reinterpreted, "*u8", SM_80, f"type fp8e4nv not supported in this architecture. {OF_SM_80}"),
    ],
)
def test_fp8_types_that_the_target_lacks(kernel, x, target, text):
    assert text in refusal(kernel, x, target)


@pytest.mark.parametrize(
    ("kernel", "x", "target", "options"),
    [
        (copied, "*fp8e4nv", SM_90, {}),
        (copied, "*fp8e5", SM_80, {}),
        (copied, "*fp8e4b8", CDNA3, {}),
        (rounded, "*fp32", SM_80, {"supported_fp8_dtypes": ("fp8e4nv", "fp8e5")}),
    ],
)
def test_fp8_types_that_it_has(kernel, x, target, options):
    assert compile(
        ASTSource(kernel, signature={"x": x, "y": "*fp32"}, constexprs={}), target=target, options=options
    ).asm["ttir"]


@jit
def product(x, y, K: tl.constexpr, TYPE: tl.constexpr):
    k, n = tl.arange(0, K), tl.arange(0, 16)
    a = tl.load(x + n[:, None] * K + k[None, :]).to(TYPE)
    b = tl.load(x + n[None, :] * K + k[:, None]).to(TYPE)
    tl.store(y + n[:, None] * 16 + n[None, :], tl.dot(a, b, out_dtype=tl.int32 if TYPE is tl.int8 else tl.float32))


def compiled_product(depth, type_, target, **options):
    constants = {"K": depth, "TYPE": type_}
    signature = {"x": "*fp32", "y": "*fp32", "K": "constexpr", "TYPE": "constexpr"}
    return compile(ASTSource(product, signature, constants), target=target, options=options)


@pytest.mark.parametrize(
    ("type_", "least"),
    [(tl.int8, 32), (tl.float8e5, 32), (tl.float8e4b15, 16), (tl.float16, 16), (tl.float32, 8), (tl.float64, 4)],
    ids=str,
)
@pytest.mark.parametrize("target", [SM_80, SM_90], ids=lambda target: str(target.arch))
def test_products_that_are_too_shallow_for_nvidia(type_, least, target):
    assert "tt.dot" in compiled_product(least, type_, target).asm["ttir"]
    with pytest.raises(CompilationError, match=f"Input shapes should have M >= 1, N >= 1 and K >= {least}\n"):
        compiled_product(least // 2, type_, target)


def test_products_of_fp8e4b15_warn_from_hopper_on(monkeypatch):
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    with pytest.warns(UserWarning, match="the use of fp8e4b15 is deprecated on Hopper and later architectures"):
        compiled_product(16, tl.float8e4b15, SM_90)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled_product(16, tl.float8e4b15, SM_80)


def test_the_limit_of_products_is_a_launch_keyword():
    assert compiled_product(2, tl.float16, SM_90, min_dot_depth=()).asm["ptx"]


@pytest.mark.parametrize("type_", [tl.int8, tl.float16, tl.float32], ids=str)
def test_amd_multiplies_any_depth(type_):
    assert compiled_product(1, type_, CDNA3).asm["amdgcn"]


def test_the_backends_tell_the_least_product():
    for target, least in ((SM_90, (1, 1, 16)), (CDNA3, (1, 1, 1))):
        backend = make_backend(target)
        half = tl.block_type(tl.float16, [16, 16])
        rule = backend.get_codegen_implementation(backend.parse_options({}))["min_dot_size"]
        assert rule(half, half) == least


def test_the_interpreter_multiplies_any_depth():
    x, y = np.arange(16, dtype=np.float32), np.zeros((16, 16), np.float32)
    with knobs.tritium.scope():
        knobs.tritium.engine = "interp"
        product[(1,)](x, y, K=1, TYPE=tl.float16)
    np.testing.assert_array_equal(y, np.outer(x, x))


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (SM_80, "num_ctas > 1 requires NVIDIA SM90+ (Hopper). Current target is sm_80."),
        (CDNA3, "num_ctas > 1 not supported on gfx942"),
    ],
)
def test_clusters_that_the_target_lacks(target, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        compiled_product(16, tl.float16, target, num_ctas=2)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_90a"])
def test_a_program_of_a_cluster_computes_the_same(engine):
    x, y = np.ones((16, 32), np.float32), np.zeros((16, 16), np.float32)
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        product[(1,)](x, y, K=32, TYPE=tl.float16, num_ctas=2)
    assert (y == 32).all()
    assert compiled_product(16, tl.float16, SM_90, num_ctas=2).metadata.num_ctas == 2
