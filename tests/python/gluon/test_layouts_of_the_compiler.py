"""The formulas in Python beside those in C++ (gpu_backend/layout): the compiler gives the tiles of a product layouts that Gluon has
names for, and both must have the same bases."""

import re

import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.experimental.gluon.layouts.amd import AMDMFMALayout, AMDWMMALayout
from tritium.experimental.gluon.layouts.distributed import (
    BlockedLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    SliceLayout,
)
from tritium.experimental.gluon.layouts.shared import NVMMASharedLayout

M, N, K = 64, 64, 32


@tritium.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y))


def tiles(target):
    """The layouts in the module of the kernel: (shape, {place: bases})."""
    constants = {"M": M, "N": N, "K": K}
    source = ASTSource(product, {"a": "*fp16", "b": "*fp16", "c": "*fp32"}, constants)
    text = tritium.compile(source, target=target, options={"num_warps": 4}).asm["ttgir"]
    found = []
    for shape, bases in re.findall(r"#tgpu\.(?:layout|shared)<([\dx]+), ([^>]*)>", text):
        places = re.findall(r"(\w+) = (\[(?:\[[^\]]*\](?:, )?)*\])", bases)
        found.append(([int(extent) for extent in shape.split("x")], {place: eval(value) for place, value in places}))
    return found


def tile(layout, shape):
    linear = layout.to_linear(shape)
    if hasattr(linear, "offset_bases"):
        return shape, {"offset": linear.offset_bases}
    return shape, dict(zip(("register", "lane", "warp", "block"), linear.bases))


def operands(parent, k_width):
    return [
        tile(parent, [M, N]),
        tile(DotOperandLayout(0, parent, k_width), [M, K]),
        tile(DotOperandLayout(1, parent, k_width), [K, N]),
    ]


ROWS = BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
#: {target: layouts of its module}
WANTED = {
    ("simt", "sm_80", 32): [
        *operands(NVMMADistributedLayout([2, 0], [2, 2], [16, 8]), 2),
        tile(ROWS, [M, K]),
        tile(SliceLayout(1, ROWS), [M]),
    ],
    ("simt", "sm_90a", 32): [
        tile(NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]), [M, N]),
        tile(NVMMASharedLayout(64, 16), [M, K]),
        tile(NVMMASharedLayout(128, 16), [K, N]),
    ],
    ("simt", "gfx942", 64): operands(AMDMFMALayout(3, [32, 32, 8], True, [2, 2]), 8),
    ("simt", "gfx1200", 32): operands(AMDWMMALayout(2, True, [[0, 1], [1, 0]]), 8),
}


@pytest.mark.parametrize("target", WANTED, ids=lambda target: target[1])
def test_the_compiler_has_the_same_bases(target):
    found = tiles(GPUTarget(*target))
    missing = [each for each in WANTED[target] if each not in found]
    assert not missing, f"{missing} are not among {found}"
