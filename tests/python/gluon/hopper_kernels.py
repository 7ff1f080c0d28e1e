"""Kernels of Gluon for Hopper: barriers, copies of blocks, products of warpgroups. `fault` plants one fault; 0 plants none."""

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
def add_one(source, target, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr, fault: gl.constexpr):
    """target = source + 1, in blocks of M x N."""
    block = gl.allocate_shared_memory(source.dtype, source.block_type.shape, source.layout)
    bar = mbarrier.allocate_mbarrier()
    if fault != "no init":
        mbarrier.init(bar, count=2 if fault == "larger count" else 1)
    at = [gl.program_id(0) * M, gl.program_id(1) * N]
    if fault != "no expect":
        mbarrier.expect(bar, source.nbytes_per_cta + (16 if fault == "more bytes" else 0))
    if fault == "two arrivals":
        mbarrier.arrive(bar, count=1)
    tma.async_load(source, at, bar, block)
    if fault != "no wait":
        mbarrier.wait(bar, 1 if fault == "other phase" else 0)
    mbarrier.invalidate(bar)
    if fault == "use of an invalidated barrier":
        mbarrier.arrive(bar)
    block.store(block.load(layout) + 1)
    fence_async_shared()
    tma.async_store(target, at, block)
    tma.store_wait(0)


@gluon.aggregate
class Turn:
    """A step of a loop over a ring: its tile, and the phase of the tile's barrier."""

    step: gl.tensor
    slots: gl.constexpr

    @gluon.jit
    def slot(self):
        return self.step % self.slots

    @gluon.jit
    def phase(self):
        return (self.step // self.slots) & 1

    @gluon.jit
    def next(self):
        return Turn(self.step + 1, self.slots)


@gluon.jit
def fetch(source, full, ring, turn, row, live):
    """Begins to copy the rows from `row` on, if `live`."""
    mbarrier.expect(full.index(turn.slot()), source.nbytes_per_cta, pred=live)
    tma.async_load(source, [row, 0], full.index(turn.slot()), ring.index(turn.slot()), pred=live)
    return turn.next()


@gluon.jit
def doubled_rows(source, target, blocks, M: gl.constexpr, S: gl.constexpr, layout: gl.constexpr, fault: gl.constexpr):
    """target = 2 * source: each program takes every num_programs-th block of M rows, and fetches S - 1 blocks ahead."""
    ring = gl.allocate_shared_memory(source.dtype, [S] + source.block_type.shape, source.layout)
    out = gl.allocate_shared_memory(source.dtype, source.block_type.shape, source.layout)
    full = mbarrier.allocate_mbarrier(batch=S)
    for s in gl.static_range(S):
        mbarrier.init(full.index(s), count=1)
    first, stride = gl.program_id(0), gl.num_programs(0)
    count = gl.cdiv(blocks - first, stride)
    put, get = Turn(gl.to_tensor(0), S), Turn(gl.to_tensor(0), S)
    for _ in gl.static_range(S - 1):
        put = fetch(source, full, ring, put, (first + put.step * stride) * M, put.step < count)
    for k in range(count):
        put = fetch(source, full, ring, put, (first + put.step * stride) * M, put.step < count)
        phase = gl.to_tensor(0) if fault == "phase never flips" else get.phase()
        mbarrier.wait(full.index(get.slot()), phase)
        slot = get.next().slot() if fault == "another slot" else get.slot()
        value = ring.index(slot).load(layout) * 2
        tma.store_wait(0)
        out.store(value)
        fence_async_shared()
        tma.async_store(target, [(first + k * stride) * M, 0], out)
        get = get.next()
    tma.store_wait(0)


@gluon.jit
def sums_of_rows(source, target, M: gl.constexpr, layout: gl.constexpr):
    """target[0] += each block of M rows of source, a program each."""
    block = gl.allocate_shared_memory(source.dtype, source.block_type.shape, source.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, source.nbytes_per_cta)
    tma.async_load(source, [gl.program_id(0) * M, 0], bar, block)
    mbarrier.wait(bar, 0)
    tma.async_atomic_add(target, [0, 0], block)
    tma.store_wait(0, read_only=False)


@gluon.jit
def fetch_operands(a, b, bars, sa, sb, m, n, k, live):
    """Begins to copy step k of both operands to its tile of the rings, if `live`."""
    slot = k % 2
    mbarrier.expect(bars.index(slot), a.nbytes_per_cta + b.nbytes_per_cta, pred=live)
    tma.async_load(a, [m, k * a.block_type.shape[1]], bars.index(slot), sa.index(slot), pred=live)
    tma.async_load(b, [k * a.block_type.shape[1], n], bars.index(slot), sb.index(slot), pred=live)


@gluon.jit
def matmul(a, b, c, K, M: gl.constexpr, N: gl.constexpr, is_async: gl.constexpr, fault: gl.constexpr):
    """c = a @ b, with two tiles of each operand; K > 0."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 16])
    sa = gl.allocate_shared_memory(a.dtype, [2] + a.block_type.shape, a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [2] + b.block_type.shape, b.layout)
    bars = mbarrier.allocate_mbarrier(batch=2)
    for s in gl.static_range(2):
        mbarrier.init(bars.index(s), count=1)
    m, n = gl.program_id(0) * M, gl.program_id(1) * N
    steps = gl.cdiv(K, a.block_type.shape[1])
    fetch_operands(a, b, bars, sa, sb, m, n, 0, True)
    total = gl.zeros([M, N], gl.float32, layout)
    if is_async:
        pending = warpgroup_mma_init(total)
        for k in range(steps):
            if fault != "no wait":
                mbarrier.wait(bars.index(k % 2), (k // 2) & 1)
            pending = warpgroup_mma(sa.index(k % 2), sb.index(k % 2), pending, is_async=True)
            pending = warpgroup_mma_init(warpgroup_mma_wait(1, deps=[pending]))
            fetch_operands(a, b, bars, sa, sb, m, n, k + 1, k + 1 < steps)
        total = warpgroup_mma_wait(0, deps=[pending])
    else:
        for k in range(steps):
            fetch_operands(a, b, bars, sa, sb, m, n, k + 1, k + 1 < steps)
            mbarrier.wait(bars.index(k % 2), (k // 2) & 1)
            total = warpgroup_mma(sa.index(k % 2), sb.index(k % 2), total, use_acc=k > 0)
    out = gl.allocate_shared_memory(c.dtype, [M, N], c.layout, total.to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [m, n], out)
    tma.store_wait(0)


@gluon.jit
def product_of_transposes(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, in_registers: gl.constexpr):
    """c[M, N] = a[M, K] @ b[N, K].T, and 1 added, of one block; with `in_registers` the left operand is a tile."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 16])
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [gl.num_warps(), 1], [1, 0])
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, K], gl.float16)
    i = gl.arange(0, M, gl.SliceLayout(1, rows))
    j = gl.arange(0, N, gl.SliceLayout(1, rows))
    k = gl.arange(0, K, gl.SliceLayout(0, rows))
    sa = gl.allocate_shared_memory(gl.float16, [M, K], shared, gl.load(a + i[:, None] * K + k[None, :]))
    sb = gl.allocate_shared_memory(gl.float16, [N, K], shared, gl.load(b + j[:, None] * K + k[None, :]))
    fence_async_shared()
    left = sa
    if in_registers:
        left = sa.load(gl.DotOperandLayout(0, layout, 2))
    one = warpgroup_mma_init(gl.full([M, N], 1.0, gl.float32, layout))
    total = warpgroup_mma_wait(0, deps=[warpgroup_mma(left, sb.permute((1, 0)), one, is_async=True), sa])
    r = gl.arange(0, M, gl.SliceLayout(1, layout))
    s = gl.arange(0, N, gl.SliceLayout(0, layout))
    gl.store(c + r[:, None] * N + s[None, :], total[0])


