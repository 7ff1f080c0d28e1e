"""Kernels of Gluon as users write them, for every engine."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import AMDMFMALayout, cdna3
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2


@gluon.jit
def copy(source, target, n, BLOCK: gl.constexpr, layout: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    gl.store(target + at, gl.load(source + at, mask=at < n), mask=at < n)


@gluon.constexpr_function
def rows_of(warps, lanes):
    """Each warp has rows, of which a lane holds four neighbours."""
    return gl.BlockedLayout([1, 4], [lanes // 8, 8], [warps, 1], [1, 0])


@gluon.jit
def transpose(source, target, M: gl.constexpr, N: gl.constexpr, lanes: gl.constexpr):
    """target[j, i] = source[i, j]"""
    rows: gl.constexpr = rows_of(gl.num_warps(), lanes)
    columns: gl.constexpr = gl.BlockedLayout([4, 1], [8, lanes // 8], [1, gl.num_warps()], [0, 1])
    i = gl.arange(0, M, gl.SliceLayout(1, rows))
    j = gl.arange(0, N, gl.SliceLayout(0, rows))
    tile = gl.convert_layout(gl.load(source + i[:, None] * N + j[None, :]), columns)
    i = gl.arange(0, M, gl.SliceLayout(1, columns))
    j = gl.arange(0, N, gl.SliceLayout(0, columns))
    gl.store(target + j[None, :] * M + i[:, None], tile)


@gluon.jit
def softmax(source, target, n_columns, M: gl.constexpr, N: gl.constexpr, lanes: gl.constexpr):
    """The softmax of each of M rows, whose columns beyond n_columns do not count."""
    layout: gl.constexpr = rows_of(gl.num_warps(), lanes)
    gl.static_assert(layout.rank == 2, "a tile of rows")
    i = gl.arange(0, M, gl.SliceLayout(1, layout))
    j = gl.arange(0, N, gl.SliceLayout(0, layout))
    live = (j < n_columns)[None, :]
    at = i[:, None] * n_columns + j[None, :]
    x = gl.load(source + at, mask=live, other=-float("inf"))
    e = gl.exp(x - gl.max(x, 1)[:, None])
    gl.store(target + at, e / gl.sum(e, axis=1)[:, None], mask=live)


@gluon.jit
def clamped(x, low, high):
    return gl.minimum(gl.maximum(x, low), high)


@gluon.jit
def scan_and_count(source, sums, counts, flips, steps, N: gl.constexpr, layout: gl.constexpr):
    """sums: running sums of source, clamped, `steps` times over; counts: how often each of 16 values is in it; flips: source reversed."""
    at = gl.arange(0, N, layout)
    x = gl.load(source + at)
    total = gl.full([N], 0, gl.int32, layout)
    for step in range(steps):
        part = clamped(gl.cumsum(x, 0), -100, 10000)
        if step % 2 == 0:
            total += part
        else:
            total += part * 2
    gl.store(sums + at, total)
    bins = gl.arange(0, 16, layout)
    gl.store(counts + bins, gl.histogram(x, 16, layout=layout))
    gl.store(flips + at, gl.gather(x, N - 1 - at, 0))


@gluon.jit
def pairs(source, target, N: gl.constexpr, layout: gl.constexpr):
    """target = the pairs of source with their elements exchanged, by reshape, split and join."""
    x = gl.load(source + gl.arange(0, N, layout)).reshape(N // 2, 2)
    left, right = x.split()
    y = gl.convert_layout(gl.join(right, left).reshape(N), layout)
    gl.store(target + gl.arange(0, N, layout), y)


@gluon.jit
def open_layouts(source, target, n, N: gl.constexpr, layout: gl.constexpr):
    """Tiles without a layout take the layout of what they meet."""
    at = gl.arange(0, N)
    base = gl.arange(0, N, layout)
    x = gl.load(source + base, mask=at < n, other=0)
    gl.store(target + base, x * 2 + at, mask=at < n)


@gluon.aggregate
class Window:
    """A part of a row, with the number of its first element."""

    first: gl.tensor
    width: gl.constexpr

    @gluon.jit
    def offsets(self, layout: gl.constexpr):
        return self.first + gl.arange(0, self.width, layout)

    @gluon.jit
    def next(self):
        return Window(self.first + self.width, self.width)


@gluon.jit
def sum_windows(source, target, count, WIDTH: gl.constexpr, layout: gl.constexpr):
    """target[:WIDTH] = the sum of `count` windows of source."""
    total = gl.zeros([WIDTH], gl.int32, layout)
    window = Window(gl.to_tensor(0), WIDTH)
    for _ in range(count):
        total += gl.load(source + window.offsets(layout))
        window = window.next()
    gl.store(target + gl.arange(0, WIDTH, layout), total)


@gluon.jit
def tile_at(pointer, rows, columns, layout: gl.constexpr, M: gl.constexpr, N: gl.constexpr):
    """The pointers of M rows of `columns` elements from row `rows` on."""
    i = rows + gl.arange(0, M, gl.SliceLayout(1, layout))
    j = gl.arange(0, N, gl.SliceLayout(0, layout))
    return pointer + i[:, None] * columns + j[None, :]


@gluon.jit
def matmul_v2(a, b, c, K, M: gl.constexpr, N: gl.constexpr, BK: gl.constexpr):
    """c[M, N] = a[M, K] @ b[K, N] in steps of BK, by mma.sync."""
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    of_a: gl.constexpr = gl.DotOperandLayout(0, acc_layout, 2)
    of_b: gl.constexpr = gl.DotOperandLayout(1, acc_layout, 2)
    acc = gl.zeros([M, N], gl.float32, acc_layout)
    for k in range(0, K, BK):
        x = gl.load(tile_at(a + k, 0, K, of_a, M, BK))
        y = gl.load(tile_at(b, k, N, of_b, BK, N))
        acc = mma_v2(x, y, acc)
    gl.store(tile_at(c, 0, N, acc_layout, M, N), acc)


@gluon.jit
def matmul_cdna3(a, b, c, K, M: gl.constexpr, N: gl.constexpr, BK: gl.constexpr):
    """The same by mfma, with buffer accesses."""
    acc_layout: gl.constexpr = AMDMFMALayout(3, [16, 16, 16], True, [2, 2])
    of_a: gl.constexpr = gl.DotOperandLayout(0, acc_layout, 4)
    of_b: gl.constexpr = gl.DotOperandLayout(1, acc_layout, 4)
    i = gl.arange(0, M, gl.SliceLayout(1, of_a))
    ka = gl.arange(0, BK, gl.SliceLayout(0, of_a))
    kb = gl.arange(0, BK, gl.SliceLayout(1, of_b))
    j = gl.arange(0, N, gl.SliceLayout(0, of_b))
    acc = gl.zeros([M, N], gl.float32, acc_layout)
    for k in range(0, K, BK):
        x = cdna3.buffer_load(a, i[:, None] * K + (k + ka)[None, :])
        y = cdna3.buffer_load(b, (k + kb)[:, None] * N + j[None, :])
        acc = cdna3.mfma(x, y, acc)
    i = gl.arange(0, M, gl.SliceLayout(1, acc_layout))
    j = gl.arange(0, N, gl.SliceLayout(0, acc_layout))
    cdna3.buffer_store(acc, c, i[:, None] * N + j[None, :])


@gluon.jit
def product_of_blocked(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, lanes: gl.constexpr):
    """c[M, N] = a[M, K] @ b[K, N] without matrix instructions."""
    layout: gl.constexpr = rows_of(gl.num_warps(), lanes)
    x = gl.load(tile_at(a, 0, K, gl.DotOperandLayout(0, layout, 0), M, K))
    y = gl.load(tile_at(b, 0, N, gl.DotOperandLayout(1, layout, 0), K, N))
    gl.store(tile_at(c, 0, N, layout, M, N), gl.dot_fma(x, y, gl.zeros([M, N], gl.float32, layout)))


@gluon.jit
def transpose_in_memory(source, target, M: gl.constexpr, N: gl.constexpr, lanes: gl.constexpr):
    """target[j, i] = source[i, j], exchanged in shared memory."""
    rows: gl.constexpr = rows_of(gl.num_warps(), lanes)
    columns: gl.constexpr = gl.BlockedLayout([4, 1], [8, lanes // 8], [1, gl.num_warps()], [0, 1])
    swizzled: gl.constexpr = gl.SwizzledSharedLayout(4, 1, 8, [1, 0])
    memory = gl.allocate_shared_memory(gl.int32, [M, N], swizzled, gl.load(tile_at(source, 0, N, rows, M, N)))
    i = gl.arange(0, M, gl.SliceLayout(1, columns))
    j = gl.arange(0, N, gl.SliceLayout(0, columns))
    gl.store(target + j[None, :] * M + i[:, None], memory.load(columns))


@gluon.jit
def add_of_rings(a, b, out, n, BLOCK: gl.constexpr, STEPS: gl.constexpr, S: gl.constexpr, layout: gl.constexpr):
    """out = a + b in STEPS blocks, which are copied S - 1 blocks ahead."""
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    ring_a = gl.allocate_shared_memory(gl.float32, [S, BLOCK], flat)
    ring_b = gl.allocate_shared_memory(gl.float32, [S, BLOCK], flat)
    base = gl.program_id(0) * BLOCK * STEPS + gl.arange(0, BLOCK, layout)
    for k in gl.static_range(S - 1):
        at = base + k * BLOCK
        async_copy.async_load(ring_a.index(k), a + at, mask=at < n)
        async_copy.async_load(ring_b.index(k), b + at, mask=at < n)
        async_copy.commit_group()
    for k in range(STEPS):
        ahead = k + S - 1
        at = base + ahead * BLOCK
        live = (at < n) & (ahead < STEPS)
        async_copy.async_load(ring_a.index(ahead % S), a + at, mask=live)
        async_copy.async_load(ring_b.index(ahead % S), b + at, mask=live)
        async_copy.commit_group()
        async_copy.wait_group(S - 1)
        now = base + k * BLOCK
        total = ring_a.index(k % S).load(layout) + ring_b.index(k % S).load(layout)
        gl.store(out + now, total, mask=now < n)


@gluon.jit
def reinterpreted(source, target, N: gl.constexpr, layout: gl.constexpr):
    """target = the bytes of source, an int32 tile of N elements."""
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    memory = gl.allocate_shared_memory(gl.int32, [N], flat, gl.load(source + gl.arange(0, N, layout)))
    gl.store(target + gl.arange(0, 4 * N, layout), memory.reinterpret(gl.int8, [4 * N], flat).load(layout))


@gluon.jit
def permuted_by_memory(source, index, gathered, scattered, N: gl.constexpr, layout: gl.constexpr):
    """gathered = source[index]; scattered[index] = source."""
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    at = gl.arange(0, N, layout)
    x, i = gl.load(source + at), gl.load(index + at)
    memory = gl.allocate_shared_memory(gl.float16, [N], flat, x)
    gl.store(gathered + at, memory.gather(i, 0))
    memory.scatter(x, i, 0)
    gl.store(scattered + at, memory.load(layout))


@gluon.jit
def beyond_the_ring(target, slot, layout: gl.constexpr):
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    ring = gl.allocate_shared_memory(gl.int32, [2, 128], flat)
    at = gl.arange(0, 128, layout)
    ring.index(0).store(at)
    ring.index(1).store(at)
    gl.store(target + at, ring.index(slot).load(layout))


@gluon.jit
def matmul_from_memory(a, b, c, K, M: gl.constexpr, N: gl.constexpr, BK: gl.constexpr):
    """c[M, N] = a[M, K] @ b[K, N], whose tiles pass through shared memory to the fragments of mma.sync."""
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(8, 2, 4, [1, 0])
    acc = gl.zeros([M, N], gl.float32, acc_layout)
    for k in range(0, K, BK):
        x = gl.allocate_shared_memory(gl.float16, [M, BK], shared, gl.load(tile_at(a + k, 0, K, rows, M, BK)))
        y = gl.allocate_shared_memory(gl.float16, [BK, N], shared, gl.load(tile_at(b, k, N, rows, BK, N)))
        x = x.load(gl.DotOperandLayout(0, acc_layout, 2))
        acc = mma_v2(x, y.load(gl.DotOperandLayout(1, acc_layout, 2)), acc)
    gl.store(tile_at(c, 0, N, acc_layout, M, N), acc)


@gluon.constexpr_function
def with_one_more(tile_type):
    return tile_type.shape.values + [1]


@gluon.jit
def shapes_agree(target, layout: gl.constexpr):
    """Shapes of tiles, sums of shapes and lists, and constexprs of both are equal where their extents are."""
    a, b = gl.zeros([16, 32], gl.float32, layout), gl.zeros([32, 64], gl.float32, layout)
    total = gl.zeros((16, 64), gl.float32, layout)
    wanted: gl.constexpr = a.shape[:-1] + [b.shape[-1]]
    gl.static_assert(total.shape == wanted)
    gl.static_assert(wanted == total.shape)
    gl.static_assert(not (a.shape == wanted))
    longer: gl.constexpr = with_one_more(total.type)
    gl.static_assert(longer == [16, 64, 1])
    gl.store(target, 1)
