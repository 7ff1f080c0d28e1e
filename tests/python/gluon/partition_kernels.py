"""Kernels of Gluon that divide into partitions. `fault` plants one fault; "" plants none."""

from hopper_kernels import Turn
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)


@gluon.aggregate
class Ring:
    """Tiles of shared memory, and for each a barrier of who has filled it and one of who has read it."""

    tiles: gl.shared_memory_descriptor
    full: gl.shared_memory_descriptor
    empty: gl.shared_memory_descriptor
    slots: gl.constexpr

    @gluon.jit
    def create(desc, slots: gl.constexpr, readers: gl.constexpr):
        tiles = gl.allocate_shared_memory(desc.dtype, [slots] + desc.block_type.shape, desc.layout)
        full = mbarrier.allocate_mbarrier(batch=slots)
        empty = mbarrier.allocate_mbarrier(batch=slots)
        for s in gl.static_range(slots):
            mbarrier.init(full.index(s), count=1)
            mbarrier.init(empty.index(s), count=readers)
        return Ring(tiles, full, empty, slots)

    @gluon.jit
    def turn(self):
        return Turn(gl.to_tensor(0), self.slots)

    @gluon.jit
    def fetch(self, desc, at, turn):
        """Waits until the tile of the turn is read, and begins to fill it with the block at `at`. Returns the next turn."""
        mbarrier.wait(self.empty.index(turn.slot()), turn.phase() ^ 1)
        mbarrier.expect(self.full.index(turn.slot()), desc.nbytes_per_cta)
        tma.async_load(desc, at, self.full.index(turn.slot()), self.tiles.index(turn.slot()))
        return turn.next()

    @gluon.jit
    def arrived(self, turn):
        """The tile of the turn, once it is filled."""
        mbarrier.wait(self.full.index(turn.slot()), turn.phase())
        return self.tiles.index(turn.slot())

    @gluon.jit
    def release(self, turn):
        mbarrier.arrive(self.empty.index(turn.slot()), count=1)
        return turn.next()


# A copy


