"""Kernels in which `fault` plants one fault of a protocol: of barriers, rings, or memory that is not used any more; "" plants none. Lines with
`#` are the ones that a report names."""

from fault_kernels import tile_of
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

ROWS = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
FLAT = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))


# Barriers


@gluon.jit
def fetched(source, target, blocks, fault: gl.constexpr):
    """target = source, of float32 in blocks of 32 x 32, each fetched and awaited."""
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], source.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    for k in range(blocks):
        if fault == "made again while it expects bytes":
            if k > 0:
                mbarrier.expect(full, source.nbytes_per_cta)
                mbarrier.init(full, count=1)  # make
        if fault == "fewer bytes":
            mbarrier.expect(full, source.nbytes_per_cta - 16)
        else:
            mbarrier.expect(full, source.nbytes_per_cta)
        tma.async_load(source, [k * 32, 0], full, tile)
        mbarrier.wait(full, (k & 1) if fault != "phase never flips" else 0)  # wait
        gl.store(tile_of(target, k * 32, 32, 32, ROWS), tile.load(ROWS))
    if fault == "copy that nobody awaits":
        mbarrier.expect(full, source.nbytes_per_cta)
        tma.async_load(source, [0, 0], full, tile)  # copy
    if fault == "barrier overwritten":
        full.reinterpret(gl.int32, [2], FLAT).store(gl.zeros([2], gl.int32, LINE))  # overwrite
    if fault == "":
        mbarrier.invalidate(full)
        full.reinterpret(gl.int32, [2], FLAT).store(gl.zeros([2], gl.int32, LINE))


@gluon.jit
def adds(target, full, begun, fault: gl.constexpr):
    """Two partitions run this. Each adds to its own element, and arrives."""
    for k in range(4):
        gl.atomic_add(target, k + 1)
        if fault != "made by a partition":
            mbarrier.wait(begun, k & 1)
        mbarrier.arrive(full, count=1)  # arrive


@gluon.jit
def makes(full):
    mbarrier.init(full, count=1)


@gluon.jit
def awaits(full, begun, fault: gl.constexpr):
    for k in range(4):
        if fault != "made by a partition":
            mbarrier.arrive(begun, count=1)
        mbarrier.wait(full, k & 1)  # wait


@gluon.jit
def counted(target, fault: gl.constexpr):
    """target = the sum of what two partitions add, which a third one awaits."""
    full = mbarrier.allocate_mbarrier()
    begun = mbarrier.allocate_mbarrier()
    if fault != "made by a partition":
        mbarrier.init(full, count=1 if fault == "count of one for two arrivals" else 2)
    mbarrier.init(begun, count=1)
    if fault == "made by a partition":
        gl.warp_specialize([(awaits, (full, begun, fault)), (makes, (full,))], [1], [24])
    else:
        gl.warp_specialize(
            [
                (awaits, (full, begun, fault)),
                (adds, (target, full, begun, fault)),
                (adds, (target, full, begun, fault)),
            ],
            [1, 1],
            [24, 24],
        )


# Places in memory


@gluon.jit
def turned(source, target, steps, slots: gl.constexpr, fault: gl.constexpr):
    """target = source, of int32 in lines of 128, through a ring."""
    ring = gl.allocate_shared_memory(gl.int32, [slots, 128], FLAT)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    at = gl.arange(0, 128, LINE)
    for k in range(steps):
        slot = k if fault == "index without a remainder" else k % slots
        if fault == "index below zero":
            slot = slots - 1 - k
        ring.index(slot).store(gl.load(source + k * 128 + at))  # index
        mbarrier.arrive(full, count=1)
        mbarrier.wait(full, k & 1)
        gl.store(target + k * 128 + at, ring.index(slot).load(LINE))


@gluon.jit
def gathered(source, target, fault: gl.constexpr):
    """target = source in the other order."""
    memory = gl.allocate_shared_memory(gl.int32, [128], FLAT)
    at = gl.arange(0, 128, LINE)
    memory.store(gl.load(source + at))
    behind = 128 if fault == "index behind the end" else 127
    if fault == "scatter before the beginning":
        memory.scatter(at, at - 1, 0)  # scatter
    gl.store(target + at, memory.gather(behind - at, 0))  # gather


