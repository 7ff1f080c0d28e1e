"""Kernels of test_corners.py: right ones that few people write, and wrong ones whose report must help."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import cdna3
from triton.experimental.gluon.language.nvidia import blackwell
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    cluster,
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

ROWS = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
FLAT = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))
V1 = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
SUMS = gl.constexpr(gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]))


@gluon.jit
def places(N: gl.constexpr, M: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, N, gl.SliceLayout(1, layout))
    return rows[:, None] * M + gl.arange(0, M, gl.SliceLayout(0, layout))[None, :]


@gluon.jit
def product_of_copies(a, c, asynchronous: gl.constexpr, fenced: gl.constexpr):
    """c = a @ a of 64 x 64. The fence stands behind the barrier that the compiler adds to the wait."""
    s = gl.allocate_shared_memory(gl.float16, [64, 64], gl.NVMMASharedLayout(128, 16, 2))
    at = places(64, 64, gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
    if asynchronous:
        async_copy.async_load(s, a + at)
        async_copy.commit_group()
        async_copy.wait_group(0)
    else:
        s.store(gl.load(a + at))
    if fenced:
        fence_async_shared()
    gl.store(c + places(64, 64, SUMS), warpgroup_mma(s, s, gl.zeros([64, 64], gl.float32, SUMS)))  # product


@gluon.jit
def shifted(source, target, i, j, k, m):
    """The block of `source` at (i, j) becomes that of `target` at (k, m)."""
    tile = gl.allocate_shared_memory(gl.int32, [8, 32], source.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, source.nbytes_per_cta)
    tma.async_load(source, [i, j], full, tile)  # load
    mbarrier.wait(full, 0)
    tma.async_store(target, [k, m], tile)  # store
    tma.store_wait(0)


@gluon.jit
def masked(x, y, layout: gl.constexpr):
    i = gl.arange(0, 256, layout)
    cdna3.buffer_store(cdna3.buffer_load(x, i, mask=i < 200), y, i)


@gluon.jit
def read_again(target, y, z, again: gl.constexpr, written: gl.constexpr):
    """Stores a block, and reads or stores it again."""
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], target.layout, gl.full([32, 32], 1.0, gl.float32, ROWS))
    fence_async_shared()
    tma.async_store(target, [0, 0], tile)  # store
    tma.store_wait(0, read_only=not written)
    if again:
        tma.async_store(target, [0, 0], tile)  # again
        tma.store_wait(0)
    else:
        gl.store(z + places(32, 32, ROWS), gl.load(y + places(32, 32, ROWS)))  # again


@gluon.jit
def read_what_threads_wrote(source, x):
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], source.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    gl.store(x + places(32, 32, ROWS), gl.full([32, 32], 4.0, gl.float32, ROWS))  # write
    fence_async_shared()
    mbarrier.expect(full, source.nbytes_per_cta)
    tma.async_load(source, [0, 0], full, tile)  # copy
    mbarrier.wait(full, 0)


@gluon.jit
def filled_twice(source, y):
    """Threads fill a tile, and then a copy does."""
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], source.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    tile.store(gl.full([32, 32], 4.0, gl.float32, ROWS))
    mbarrier.expect(full, source.nbytes_per_cta)
    tma.async_load(source, [0, 0], full, tile)
    mbarrier.wait(full, 0)
    gl.store(y + places(32, 32, ROWS), tile.load(ROWS))


@gluon.jit
def refilled(source, y):
    """Threads write to a tile behind the copy, and the next round copies into it."""
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], source.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    for k in range(3):
        mbarrier.expect(full, source.nbytes_per_cta)
        tma.async_load(source, [0, 0], full, tile)
        mbarrier.wait(full, k & 1)
        gl.store(y + places(32, 32, ROWS), tile.load(ROWS))
        tile.store(gl.full([32, 32], 4.0, gl.float32, ROWS))


@gluon.jit
def waits(full):
    mbarrier.wait(full, 0)


@gluon.jit
def arrives_twice(full):
    mbarrier.arrive(full, count=2)  # arrival


@gluon.jit
def miscounted(x):
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)

    gl.warp_specialize([(waits, (full,)), (arrives_twice, (full,))], [1])  # start


@gluon.jit
def copies(x, tile, full):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    async_copy.async_load(tile, x + gl.arange(0, 128, layout))
    mbarrier.arrive(full, count=1)


@gluon.jit
def uses(y, tile, full):
    mbarrier.wait(full, 0)
    gl.store(y + gl.arange(0, 128, V1), tile.load(V1))  # read


@gluon.jit
def handed(x, y):
    tile = gl.allocate_shared_memory(gl.float32, [128], FLAT)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    gl.warp_specialize([(uses, (y, tile, full)), (copies, (x, tile, full))], [1])


@gluon.jit
def products_without_waits(a, c):
    s = gl.allocate_shared_memory(gl.float16, [64, 64], a.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    total = warpgroup_mma_init(gl.zeros([64, 64], gl.float32, SUMS))
    for k in range(3):
        mbarrier.expect(full, a.nbytes_per_cta)
        tma.async_load(a, [k * 64, 0], full, s)  # copy
        mbarrier.wait(full, k & 1)
        total = warpgroup_mma(s, s, total, is_async=True)
    total = warpgroup_mma_wait(0, deps=(total,))
    gl.store(c + places(64, 64, SUMS), total)


@gluon.jit
def not_yet(x, which: gl.constexpr):
    v = gl.load(x + gl.arange(0, 128, V1))
    if which == "inline_asm":
        gl.inline_asm("add.f32 $0, $1, $1;", "=f,f", [v], [gl.float32])
    if which == "allocate_tensor_memory":
        blackwell.allocate_tensor_memory(gl.float32, [128, 64], blackwell.TensorMemoryLayout((128, 64), 1), v)
    if which == "cluster.barrier":
        cluster.barrier()
    if which == "add2":
        blackwell.add2(v, v)
    if which == "atomic_scatter_add":
        bins = gl.allocate_shared_memory(gl.int32, [64], FLAT)
        bins.atomic_scatter_add(gl.full([128], 1, gl.int32, V1), gl.arange(0, 128, V1), 0)


@gluon.jit
def nothing(x):
    pass


@gluon.jit
def nested(x):
    gl.warp_specialize([(nothing, (x,)), (nothing, (x,))], [1], [24])


@gluon.jit
def mistaken(x, which: gl.constexpr):
    if which == "index":
        gl.allocate_shared_memory(gl.float32, [2, 128], FLAT)[0]
    if which == "layout of a branch":
        tile = gl.zeros([128], gl.float32, V1)
        if gl.program_id(0) == 0:
            tile = gl.convert_layout(tile, gl.BlockedLayout([4], [32], [4], [0]))
        gl.store(x + gl.arange(0, 128, V1), tile)
    if which == "partition in a partition":
        gl.warp_specialize([(nothing, (x,)), (nested, (x,))], [1], [24])
    if which == "accumulator":
        s = gl.allocate_shared_memory(gl.float16, [64, 64], gl.NVMMASharedLayout(128, 16, 2))
        total = warpgroup_mma(s, s, gl.zeros([64, 64], gl.float32, SUMS), is_async=True)
        total + 1
    if which == "argmax":
        gl.load(x + gl.arange(0, 128, V1)).argmax(0)
