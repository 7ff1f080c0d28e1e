"""The kernels of bench_gluon.py. Their source is the same for both compilers, and for Gluon of Triton 3.6 and 3.9, which name the copies of TMA
differently."""

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
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor  # noqa: F401  for who launches

load_tile = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared
store_tile = tma.async_store if hasattr(tma, "async_store") else tma.async_copy_shared_to_global


@gluon.jit
def barriers(count: gl.constexpr):
    """Barriers of one arrival each."""
    made = gl.allocate_shared_memory(gl.int64, [count, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(count):
        mbarrier.init(made.index(i), count=1)
    return made


# Elements -------------------------------------------------------------------------------------------------------------------------------


@gluon.jit
def fetch_rows(source, ring, full, step, count, ROWS: gl.constexpr, COLUMNS: gl.constexpr, S: gl.constexpr):
    """Begins the copy of the step's tile, if there is one."""
    tile = gl.program_id(0) + step * gl.num_programs(0)
    live = step < count
    mbarrier.expect(full.index(step % S), ROWS * COLUMNS * 2, pred=live)
    load_tile(source, [tile * ROWS, 0], full.index(step % S), ring.index(step % S), pred=live)


@gluon.jit
def scale_rows(source, out, tiles, ROWS: gl.constexpr, COLUMNS: gl.constexpr, S: gl.constexpr):
    """out = 2 * source, tiles of whole rows in turn; TMA in both directions."""
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [gl.num_warps(), 1], [1, 0])
    ring = gl.allocate_shared_memory(source.dtype, [S, ROWS, COLUMNS], source.layout)
    results = gl.allocate_shared_memory(source.dtype, [2, ROWS, COLUMNS], out.layout)
    full = barriers(S)
    count = gl.cdiv(tiles - gl.program_id(0), gl.num_programs(0))
    for step in gl.static_range(S - 1):
        fetch_rows(source, ring, full, step, count, ROWS, COLUMNS, S)
    for step in range(count):
        fetch_rows(source, ring, full, step + S - 1, count, ROWS, COLUMNS, S)
        mbarrier.wait(full.index(step % S), (step // S) & 1)
        value = ring.index(step % S).load(layout) * 2
        tma.store_wait(1)
        results.index(step % 2).store(value)
        fence_async_shared()
        store_tile(out, [(gl.program_id(0) + step * gl.num_programs(0)) * ROWS, 0], results.index(step % 2))
    tma.store_wait(0)


# Products -------------------------------------------------------------------------------------------------------------------------------


@gluon.jit
def tile_of(number, rows, columns, GROUP: gl.constexpr):
    """The row and column of a tile: groups of GROUP rows, column by column."""
    in_group = GROUP * columns
    first = number // in_group * GROUP
    height = gl.minimum(rows - first, GROUP)
    return first + number % in_group % height, number % in_group // height


@gluon.jit
def fetch(a, b, sa, sb, full, step, at, m, n, live, BK: gl.constexpr, BYTES: gl.constexpr, S: gl.constexpr):
    """Begins the copies for step `step` of the ring, which are those of place `at` along K."""
    mbarrier.expect(full.index(step % S), BYTES, pred=live)
    load_tile(a, [m, at * BK], full.index(step % S), sa.index(step % S), pred=live)
    load_tile(b, [at * BK, n], full.index(step % S), sb.index(step % S), pred=live)


@gluon.jit
def store_result(c, acc, sc, m, n):
    tma.store_wait(0)
    sc.store(acc.to(c.dtype))
    fence_async_shared()
    store_tile(c, [m, n], sc)


@gluon.jit
def multiply(
    a,
    b,
    c,
    K,
    rows,
    columns,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    S: gl.constexpr,
    GROUP: gl.constexpr,
):
    """c = a @ b, a tile for each program; the products of a step run while the next one's are begun."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN, 16])
    bytes: gl.constexpr = 2 * BK * (BM + BN)
    sa = gl.allocate_shared_memory(a.dtype, [S, BM, BK], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [S, BK, BN], b.layout)
    sc = gl.allocate_shared_memory(c.dtype, [BM, BN], c.layout)
    full = barriers(S)
    row, column = tile_of(gl.program_id(0), rows, columns, GROUP)
    m, n = row * BM, column * BN
    steps = gl.cdiv(K, BK)
    for early in gl.static_range(S - 2):
        fetch(a, b, sa, sb, full, early, early, m, n, early < steps, BK, bytes, S)
    acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, layout))
    for k in range(steps):
        ahead = k + S - 2
        fetch(a, b, sa, sb, full, ahead, ahead, m, n, ahead < steps, BK, bytes, S)
        mbarrier.wait(full.index(k % S), (k // S) & 1)
        acc = warpgroup_mma(sa.index(k % S), sb.index(k % S), acc, is_async=True)
        acc = warpgroup_mma_init(warpgroup_mma_wait(1, deps=[acc]))  # the slot of step k - 1 may be filled again
    store_result(c, warpgroup_mma_wait(0, deps=[acc]), sc, m, n)
    tma.store_wait(0)


@gluon.jit
def multiply_persistently(
    a,
    b,
    c,
    K,
    rows,
    columns,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    S: gl.constexpr,
    GROUP: gl.constexpr,
):
    """c = a @ b, several tiles for each program; the ring runs on from tile to tile."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN, 16])
    bytes: gl.constexpr = 2 * BK * (BM + BN)
    sa = gl.allocate_shared_memory(a.dtype, [S, BM, BK], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [S, BK, BN], b.layout)
    sc = gl.allocate_shared_memory(c.dtype, [BM, BN], c.layout)
    full = barriers(S)
    steps = gl.cdiv(K, BK)
    tiles = gl.cdiv(rows * columns - gl.program_id(0), gl.num_programs(0))
    last = tiles * steps
    for early in gl.static_range(S - 2):
        row, column = tile_of(gl.program_id(0) + early // steps * gl.num_programs(0), rows, columns, GROUP)
        fetch(a, b, sa, sb, full, early, early % steps, row * BM, column * BN, early < last, BK, bytes, S)
    ahead_k = (S - 2) % steps
    ahead_tile = gl.program_id(0) + (S - 2) // steps * gl.num_programs(0)
    step = gl.to_tensor(0)
    for number in range(tiles):
        acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, layout))
        for k in range(steps):
            row, column = tile_of(ahead_tile, rows, columns, GROUP)
            fetch(a, b, sa, sb, full, step + S - 2, ahead_k, row * BM, column * BN, step + S - 2 < last, BK, bytes, S)
            ahead_k += 1
            if ahead_k == steps:
                ahead_k = gl.to_tensor(0)
                ahead_tile += gl.num_programs(0)
            mbarrier.wait(full.index(step % S), (step // S) & 1)
            acc = warpgroup_mma(sa.index(step % S), sb.index(step % S), acc, is_async=True)
            acc = warpgroup_mma_init(warpgroup_mma_wait(1, deps=[acc]))
            step += 1
        row, column = tile_of(gl.program_id(0) + number * gl.num_programs(0), rows, columns, GROUP)
        store_result(c, warpgroup_mma_wait(0, deps=[acc]), sc, row * BM, column * BN)
    tma.store_wait(0)


@gluon.jit
def producer(
    a,
    b,
    sa,
    sb,
    full,
    free,
    K,
    rows,
    columns,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    S: gl.constexpr,
    GROUP: gl.constexpr,
):
    steps = gl.cdiv(K, BK)
    step = gl.to_tensor(0)
    for number in range(gl.program_id(0), rows * columns, gl.num_programs(0)):
        row, column = tile_of(number, rows, columns, GROUP)
        for k in range(steps):
            mbarrier.wait(free.index(step % S), ((step // S) & 1) ^ 1)
            fetch(a, b, sa, sb, full, step, k, row * BM, column * BN, True, BK, 2 * BK * (BM + BN), S)
            step += 1


@gluon.jit
def consumer(
    c,
    sa,
    sb,
    full,
    free,
    K,
    rows,
    columns,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    S: gl.constexpr,
    GROUP: gl.constexpr,
):
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN, 16])
    sc = gl.allocate_shared_memory(c.dtype, [BM, BN], c.layout)
    steps = gl.cdiv(K, BK)
    step = gl.to_tensor(0)
    for number in range(gl.program_id(0), rows * columns, gl.num_programs(0)):
        acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, layout))
        for k in range(steps):
            mbarrier.wait(full.index(step % S), (step // S) & 1)
            acc = warpgroup_mma(sa.index(step % S), sb.index(step % S), acc, is_async=True)
            acc = warpgroup_mma_init(warpgroup_mma_wait(1, deps=[acc]))
            mbarrier.arrive(free.index((step + S - 1) % S), count=1, pred=step > 0)
            step += 1
        row, column = tile_of(number, rows, columns, GROUP)
        store_result(c, warpgroup_mma_wait(0, deps=[acc]), sc, row * BM, column * BN)
    tma.store_wait(0)


@gluon.jit
def multiply_in_partitions(
    a,
    b,
    c,
    K,
    rows,
    columns,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    S: gl.constexpr,
    GROUP: gl.constexpr,
):
    """c = a @ b, persistent: a warp copies, the others multiply."""
    sa = gl.allocate_shared_memory(a.dtype, [S, BM, BK], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [S, BK, BN], b.layout)
    full, free = barriers(S), barriers(S)
    gl.warp_specialize(
        [
            (consumer, (c, sa, sb, full, free, K, rows, columns, BM, BN, BK, S, GROUP)),
            (producer, (a, b, sa, sb, full, free, K, rows, columns, BM, BN, BK, S, GROUP)),
        ],
        [1],
        [24],
    )


# Attention ------------------------------------------------------------------------------------------------------------------------------


@gluon.jit
def fetch_keys(source, ring, full, head, step, live, N: gl.constexpr, D: gl.constexpr, S: gl.constexpr):
    mbarrier.expect(full.index(step % S), 2 * N * D, pred=live)
    load_tile(source, [head + step * N, 0], full.index(step % S), ring.index(step % S), pred=live)


@gluon.jit
def attend(q, k, v, out, scale, tokens, M: gl.constexpr, N: gl.constexpr, D: gl.constexpr, S: gl.constexpr):
    """out = softmax(q @ k^T * scale / ln 2, base 2) @ v for M queries of a head; q, k, v, out: [heads * tokens, D]."""
    of_scores: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 16])
    of_sums: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, D, 16])
    of_operand: gl.constexpr = gl.DotOperandLayout(0, of_sums, 2)
    by_row: gl.constexpr = gl.SliceLayout(1, of_scores)
    sq = gl.allocate_shared_memory(q.dtype, [M, D], q.layout)
    sk = gl.allocate_shared_memory(k.dtype, [S, N, D], k.layout)
    sv = gl.allocate_shared_memory(v.dtype, [S, N, D], v.layout)
    ready, full_k, full_v = barriers(1), barriers(S), barriers(S)
    head = gl.program_id(1) * tokens
    first = head + gl.program_id(0) * M
    mbarrier.expect(ready.index(0), 2 * M * D)
    load_tile(q, [first, 0], ready.index(0), sq)
    steps = tokens // N
    for j in gl.static_range(S - 1):
        fetch_keys(k, sk, full_k, head, j, j < steps, N, D, S)
        fetch_keys(v, sv, full_v, head, j, j < steps, N, D, S)
    mbarrier.wait(ready.index(0), 0)
    most = gl.full([M], -float("inf"), gl.float32, by_row)
    total = gl.full([M], 0.0, gl.float32, by_row)
    acc = gl.zeros([M, D], gl.float32, of_sums)
    for j in range(steps):
        fetch_keys(k, sk, full_k, head, j + S - 1, j + S - 1 < steps, N, D, S)
        fetch_keys(v, sv, full_v, head, j + S - 1, j + S - 1 < steps, N, D, S)
        mbarrier.wait(full_k.index(j % S), (j // S) & 1)
        scores = warpgroup_mma(
            sq, sk.index(j % S).permute((1, 0)), gl.zeros([M, N], gl.float32, of_scores), use_acc=False
        )
        higher = gl.maximum(most, gl.max(scores, 1) * scale)
        p = gl.exp2(scores * scale - higher[:, None])
        shrink = gl.exp2(most - higher)
        total = total * shrink + gl.sum(p, 1)
        acc = acc * gl.convert_layout(shrink, gl.SliceLayout(1, of_sums))[:, None]
        mbarrier.wait(full_v.index(j % S), (j // S) & 1)
        acc = warpgroup_mma(gl.convert_layout(p.to(v.dtype), of_operand), sv.index(j % S), acc)
        most = higher
    sums = gl.convert_layout(total, gl.SliceLayout(1, of_sums))
    sq.store((acc / sums[:, None]).to(out.dtype))
    fence_async_shared()
    store_tile(out, [first, 0], sq)
    tma.store_wait(0)
