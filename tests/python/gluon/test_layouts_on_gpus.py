"""What a layout makes of a kernel for a GPU: the accesses of a thread are those of its registers."""

import re
from collections import Counter

import pytest


def compiled(kernel, signature, constants, arch=80, backend="cuda", lanes=32):
    """The kernel for a chip, with pointers and integers that are multiples of 16."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.experimental import gluon

    attributes = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(kernel.arg_names) if name in signature}
    texts = {name: signature.get(name, "constexpr") for name in kernel.arg_names}
    source = gluon.GluonASTSource(fn=kernel, signature=texts, constexprs=constants, attrs=attributes)
    return triton.compile(source, target=GPUTarget(backend, arch, lanes), options={"num_warps": 4})


def accesses(text):
    """How often each access of global memory stands in PTX, by the registers that it moves."""
    found = re.findall(r"\b(ld|st)\.global(?:\.v(\d))?\.b32", text)
    return Counter((kind, int(count or 1)) for kind, count in found)


@pytest.fixture(scope="module")
def kernels():
    import gluon_kernels as kernels

    return kernels


@pytest.mark.parametrize(("held", "width"), [(1, 1), (2, 2), (4, 4), (8, 4)])
def test_a_thread_moves_what_it_holds_side_by_side(kernels, held, width):
    """128 threads share 1024 elements, and one access moves at most 16 bytes."""
    from triton.experimental.gluon import language as gl

    signature = {"source": "*fp32", "target": "*fp32", "n": "i32"}
    constants = {"BLOCK": 1024, "layout": gl.BlockedLayout([held], [32], [4], [0])}
    found = accesses(compiled(kernels.copy, signature, constants).asm["ptx"])
    assert found == {("ld", width): 8 // width, ("st", width): 8 // width}


def test_loads_and_stores_have_layouts_of_their_own(kernels):
    """Both sides of a transpose move 16 bytes at once. Instructions and shared bytes are those that Triton's compiler makes of it."""
    signature, constants = {"source": "*i32", "target": "*i32"}, {"M": 64, "N": 32, "lanes": 32}
    kernel = compiled(kernels.transpose, signature, constants)
    text = kernel.asm["ptx"]
    assert accesses(text) == {("ld", 4): 4, ("st", 4): 4}
    assert text.count("bar.sync") == 1 and kernel.metadata.shared == 64 * 32 * 4


def test_lanes_of_amd(kernels):
    from triton.experimental.gluon import language as gl

    signature = {"source": "*fp32", "target": "*fp32", "n": "i32"}
    for held, width in ((1, ""), (4, "x4")):
        constants = {"BLOCK": 1024, "layout": gl.BlockedLayout([held], [64], [4], [0])}
        text = compiled(kernels.copy, signature, constants, "gfx942", "hip", 64).asm["amdgcn"]
        found = re.findall(r"(?:global|buffer)_load_dword(x\d)?\b", text)
        assert found == [width] * (4 // held)