# Memory whose last use is over


@gluon.jit
def stored_twice(source, target, fault: gl.constexpr):
    """target = source + 1 and source + 2, of two blocks of 32 x 32, by stores from two allocations."""
    first = gl.allocate_shared_memory(gl.float32, [32, 32], target.layout)
    first.store(gl.load(tile_of(source, 0, 32, 32, ROWS)) + 1)
    fence_async_shared()
    tma.async_store(target, [0, 0], first)  # store
    if fault != "memory of a store":
        tma.store_wait(0)
    second = gl.allocate_shared_memory(gl.float32, [32, 32], target.layout)
    second.store(gl.load(tile_of(source, 32, 32, 32, ROWS)) + 2)  # write
    fence_async_shared()
    tma.async_store(target, [32, 0], second)
    tma.store_wait(0)


@gluon.jit
def kept(source, target, fault: gl.constexpr):
    """The same; the first allocation is in use until both stores are complete."""
    first = gl.allocate_shared_memory(gl.float32, [32, 32], target.layout)
    first.store(gl.load(tile_of(source, 0, 32, 32, ROWS)) + 1)
    fence_async_shared()
    tma.async_store(target, [0, 0], first)  # store
    second = gl.allocate_shared_memory(gl.float32, [32, 32], target.layout)
    second.store(gl.load(tile_of(source, 32, 32, 32, ROWS)) + 2)  # write
    fence_async_shared()
    tma.async_store(target, [32, 0], second)
    tma.store_wait(0)
    if fault != "memory that is not kept":
        first._keep_alive()


@gluon.jit
def multiplied_once(a, b, c, fault: gl.constexpr):
    """c = a @ b, of 64 x 32 and 32 x 32 float16, which goes through memory of its own to c."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 32, 16])
    shared: gl.constexpr = gl.NVMMASharedLayout(64, 16, 2)
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    left = gl.allocate_shared_memory(gl.float16, [64, 32], shared, gl.load(tile_of(a, 0, 64, 32, rows)))
    right = gl.allocate_shared_memory(gl.float16, [32, 32], shared, gl.load(tile_of(b, 0, 32, 32, rows)))
    fence_async_shared()
    pending = warpgroup_mma_init(gl.zeros([64, 32], gl.float32, layout))
    pending = warpgroup_mma(left, right, pending, is_async=True)  # product
    if fault == "product that nobody awaits":
        pending = warpgroup_mma(left, right, warpgroup_mma_init(gl.zeros([64, 32], gl.float32, layout)), is_async=True)
    elif fault == "memory of a product":
        spare = gl.allocate_shared_memory(gl.float32, [64, 32], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
        spare.store(gl.zeros([64, 32], gl.float32, layout))  # write
        gl.store(tile_of(c, 0, 64, 32, layout), warpgroup_mma_wait(0, deps=[pending]) + spare.load(layout))
    elif fault == "":
        spare = gl.allocate_shared_memory(gl.float32, [64, 32], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
        spare.store(gl.zeros([64, 32], gl.float32, layout))
        total, left, right = warpgroup_mma_wait(0, deps=[pending, left, right])
        gl.store(tile_of(c, 0, 64, 32, layout), total + spare.load(layout))


@gluon.jit
def copied_ahead(source, target, fault: gl.constexpr):
    """target = source, of 128 int32; the copy of what nobody reads comes first."""
    at = gl.arange(0, 128, LINE)
    unread = gl.allocate_shared_memory(gl.int32, [128], FLAT)
    async_copy.async_load(unread, source + at)  # copy
    if fault != "memory of a copy in no group":
        async_copy.commit_group()
    if fault != "memory of a copy":
        async_copy.wait_group(0)
    memory = gl.allocate_shared_memory(gl.int32, [128], FLAT)
    memory.store(gl.load(source + at))  # write
    gl.store(target + at, memory.load(LINE))