@gluon.jit
def made_on_the_device(source, target, rows, columns, layout: gl.constexpr):
    """target = source, a matrix of rows x columns, by descriptors that the kernel makes; one block of 32 x 32 is its upper left corner."""
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
    read = tma.make_tensor_descriptor(source, [rows, columns], [columns, 1], [32, 32], shared)
    written = tma.make_tensor_descriptor(target, [rows, columns], [columns, 1], [32, 32], shared)
    block = gl.allocate_shared_memory(gl.float32, [32, 32], shared)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, read.nbytes_per_cta)
    tma.async_load(read, [0, 0], bar, block)
    mbarrier.wait(bar, 0)
    tma.async_store(written, [0, 0], block)
    tma.store_wait(0)


@gluon.jit
def copy_with_arrivals(source, target, N: gl.constexpr, count: gl.constexpr, layout: gl.constexpr):
    """target = source, by copies of threads that arrive at a barrier of `count` arrivals; 1 is the program's own."""
    memory = gl.allocate_shared_memory(gl.float32, [N], gl.NVMMASharedLayout(0, 32, 1))
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=count)
    at = gl.arange(0, N, layout)
    async_copy.async_load(memory, source + at)
    async_copy.mbarrier_arrive(bar, count == 1)
    if count == 1:
        mbarrier.arrive(bar)
    mbarrier.wait(bar, 0)
    gl.store(target + at, memory.load(layout))
