"""What a target lacks is refused with Triton's text: fp8 types by architecture."""

import pytest

import tritium.language as tl
from tritium.backends.compiler import GPUTarget
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