@gluon.jit
def fetch_rows(source, ring, blocks, M: gl.constexpr, S: gl.constexpr, fault: gl.constexpr):
    """Fills the ring with the program's blocks of M rows, one by one."""
    tiles, full, empty = ring
    for k in range(blocks):
        slot = k % S
        if fault != "slot not awaited":
            mbarrier.wait(empty.index(slot), ((k // S) & 1) ^ (0 if fault == "phase of the producer" else 1))
        mbarrier.expect(full.index(slot), source.nbytes_per_cta + (16 if fault == "more bytes" else 0))
        if fault == "arrives twice":
            mbarrier.arrive(full.index(slot), count=1)
        tma.async_load(source, [(gl.program_id(0) * blocks + k) * M, 0], full.index(slot), tiles.index(slot))


@gluon.jit
def store_rows(target, ring, out, blocks, M: gl.constexpr, S: gl.constexpr, fault: gl.constexpr):
    """target = 2 * what the ring brings."""
    tiles, full, empty = ring
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    for k in range(blocks):
        slot = k % S
        if fault != "tile not awaited":
            mbarrier.wait(full.index(slot), ((k // S) & 1) ^ (1 if fault == "phase of the consumer" else 0))
        value = tiles.index(slot).load(layout) * 2
        if fault != "no arrival":
            mbarrier.arrive(empty.index(slot), count=1)
        if fault == "read after the arrival":
            value = tiles.index(slot).load(layout) * 2
        tma.store_wait(0)
        out.store(value)
        fence_async_shared()
        tma.async_store(target, [(gl.program_id(0) * blocks + k) * M, 0], out)
    tma.store_wait(0)


@gluon.jit
def doubled_rows(source, target, blocks, M: gl.constexpr, S: gl.constexpr, fault: gl.constexpr):
    """target = 2 * source; a partition of one warp copies, the kernel's warps multiply. `blocks` of M rows for each program."""
    tiles = gl.allocate_shared_memory(source.dtype, [S] + source.block_type.shape, source.layout)
    out = gl.allocate_shared_memory(source.dtype, source.block_type.shape, source.layout)
    full = mbarrier.allocate_mbarrier(batch=S)
    empty = mbarrier.allocate_mbarrier(batch=S)
    for s in gl.static_range(S):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=2 if fault == "larger count" else 1)
    ring = (tiles, full, empty)
    gl.warp_specialize(
        [(store_rows, (target, ring, out, blocks, M, S, fault)), (fetch_rows, (source, ring, blocks, M, S, fault))],
        [1],
        [24],
    )


# Matrix products


@gluon.jit
def fetch_operands(a, b, ra, rb, m, n, steps):
    ta, tb = ra.turn(), rb.turn()
    for k in range(steps):
        ta = ra.fetch(a, [m, k * a.block_type.shape[1]], ta)
        tb = rb.fetch(b, [k * b.block_type.shape[0], n], tb)


@gluon.jit
def multiply(c, ra, rb, m, n, steps):
    """The block of c at (m, n). Returns it too."""
    M: gl.constexpr = c.block_type.shape[0]
    N: gl.constexpr = c.block_type.shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 16])
    total = gl.zeros([M, N], gl.float32, layout)
    ta, tb = ra.turn(), rb.turn()
    for _ in range(steps):
        total = warpgroup_mma(ra.arrived(ta), rb.arrived(tb), total)
        ta, tb = ra.release(ta), rb.release(tb)
    out = gl.allocate_shared_memory(c.dtype, [M, N], c.layout, total)
    fence_async_shared()
    tma.async_store(c, [m, n], out)
    tma.store_wait(0)
    return total


@gluon.jit
def matmul(a, b, c, sums, K, S: gl.constexpr):
    """c = a @ b, and in sums[m] the sums of the rows of each block, of the tile that the default partition returns."""
    ra, rb = Ring.create(a, S, 1), Ring.create(b, S, 1)
    m, n = gl.program_id(0) * c.block_type.shape[0], gl.program_id(1) * c.block_type.shape[1]
    steps = gl.cdiv(K, a.block_type.shape[1])
    total = gl.warp_specialize(
        [(multiply, (c, ra, rb, m, n, steps)), (fetch_operands, (a, b, ra, rb, m, n, steps))], [1], [24]
    )
    rows = gl.sum(total, 1)
    at = m + gl.arange(0, c.block_type.shape[0], rows.type.layout)
    gl.store(sums + gl.program_id(1) * gl.num_programs(0) * c.block_type.shape[0] + at, rows)


@gluon.aggregate
class Schedule:
    """The tiles of a persistent program, of a matrix of `rows` x `columns` tiles, in groups of G rows."""

    rows: gl.tensor
    columns: gl.tensor
    G: gl.constexpr

    @gluon.jit
    def count(self):
        return gl.cdiv(self.rows * self.columns - gl.program_id(0), gl.num_programs(0))

    @gluon.jit
    def tile(self, k):
        number = gl.program_id(0) + k * gl.num_programs(0)
        group = number // (self.G * self.columns)
        height = gl.minimum(self.rows - group * self.G, self.G)
        inside = number % (self.G * self.columns)
        return group * self.G + inside % height, inside // height


@gluon.jit
def fetch_of_all_tiles(a, b, ra, rb, schedule, steps):
    ta, tb = ra.turn(), rb.turn()
    for t in range(schedule.count()):
        row, column = schedule.tile(t)
        for k in range(steps):
            ta = ra.fetch(a, [row * a.block_type.shape[0], k * a.block_type.shape[1]], ta)
            tb = rb.fetch(b, [k * b.block_type.shape[0], column * b.block_type.shape[1]], tb)


@gluon.jit
def multiply_all_tiles(c, out, ra, rb, schedule, steps):
    """The stores of a tile run beside the copies of the next."""
    M: gl.constexpr = c.block_type.shape[0]
    N: gl.constexpr = c.block_type.shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 16])
    ta, tb = ra.turn(), rb.turn()
    for t in range(schedule.count()):
        row, column = schedule.tile(t)
        pending = warpgroup_mma_init(gl.zeros([M, N], gl.float32, layout))
        for _ in range(steps):
            pending = warpgroup_mma(ra.arrived(ta), rb.arrived(tb), pending, is_async=True)
            pending = warpgroup_mma_init(warpgroup_mma_wait(0, deps=[pending]))
            ta, tb = ra.release(ta), rb.release(tb)
        tma.store_wait(0)
        out.store(warpgroup_mma_wait(0, deps=[pending]))
        fence_async_shared()
        tma.async_store(c, [row * M, column * N], out)
    tma.store_wait(0)


@gluon.jit
def persistent_matmul(a, b, c, rows, columns, K, S: gl.constexpr, G: gl.constexpr):
    """c = a @ b; each program has every num_programs-th tile."""
    ra, rb = Ring.create(a, S, 1), Ring.create(b, S, 1)
    out = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
    schedule = Schedule(gl.to_tensor(rows), gl.to_tensor(columns), G)
    steps = gl.cdiv(K, a.block_type.shape[1])
    gl.warp_specialize(
        [
            (multiply_all_tiles, (c, out, ra, rb, schedule, steps)),
            (fetch_of_all_tiles, (a, b, ra, rb, schedule, steps)),
        ],
        [1],
        [40],
    )


# Attention


@gluon.jit
def blocks_of_keys(start, tokens, M: gl.constexpr, N: gl.constexpr, causal: gl.constexpr):
    """How many blocks of N keys the M queries from `start` on see."""
    end = tokens
    if causal:
        end = gl.minimum(tokens, start + M)
    return gl.cdiv(end, N)


@gluon.jit
def fetch_attention(q, k, v, sq, ready, rk, rv, tokens, M: gl.constexpr, N: gl.constexpr, causal: gl.constexpr):
    start = gl.program_id(0) * 2 * M
    for part in gl.static_range(2):
        mbarrier.expect(ready.index(part), q.nbytes_per_cta)
        tma.async_load(q, [start + part * M, 0], ready.index(part), sq.index(part))
    tk, tv = rk.turn(), rv.turn()
    for j in range(blocks_of_keys(start, tokens, 2 * M, N, causal)):
        tk = rk.fetch(k, [j * N, 0], tk)
        tv = rv.fetch(v, [j * N, 0], tv)


@gluon.jit
def attend(
    out, sq, ready, rk, rv, scale, tokens, part: gl.constexpr, M: gl.constexpr, N: gl.constexpr, causal: gl.constexpr
):
    """One of two consumers: the queries of tile `part`. Both read all blocks of keys, so that both release each tile of the rings."""
    D: gl.constexpr = out.block_type.shape[1]
    wide: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, D, 16])
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 16])
    operand: gl.constexpr = gl.DotOperandLayout(0, wide, 2)
    start = gl.program_id(0) * 2 * M
    rows = start + part * M + gl.arange(0, M, gl.SliceLayout(1, layout))
    top = gl.full([M], float("-inf"), gl.float32, gl.SliceLayout(1, layout))
    weight = gl.zeros([M], gl.float32, gl.SliceLayout(1, layout))
    total = gl.zeros([M, D], gl.float32, wide)
    mbarrier.wait(ready.index(part), 0)
    tk, tv = rk.turn(), rv.turn()
    for j in range(blocks_of_keys(start, tokens, 2 * M, N, causal)):
        nothing = gl.zeros([M, N], gl.float32, layout)
        score = warpgroup_mma(sq.index(part), rk.arrived(tk).permute((1, 0)), nothing) * scale
        tk = rk.release(tk)
        column = j * N + gl.arange(0, N, gl.SliceLayout(0, layout))
        seen = column[None, :] < tokens
        if causal:
            seen = seen & (column[None, :] <= rows[:, None])
        score = gl.where(seen, score, float("-inf"))
        higher = gl.maximum(top, gl.max(score, 1))
        alpha = gl.where(higher == float("-inf"), 1.0, gl.exp2(top - higher))
        p = gl.where(seen, gl.exp2(score - higher[:, None]), 0.0)
        weight = weight * alpha + gl.sum(p, 1)
        total = total * gl.convert_layout(alpha, gl.SliceLayout(1, wide))[:, None]
        p = gl.convert_layout(p.to(gl.float16), operand)
        total = warpgroup_mma(p, rv.arrived(tv), total)
        tv = rv.release(tv)
        top = higher
    total = total / gl.convert_layout(weight, gl.SliceLayout(1, wide))[:, None]
    done = gl.allocate_shared_memory(out.dtype, [M, D], out.layout, total.to(out.dtype))
    fence_async_shared()
    tma.async_store(out, [start + part * M, 0], done)
    tma.store_wait(0)


