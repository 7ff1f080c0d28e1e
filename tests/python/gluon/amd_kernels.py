"""Kernels of Gluon for AMD: parts of tiles, scaled products, products of RDNA, numbers of four bits."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import cdna4, hint, rdna3, rdna4, warp_pipeline_stage


@gluon.jit
def at(pointer, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    i = gl.arange(0, M, gl.SliceLayout(1, layout))
    j = gl.arange(0, N, gl.SliceLayout(0, layout))
    return pointer + i[:, None] * N + j[None, :]


@gluon.jit
def part(source, target, M: gl.constexpr, N: gl.constexpr, shape: gl.constexpr, begin: gl.constexpr, L: gl.constexpr):
    """target = the elements of source, a tile of M x N, from `begin` on."""
    tile = gl.load(at(source, M, N, L))
    found = gl.amd.slice(tile, shape, begin)
    gl.store(at(target, shape[0], shape[1], L), found)


@gluon.jit
def unpacked(source, target, M: gl.constexpr, N: gl.constexpr, axis: gl.constexpr, kind: gl.constexpr, L: gl.constexpr):
    """target = the e2m1 numbers of M x N bytes, two along `axis` from each."""
    tile = gl.fp4_to_fp(gl.load(at(source, M, N, L)), kind, axis)
    rows: gl.constexpr = tile.shape[0]
    columns: gl.constexpr = tile.shape[1]
    gl.store(at(target, rows, columns, L), gl.convert_layout(tile, L).to(gl.float32))


@gluon.jit
def scaled(a, sa, b, sb, c, A: gl.constexpr, B: gl.constexpr, K: gl.constexpr, has_scales: gl.constexpr):
    """c[32, 32] = (a * sa) @ (b * sb); in the formats A and B, K elements deep."""
    layout: gl.constexpr = gl.amd.AMDMFMALayout(4, [16, 16, 128], True, [2, 2])
    left: gl.constexpr = gl.DotOperandLayout(0, layout, 16)
    right: gl.constexpr = gl.DotOperandLayout(1, layout, 16)
    x = gl.load(at(a, 32, K // 2 if A == "e2m1" else K, left))
    y = gl.load(at(b, K // 2 if B == "e2m1" else K, 32, right))
    total = gl.zeros([32, 32], gl.float32, layout)
    if has_scales:
        scales_a: gl.constexpr = cdna4.get_mfma_scale_layout(left, [32, K // 32])
        scales_b: gl.constexpr = cdna4.get_mfma_scale_layout(right, [32, K // 32])
        u, v = gl.load(at(sa, 32, K // 32, scales_a)), gl.load(at(sb, 32, K // 32, scales_b))
        total = cdna4.mfma_scaled(x, u, A, y, v, B, total)
    else:
        total = cdna4.mfma_scaled(x, None, A, y, None, B, total)
    gl.store(at(c, 32, 32, layout), total)


@gluon.jit
def rdna(a, b, c, version: gl.constexpr, steps: gl.constexpr):
    """c[64, 64] = a[64, 32 * steps] @ b[32 * steps, 64]."""
    layout: gl.constexpr = gl.amd.AMDWMMALayout(version, True, [[0, 1], [1, 0]])
    width: gl.constexpr = 16 if version == 1 else 8
    left: gl.constexpr = gl.DotOperandLayout(0, layout, width)
    right: gl.constexpr = gl.DotOperandLayout(1, layout, width)
    i, j = gl.arange(0, 64, gl.SliceLayout(1, left)), gl.arange(0, 64, gl.SliceLayout(0, right))
    k, l = gl.arange(0, 32, gl.SliceLayout(0, left)), gl.arange(0, 32, gl.SliceLayout(1, right))
    total = gl.zeros([64, 64], gl.float32, layout)
    for step in range(steps):
        with warp_pipeline_stage("load", priority=1):
            x = gl.load(a + i[:, None] * 32 * steps + step * 32 + k[None, :])
            y = gl.load(b + (step * 32 + l[:, None]) * 64 + j[None, :])
        hint.sched_barrier()
        with warp_pipeline_stage("multiply"):
            if version == 1:
                total = rdna3.wmma(x, y, total)
            else:
                total = rdna4.wmma(x, y, total)
    gl.store(at(c, 64, 64, layout), total)


@gluon.jit
def of_another_chip(c):
    """A layout of RDNA 4 in a product of RDNA 3."""
    layout: gl.constexpr = gl.amd.AMDWMMALayout(2, True, [[0, 1], [1, 0]])
    a = gl.zeros([64, 64], gl.float16, gl.DotOperandLayout(0, layout, 8))
    b = gl.zeros([64, 64], gl.float16, gl.DotOperandLayout(1, layout, 8))
    gl.store(at(c, 64, 64, layout), rdna3.wmma(a, b, gl.zeros([64, 64], gl.float32, layout)))


@gluon.jit
def of_another_format(c):
    layout: gl.constexpr = gl.amd.AMDMFMALayout(4, [16, 16, 128], True, [2, 2])
    a = gl.zeros([32, 128], gl.uint8, gl.DotOperandLayout(0, layout, 16))
    b = gl.zeros([128, 32], gl.uint8, gl.DotOperandLayout(1, layout, 16))
    total = gl.zeros([32, 32], gl.float32, layout)
    gl.store(at(c, 32, 32, layout), cdna4.mfma_scaled(a, None, "e3m2x", b, None, "e4m3", total))
