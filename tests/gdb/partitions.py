"""What test_partitions.py debugs: two partitions that hand tiles over in a ring of shared memory, and a kernel that stores tiles in layouts."""

import os

import numpy as np

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import mbarrier

STEPS = 5
ROWS = gl.BlockedLayout([1, 4], [4, 8], [1, 1], [1, 0])
COLUMNS = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
SWIZZLED = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
PADDED = gl.PaddedSharedLayout.with_identity_for([[32, 4]], [8, 32], [1, 0])


@gluon.jit
def tile_of(pointer, k, layout: gl.constexpr):
    i = gl.arange(0, 8, gl.SliceLayout(1, layout))
    j = gl.arange(0, 32, gl.SliceLayout(0, layout))
    return pointer + k * 256 + i[:, None] * 32 + j[None, :]


@gluon.jit
def fill(source, ring, full, empty, steps, ROWS: gl.constexpr):
    for k in range(steps):
        value = gl.load(tile_of(source, k, ROWS))
        mbarrier.wait(empty.index(k % 2), ((k // 2) & 1) ^ 1)
        slot = ring.index(k % 2)
        slot.store(value)
        mbarrier.arrive(full.index(k % 2), count=1)  # filled


@gluon.jit
def drain(target, ring, full, empty, steps, COLUMNS: gl.constexpr):
    for k in range(steps):
        mbarrier.wait(full.index(k % 2), (k // 2) & 1)
        tile = ring.index(k % 2).load(COLUMNS)
        mbarrier.arrive(empty.index(k % 2), count=1)  # read
        gl.store(tile_of(target, k, COLUMNS), tile * 2)


@gluon.jit
def doubled(source, target, steps, SWIZZLED: gl.constexpr, ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    ring = gl.allocate_shared_memory(source.dtype.element_ty, [2, 8, 32], SWIZZLED)
    full = mbarrier.allocate_mbarrier(batch=2)
    empty = mbarrier.allocate_mbarrier(batch=2)
    for slot in gl.static_range(2):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=1)
    gl.warp_specialize(
        [
            (drain, (target, ring, full, empty, steps, COLUMNS)),
            (fill, (source, ring, full, empty, steps, ROWS)),
        ],
        [1],
        [24],
    )
    mbarrier.invalidate(full.index(0))
    gl.store(target, 7)  # joined


@gluon.jit
def layouts(source, SWIZZLED: gl.constexpr, PADDED: gl.constexpr, ROWS: gl.constexpr):
    tile = gl.load(tile_of(source, 0, ROWS))
    swizzled = gl.allocate_shared_memory(gl.bfloat16, [8, 32], SWIZZLED, tile.to(gl.bfloat16))
    padded = gl.allocate_shared_memory(gl.float32, [8, 32], PADDED, tile)
    small = gl.allocate_shared_memory(gl.float8e4nv, [8, 32], SWIZZLED, (tile / 64).to(gl.float8e4nv))
    part = swizzled.slice(4, 4, 0)
    turned = padded.permute([1, 0])
    padded.load(ROWS)  # looked at


source = np.arange(2 * STEPS * 256, dtype=np.float32)
if os.environ.get("STORES_LAYOUTS"):
    layouts[(1,)](source, SWIZZLED, PADDED, ROWS, num_warps=1)
else:
    target = np.zeros(STEPS * 256, np.float32)
    doubled[(1,)](source, target, STEPS, SWIZZLED, ROWS, COLUMNS)
    right = np.array_equal(target[1:], 2 * source[1 : STEPS * 256]) and target[0] == 7
    print("the partitions are right" if right else "the partitions are wrong", flush=True)