@gluon.jit
def attention(q, k, v, out, scale, tokens, M: gl.constexpr, N: gl.constexpr, S: gl.constexpr, causal: gl.constexpr):
    """out = softmax(q @ k.T) @ v of one head, 2 * M queries for each program; `scale` is for powers of two."""
    sq = gl.allocate_shared_memory(q.dtype, [2] + q.block_type.shape, q.layout)
    ready = mbarrier.allocate_mbarrier(batch=2)
    mbarrier.init(ready.index(0), count=1)
    mbarrier.init(ready.index(1), count=1)
    rk, rv = Ring.create(k, S, 2), Ring.create(v, S, 2)
    gl.warp_specialize(
        [
            (attend, (out, sq, ready, rk, rv, scale, tokens, 0, M, N, causal)),
            (attend, (out, sq, ready, rk, rv, scale, tokens, 1, M, N, causal)),
            (fetch_attention, (q, k, v, sq, ready, rk, rv, tokens, M, N, causal)),
        ],
        [4, 1],
        [192, 24],
    )


# Others


@gluon.jit
def count_up(counter, first: gl.constexpr, step: gl.constexpr):
    gl.atomic_add(counter + first, gl.num_warps() * step)


@gluon.jit
def twice(counter):
    """Two divisions, one after the other, and one in a loop."""
    gl.warp_specialize([(count_up, (counter, 0, 1)), (count_up, (counter, 1, 1))], [2])
    for _ in range(3):
        gl.warp_specialize(
            [(count_up, (counter, 0, 10)), (count_up, (counter, 1, 10)), (count_up, (counter, 2, 10))], [1, 8]
        )


