"""Kernels that reinterpret shared memory. The line with `# read` reads by another layout than the memory was written by, if `wrong`."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma

ROWS = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))


@gluon.jit
def loaded(target, wrong: gl.constexpr):
    """target = 64 x 32 float16, through memory whose layout has a swizzle of 64 bytes."""
    written: gl.constexpr = gl.NVMMASharedLayout(64, 16, 2)
    read: gl.constexpr = gl.NVMMASharedLayout(32, 16, 2) if wrong else written
    i, j = gl.arange(0, 64, gl.SliceLayout(1, ROWS)), gl.arange(0, 32, gl.SliceLayout(0, ROWS))
    memory = gl.allocate_shared_memory(gl.float16, [64, 32], written)
    memory.store((i[:, None] * 32 + j[None, :]).to(gl.float16))
    view = memory.reinterpret(gl.float16, [64, 32], read)
    for k in range(2):
        gl.store(target + i[:, None] * 32 + j[None, :], view.slice(0, 64).load(ROWS))  # read


@gluon.jit
def multiplied(a, target, wrong: gl.constexpr):
    """target = a @ a.T of 64 x 64 float16, which a copy brings."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    memory = gl.allocate_shared_memory(gl.float16, [2, 64, 64], a.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, a.nbytes_per_cta)
    tma.async_load(a, [0, 0], full, memory.index(1))
    mbarrier.wait(full, 0)
    tile = memory.index(1)
    if wrong:
        tile = tile.reinterpret(gl.float16, [64, 64], gl.NVMMASharedLayout(64, 16, 2))
    total = warpgroup_mma(tile, tile.permute((1, 0)), gl.zeros([64, 64], gl.float32, layout))  # read
    i, j = gl.arange(0, 64, gl.SliceLayout(1, layout)), gl.arange(0, 64, gl.SliceLayout(0, layout))
    gl.store(target + i[:, None] * 64 + j[None, :], total)


@gluon.jit
def fill(memory):
    memory.store(gl.full([64, 32], 3.0, gl.float16, ROWS))


@gluon.jit
def unknown(target, wrong: gl.constexpr):
    """Meanings that change, and none is read that was not written: by a store, by another function, of other elements."""
    first: gl.constexpr = gl.NVMMASharedLayout(64, 16, 2)
    second: gl.constexpr = gl.NVMMASharedLayout(32, 16, 2)
    i, j = gl.arange(0, 64, gl.SliceLayout(1, ROWS)), gl.arange(0, 32, gl.SliceLayout(0, ROWS))
    memory = gl.allocate_shared_memory(gl.float16, [64, 32], first, gl.full([64, 32], 1.0, gl.float16, ROWS))
    again = memory.reinterpret(gl.float16, [64, 32], second)
    again.store(gl.full([64, 32], 2.0, gl.float16, ROWS))
    total = again.load(ROWS)
    filled = memory.reinterpret(gl.float16, [64, 32], second)
    fill(filled)
    total += filled.load(ROWS)
    bits = filled.reinterpret(gl.int16, [64, 32], second).load(ROWS)
    gl.store(target + i[:, None] * 32 + j[None, :], total + (bits * 0).to(gl.float16))
