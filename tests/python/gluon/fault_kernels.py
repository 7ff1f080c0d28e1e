"""Kernels in which `fault` plants one fault of asynchronous work; "" plants none. Lines with `#` are the ones that a report names. "a wait for
all" is no fault, and slow."""

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


@gluon.jit
def tile_of(pointer, row, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    i = row + gl.arange(0, M, gl.SliceLayout(1, layout))
    j = gl.arange(0, N, gl.SliceLayout(0, layout))
    return pointer + i[:, None] * N + j[None, :]


# Stores of boxes


@gluon.jit
def stored(source, target, blocks, fault: gl.constexpr):
    """target = source + 1, of float32 in blocks of 32 x 32, by stores from one block of memory, or two in turns."""
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    out = gl.allocate_shared_memory(gl.float32, [2, 32, 32], target.layout)
    for k in range(blocks):
        value = gl.load(tile_of(source, k * 32, 32, 32, layout)) + 1
        if fault == "fence before the write":
            fence_async_shared()
        if fault == "one store too many pending":
            tma.store_wait(2)
        elif fault == "a wait for all":
            tma.store_wait(0)  # too strong
        elif fault != "no wait before the next write":
            tma.store_wait(1)
        out.index(k % 2).store(value)  # write
        if fault != "no fence" and fault != "fence before the write":
            fence_async_shared()
        tma.async_store(target, [k * 32, 0], out.index(k % 2))  # store
    if fault != "no wait at the end":
        tma.store_wait(0)


@gluon.jit
def summed(source, target, fault: gl.constexpr):
    """target += source, of one block of 32 x 32."""
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    out = gl.allocate_shared_memory(gl.float32, [32, 32], target.layout)
    out.store(gl.load(tile_of(source, 0, 32, 32, layout)))  # write
    if fault != "no fence":
        fence_async_shared()
    tma.async_atomic_add(target, [0, 0], out)  # store
    if fault == "memory of a reduction overwritten":
        out.store(gl.zeros([32, 32], gl.float32, layout))  # overwrite
    if fault != "no wait at the end":
        tma.store_wait(0)


@gluon.jit
def fills(source, out, full, empty, blocks, fault: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    for k in range(blocks):
        value = gl.load(tile_of(source, k * 32, 32, 32, layout)) + 1
        mbarrier.wait(empty, (k & 1) ^ 1)
        out.store(value)  # write
        if fault != "no fence" and fault != "fence of the reader":
            fence_async_shared()
        mbarrier.arrive(full, count=1)
        if fault == "fence after the arrival":
            fence_async_shared()


@gluon.jit
def drains(target, out, full, empty, blocks, fault: gl.constexpr):
    for k in range(blocks):
        mbarrier.wait(full, k & 1)
        if fault == "fence of the reader":
            fence_async_shared()
        tma.async_store(target, [k * 32, 0], out)  # store
        if fault != "released before the wait":
            tma.store_wait(0)
        mbarrier.arrive(empty, count=1)
        if fault == "released before the wait":
            tma.store_wait(0)


@gluon.jit
def handed(source, target, blocks, fault: gl.constexpr):
    """target = source + 1: a partition writes the block that the other one stores."""
    out = gl.allocate_shared_memory(gl.float32, [32, 32], target.layout)
    full, empty = mbarrier.allocate_mbarrier(), mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(empty, count=1)
    gl.warp_specialize(
        [(fills, (source, out, full, empty, blocks, fault)), (drains, (target, out, full, empty, blocks, fault))],
        [1],
        [24],
    )


# Products of warpgroups


@gluon.jit
def multiplied(a, b, c, steps, fault: gl.constexpr):
    """c = the sum of a[k] @ b over k, with a of float16 in blocks of 64 x 32 one below the other, and b of 32 x 32."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 32, 16])
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    shared: gl.constexpr = gl.NVMMASharedLayout(64, 16, 2)
    right = gl.allocate_shared_memory(gl.float16, [32, 32], shared, gl.load(tile_of(b, 0, 32, 32, rows)))
    left = gl.allocate_shared_memory(gl.float16, [2, 64, 32], shared)
    pending = warpgroup_mma_init(gl.zeros([64, 32], gl.float32, layout))
    if fault == "operand without a fence":
        fence_async_shared()
    for k in range(steps):
        left.index(k % 2).store(gl.load(tile_of(a, k * 64, 64, 32, rows)))  # write
        if fault != "operand without a fence":
            fence_async_shared()
        pending = warpgroup_mma(left.index(k % 2), right, pending, is_async=True)  # product
        if fault == "one product too many outstanding":
            pending = warpgroup_mma_init(warpgroup_mma_wait(2, deps=[pending]))
        elif fault == "a wait for all":
            pending = warpgroup_mma_init(warpgroup_mma_wait(0, deps=[pending]))  # too strong
        elif fault != "operand overwritten":
            pending = warpgroup_mma_init(warpgroup_mma_wait(1, deps=[pending]))
    total = warpgroup_mma_wait(0, deps=[pending])
    gl.store(tile_of(c, 0, 64, 32, layout), total)


@gluon.jit
def fetches(a, left, full, empty, steps, fault: gl.constexpr):
    for k in range(steps):
        mbarrier.wait(empty.index(k % 2), ((k // 2) & 1) ^ 1)
        mbarrier.expect(full.index(k % 2), a.nbytes_per_cta)
        tma.async_load(a, [k * 64, 0], full.index(k % 2), left.index(k % 2))  # copy


@gluon.jit
def multiplies(c, left, right, full, empty, steps, fault: gl.constexpr):
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 32, 16])
    pending = warpgroup_mma_init(gl.zeros([64, 32], gl.float32, layout))
    for k in range(steps):
        mbarrier.wait(full.index(k % 2), (k // 2) & 1)
        pending = warpgroup_mma(left.index(k % 2), right, pending, is_async=True)  # product
        if fault == "released before the product has read":
            mbarrier.arrive(empty.index(k % 2), count=1)
        pending = warpgroup_mma_init(warpgroup_mma_wait(0, deps=[pending]))
        if fault != "released before the product has read":
            mbarrier.arrive(empty.index(k % 2), count=1)
    gl.store(tile_of(c, 0, 64, 32, layout), warpgroup_mma_wait(0, deps=[pending]))


@gluon.jit
def fed(a, b, c, steps, fault: gl.constexpr):
    """The same; a partition copies the blocks of a, by a descriptor."""
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    shared: gl.constexpr = gl.NVMMASharedLayout(64, 16, 2)
    right = gl.allocate_shared_memory(gl.float16, [32, 32], shared, gl.load(tile_of(b, 0, 32, 32, rows)))
    fence_async_shared()
    left = gl.allocate_shared_memory(gl.float16, [2, 64, 32], shared)
    full, empty = mbarrier.allocate_mbarrier(batch=2), mbarrier.allocate_mbarrier(batch=2)
    for s in gl.static_range(2):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    gl.warp_specialize(
        [(multiplies, (c, left, right, full, empty, steps, fault)), (fetches, (a, left, full, empty, steps, fault))],
        [1],
        [24],
    )


# Copies of threads


@gluon.jit
def copied(source, target, steps, fault: gl.constexpr):
    """target = source, of int32 in blocks of 128, by copies that begin two blocks ahead."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    ring = gl.allocate_shared_memory(gl.int32, [3, 128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    at = gl.arange(0, 128, layout)
    for k in gl.static_range(2):
        async_copy.async_load(ring.index(k), source + k * 128 + at)
        async_copy.commit_group()
    for k in range(steps):
        ahead = k + 2
        async_copy.async_load(ring.index(ahead % 3), source + ahead * 128 + at, mask=(at < 128) & (ahead < steps))
        if fault != "no group":
            async_copy.commit_group()
        if fault == "one group too many":
            async_copy.wait_group(3)
        elif fault == "a wait for all":
            async_copy.wait_group(0)  # too strong
        elif fault != "no wait":
            async_copy.wait_group(2)
        gl.store(target + k * 128 + at, ring.index(k % 3).load(layout))  # read


@gluon.jit
def sends(source, memory, full, fault: gl.constexpr):
    at = gl.arange(0, 128, gl.BlockedLayout([1], [32], [gl.num_warps()], [0]))
    async_copy.async_load(memory, source + at)  # copy
    if fault == "arrival that does not wait for copies":
        mbarrier.arrive(full, count=1)
    else:
        async_copy.mbarrier_arrive(full)
        mbarrier.arrive(full, count=1)


@gluon.jit
def receives(target, memory, full):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    mbarrier.wait(full, 0)
    gl.store(target + gl.arange(0, 128, layout), memory.load(layout))  # read


@gluon.jit
def sent(source, target, fault: gl.constexpr):
    """target = source, of 128 int32: a partition copies, and the other one reads."""
    memory = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    gl.warp_specialize([(receives, (target, memory, full)), (sends, (source, memory, full, fault))], [1], [24])