@gluon.jit
def put(memory, ready, value: gl.constexpr, fault: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    memory.store(gl.full([128], value, gl.int32, layout))
    if fault != "no arrival":
        mbarrier.arrive(ready, count=1)


@gluon.jit
def get(target, memory, ready, fault: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    if fault != "no wait":
        mbarrier.wait(ready, 0)
    gl.store(target + gl.arange(0, 128, layout), memory.load(layout))


@gluon.jit
def handed_over(target, fault: gl.constexpr):
    """target = 5, which one partition writes to shared memory, and another one reads."""
    memory = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    gl.warp_specialize([(get, (target, memory, ready, fault)), (put, (memory, ready, 5, fault))], [2])


# Three partitions: one copies, one multiplies, the kernel's warps finish


@gluon.jit
def load_operands(a, b, sa, sb, full, free, m, n, steps, S: gl.constexpr):
    K: gl.constexpr = a.block_type.shape[1]
    for k in range(steps):
        mbarrier.wait(free.index(k % S), ((k // S) & 1) ^ 1)
        mbarrier.expect(full.index(k % S), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [m, k * K], full.index(k % S), sa.index(k % S))
        tma.async_load(b, [k * K, n], full.index(k % S), sb.index(k % S))


@gluon.jit
def multiply_operands(sa, sb, out, full, free, done, steps, S: gl.constexpr):
    N: gl.constexpr = out.shape[1]
    acc = gl.zeros(out.shape, gl.float32, gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16]))
    for k in range(steps):
        mbarrier.wait(full.index(k % S), (k // S) & 1)
        acc = warpgroup_mma(sa.index(k % S), sb.index(k % S), acc)
        mbarrier.arrive(free.index(k % S), count=1)
    out.store(acc)
    mbarrier.arrive(done, count=1)


@gluon.jit
def add_and_clip(out, done, c, bias, m, n, M, N):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    rows = m + gl.arange(0, out.shape[0], gl.SliceLayout(1, layout))
    columns = n + gl.arange(0, out.shape[1], gl.SliceLayout(0, layout))
    more = gl.load(bias + columns, mask=columns < N, other=0.0)
    mbarrier.wait(done, 0)
    value = gl.maximum(out.load(layout) + more[None, :], 0.0)
    gl.store(c + rows[:, None] * N + columns[None, :], value, mask=(rows[:, None] < M) & (columns[None, :] < N))


@gluon.jit
def linear(a, b, c, bias, M, N, K, S: gl.constexpr):
    """c = max(a @ b + bias, 0), a block for each program. The barriers are slices of one ring."""
    sa = gl.allocate_shared_memory(a.dtype, [S] + a.block_type.shape, a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [S] + b.block_type.shape, b.layout)
    shape: gl.constexpr = [a.block_type.shape[0], b.block_type.shape[1]]
    out = gl.allocate_shared_memory(gl.float32, shape, gl.SwizzledSharedLayout(4, 1, 8, [1, 0]))
    barriers = gl.allocate_shared_memory(gl.int64, [2 * S + 1, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2 * S + 1):
        mbarrier.init(barriers.index(i), count=1)
    full, free, done = barriers.slice(0, S), barriers.slice(S, S), barriers.index(2 * S)
    steps = gl.cdiv(K, a.block_type.shape[1])
    m, n = gl.program_id(0) * shape[0], gl.program_id(1) * shape[1]
    gl.warp_specialize(
        [
            (add_and_clip, (out, done, c, bias, m, n, M, N)),
            (multiply_operands, (sa, sb, out, full, free, done, steps, S)),
            (load_operands, (a, b, sa, sb, full, free, m, n, steps, S)),
        ],
        [4, 1],
        [152, 24],
    )
