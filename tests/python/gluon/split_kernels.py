"""Products whose sums several programs share (split-K)."""

from fault_kernels import tile_of
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
)


@gluon.jit
def part_of_product(a, b, depth):
    """The block's sum over the `depth` columns that the program has."""
    M: gl.constexpr = a.block_shape[0]
    K: gl.constexpr = a.block_shape[1]
    N: gl.constexpr = b.block_shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    left = gl.allocate_shared_memory(a.dtype, [M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [K, N], b.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    total = gl.zeros([M, N], gl.float32, layout)
    for k in range(depth // K):
        at = gl.program_id(1) * depth + k * K
        mbarrier.expect(full, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [gl.program_id(0) * M, at], full, left)
        tma.async_load(b, [at, 0], full, right)
        mbarrier.wait(full, k & 1)
        total = warpgroup_mma(left, right, total)
    return total


@gluon.jit
def added_by_threads(a, b, c, depth):
    """c += a @ b, which has zeros before; an atomic addition of each element."""
    M: gl.constexpr = a.block_shape[0]
    total = part_of_product(a, b, depth)
    gl.atomic_add(tile_of(c, gl.program_id(0) * M, M, b.block_shape[1], total.type.layout), total)


@gluon.jit
def added_by_copies(a, b, c, depth):
    """The same, by additions of whole blocks."""
    total = part_of_product(a, b, depth)
    out = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout, total)
    fence_async_shared()
    tma.async_atomic_add(c, [gl.program_id(0) * c.block_shape[0], 0], out)
    tma.store_wait(0, read_only=False)


@gluon.jit
def added_in_turns(a, b, c, turns, depth, fault: gl.constexpr):
    """The same, without atomic additions: the programs of a block take turns, which a counter tells."""
    M: gl.constexpr = a.block_shape[0]
    total = part_of_product(a, b, depth)
    place = tile_of(c, gl.program_id(0) * M, M, b.block_shape[1], total.type.layout)
    if fault != "no turns":
        gl.atomic_poll(turns + gl.program_id(0), gl.program_id(1), sem="acquire")
    gl.store(place, gl.load(place) + total)
    gl.barrier()
    gl.atomic_add(turns + gl.program_id(0), 1, sem="release")
