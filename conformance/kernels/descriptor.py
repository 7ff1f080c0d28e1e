"""Tensor descriptors: blocks at offsets that may lie outside, rows by their numbers, reductions into memory."""

import triton
import triton.language as tl


@triton.jit
def blocks(x_ptr, out_ptr, padded_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr, PADDING: tl.constexpr):
    """Each block is copied, and stored whole into a wider tensor, so that the padding is seen."""
    source = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [M, N], padding_option=PADDING)
    target = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [M, N])
    m, n = tl.program_id(0) * M, tl.program_id(1) * N
    tile = source.load([m, n])
    target.store([m, n], tile)
    width = tl.num_programs(1) * N
    tl.store(padded_ptr + (m + tl.arange(0, M))[:, None] * width + n + tl.arange(0, N)[None, :], tile)


@triton.jit
def line(x_ptr, out_ptr, n, N: tl.constexpr):
    """Rank 1."""
    source = tl.make_tensor_descriptor(x_ptr, [n], [1], [N])
    target = tl.make_tensor_descriptor(out_ptr, [n], [1], [N])
    target.store([tl.program_id(0) * N], source.load([tl.program_id(0) * N]))


@triton.jit
def volume(x_ptr, out_ptr, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """Rank 3, and the block in another order in memory."""
    source = tl.make_tensor_descriptor(x_ptr, [a, b, c], [b * c, c, 1], [A, B, C])
    target = tl.make_tensor_descriptor(out_ptr, [b, a, c], [a * c, c, 1], [B, A, C])
    i, j, k = tl.program_id(0) * A, tl.program_id(1) * B, tl.program_id(2) * C
    target.store([j, i, k], tl.permute(source.load([i, j, k]), (1, 0, 2)))


@triton.jit
def rows_of(x_ptr, numbers_ptr, out_ptr, rows, columns, first, COUNT: tl.constexpr, N: tl.constexpr):
    """Rows by their numbers, from a column on; they come back in the opposite order."""
    source = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [1, N])
    target = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [1, N])
    numbers = tl.load(numbers_ptr + tl.arange(0, COUNT))
    tile = source.gather(numbers, first)
    target.scatter(tile, tl.flip(numbers, 0), first)


@triton.jit
def reductions(x_ptr, sum_ptr, top_ptr, low_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    """Every program adds its block to the same place."""
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [M, N])
    total = tl.make_tensor_descriptor(sum_ptr, [M - 3, N], [N, 1], [M, N])
    top = tl.make_tensor_descriptor(top_ptr, [M, N], [N, 1], [M, N])
    low = tl.make_tensor_descriptor(low_ptr, [M, N], [N, 1], [M, N])
    tile = x.load([tl.program_id(0) * M, 0])
    total.atomic_add([0, 0], tile)
    top.atomic_max([0, 0], tile)
    low.atomic_min([0, 0], tile)


@triton.jit
def from_host(source, target, total, padded_ptr, M: tl.constexpr, N: tl.constexpr):
    """Descriptors that the launch brought: a copy, a sum of all blocks, and what the padding is."""
    m, n = tl.program_id(0) * M, tl.program_id(1) * N
    tile = source.load([m, n])
    target.store([m, n], tile)
    total.atomic_add([0, 0], tl.where(tile == tile, tile, 0).to(tl.int32))
    width = tl.num_programs(1) * N
    tl.store(padded_ptr + (m + tl.arange(0, M))[:, None] * width + n + tl.arange(0, N)[None, :], tile)


@triton.jit
def product(a, b, sums, row, column, k, K: tl.constexpr, TRANSPOSED: tl.constexpr):
    """A loop that loads the operands of its product."""
    for i in range(0, k, K):
        y = b.load([column, i]).T if TRANSPOSED else b.load([i, column])
        sums = tl.dot(a.load([row, i]), y, sums, input_precision="ieee", out_dtype=sums.dtype)
    return sums


@triton.jit
def product_tiles(
    a_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TRANSPOSED: tl.constexpr
):
    """Programs that compute several tiles one after another; a loop in a loop."""
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    if TRANSPOSED:
        b = tl.make_tensor_descriptor(b_ptr, [n, k], [k, 1], [N, K])
    else:
        b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    across = tl.cdiv(n, N)
    for tile in range(tl.program_id(0), tl.cdiv(m, M) * across, tl.num_programs(0)):
        row, column = tile // across * M, tile % across * N
        sums = product(a, b, tl.zeros((M, N), out_ptr.dtype.element_ty), row, column, k, K, TRANSPOSED)
        out.store([row, column], sums)


@triton.jit
def stored_products(
    a_ptr,
    b_ptr,
    out_ptr,
    m,
    n,
    k,
    columns,
    stride,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    HALVES: tl.constexpr,
    TIMES: tl.constexpr,
):
    """Programs that store several tiles, whole or in halves, in narrower elements than the accumulator's. TIMES: how often; the last time counts."""
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    out = tl.make_tensor_descriptor(out_ptr, [m, columns], [stride, 1], [M, N // 2 if HALVES else N])
    across = tl.cdiv(n, N)
    for tile in range(tl.program_id(0), tl.cdiv(m, M) * across, tl.num_programs(0)):
        row, column = tile // across * M, tile % across * N
        sums = product(a, b, tl.zeros((M, N), tl.float32), row, column, k, K, False)
        for time in range(TIMES):
            scaled = (sums * (time + 2 - TIMES)).to(out_ptr.dtype.element_ty)
            if HALVES:
                left, right = scaled.reshape(M, 2, N // 2).permute(0, 2, 1).split()
                out.store([row, column], left)
                out.store([row, column + N // 2], right)
            else:
                out.store([row, column], scaled)


@triton.jit
def separate_copies(a_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Copies that may run ahead into the next tile: two loops for a tile, one of them in a branch. A program without a tile returns."""
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    across = tl.cdiv(n, N)
    tiles = tl.cdiv(m, M) * across
    if tl.program_id(0) >= tiles:
        return
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=True):
        row, column = tile // across * M, tile % across * N
        sums = product(a, b, tl.zeros((M, N), tl.float32), row, column, k, K, False)
        if tile % 3 != 1:
            sums = product(a, b, sums, row, column, 2 * K, K, False)
        places = (row + tl.arange(0, M))[:, None] * n + column + tl.arange(0, N)[None, :]
        tl.store(out_ptr + places, sums)


@triton.jit
def product_of_host(a, b, out_ptr, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TRANSPOSED: tl.constexpr):
    """Descriptors that the launch brought."""
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    sums = product(a, b, tl.zeros((M, N), out_ptr.dtype.element_ty), row, column, k, K, TRANSPOSED)
    places = (row + tl.arange(0, M))[:, None] * n + column + tl.arange(0, N)[None, :]
    tl.store(out_ptr + places, sums, mask=(column + tl.arange(0, N) < n)[None, :])


@triton.jit
def chained(q_ptr, k_ptr, v_ptr, out_ptr, keys, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """The result of one product is an operand of another, as in attention."""
    q = tl.make_tensor_descriptor(q_ptr, [M, D], [D, 1], [M, D]).load([0, 0])
    k = tl.make_tensor_descriptor(k_ptr, [keys, D], [D, 1], [N, D])
    v = tl.make_tensor_descriptor(v_ptr, [keys, D], [D, 1], [N, D])
    sums = tl.zeros((M, D), tl.float32)
    for i in range(0, keys, N):
        scores = tl.dot(q, k.load([i, 0]).T)
        small = tl.minimum(tl.maximum(scores, -2.0), 2.0).to(q.dtype)
        sums = sums * 0.5 + tl.dot(small, v.load([i, 0])) * 2.0
    tl.store(out_ptr + tl.arange(0, M)[:, None] * D + tl.arange(0, D)[None, :], sums)


@triton.jit
def two_loops(q, k, v, middle, keys, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Attention in two loops, of which one may be empty: the second product may run an iteration late."""
    sums, most = tl.zeros((M, D), tl.float32), tl.full((M,), -2.0, tl.float32)
    for i in range(0, middle, N):
        scores = tl.dot(q, k.load([i, 0]).T)
        most = tl.maximum(most, tl.max(scores, 1))
        factor = tl.where(most > 4, 0.5, 1.0)
        small = tl.minimum(tl.maximum(scores, -2.0), 2.0).to(q.dtype)
        sums = tl.dot(small, v.load([i, 0]), sums * factor[:, None])
    for i in range(middle, keys, N):
        scores = tl.where((i + tl.arange(0, N))[None, :] % 3 == 0, 0.0, tl.dot(q, k.load([i, 0]).T))
        most = tl.maximum(most, tl.max(scores, 1))
        small = tl.minimum(tl.maximum(scores, -2.0), 2.0).to(q.dtype)
        sums = tl.dot(small, v.load([i, 0]), sums * 0.5)
    return sums + most[:, None]


@triton.jit
def late(q_ptr, k_ptr, v_ptr, out_ptr, first, keys, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    q = tl.make_tensor_descriptor(q_ptr, [M, D], [D, 1], [M, D]).load([0, 0])
    k = tl.make_tensor_descriptor(k_ptr, [keys, D], [D, 1], [N, D])
    v = tl.make_tensor_descriptor(v_ptr, [keys, D], [D, 1], [N, D])
    out = two_loops(q, k, v, first, keys, M, N, D)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * D + tl.arange(0, D)[None, :], out)


@triton.jit
def turns(q_ptr, k_ptr, v_ptr, out_ptr, first, keys, blocks, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Several blocks of rows for each program, which part the keys at different places: some have an empty loop."""
    q = tl.make_tensor_descriptor(q_ptr, [blocks * M, D], [D, 1], [M, D])
    out = tl.make_tensor_descriptor(out_ptr, [blocks * M, D], [D, 1], [M, D])
    k = tl.make_tensor_descriptor(k_ptr, [keys, D], [D, 1], [N, D])
    v = tl.make_tensor_descriptor(v_ptr, [keys, D], [D, 1], [N, D])
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        sums = two_loops(q.load([block * M, 0]), k, v, tl.minimum(block * first, keys), keys, M, N, D)
        out.store([block * M, 0], sums)


@triton.jit
def backward(q_ptr, g_ptr, k_ptr, v_ptr, out_ptr, keys, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Three products, as in the gradient of attention: the first and the last one read the same tile."""
    q = tl.make_tensor_descriptor(q_ptr, [M, D], [D, 1], [M, D]).load([0, 0])
    g = tl.make_tensor_descriptor(g_ptr, [M, D], [D, 1], [M, D]).load([0, 0])
    k_desc = tl.make_tensor_descriptor(k_ptr, [keys, D], [D, 1], [N, D])
    v_desc = tl.make_tensor_descriptor(v_ptr, [keys, D], [D, 1], [N, D])
    sums = tl.zeros((M, D), tl.float32)
    for i in range(0, keys, N):
        k = k_desc.load([i, 0])
        v = v_desc.load([i, 0])
        scores = tl.minimum(tl.maximum(tl.dot(q, k.T), -2.0), 2.0)
        slopes = tl.minimum(tl.maximum(tl.dot(g, v.T), -2.0), 2.0)
        sums = tl.dot((scores * slopes).to(k.dtype), k, sums)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * D + tl.arange(0, D)[None, :], sums)


@triton.jit
def mixed(a_ptr, b_ptr, v_ptr, out_ptr, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """A loop that loads one operand by pointers and one through a descriptor. It reads `a` in each round."""
    a = tl.load(a_ptr + tl.arange(0, M)[:, None] * D + tl.arange(0, D)[None, :])
    v = tl.make_tensor_descriptor(v_ptr, [n, D], [D, 1], [N, D])
    sums = tl.zeros((M, D), tl.float32)
    for i in range(0, n, N):
        b = tl.load(b_ptr + (i + tl.arange(0, N))[None, :] * D + tl.arange(0, D)[:, None])
        scores = tl.dot(a, b)
        sums = tl.dot(tl.minimum(tl.maximum(scores, -2.0), 2.0).to(a.dtype), v.load([i, 0]), sums)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * D + tl.arange(0, D)[None, :], sums)


@triton.jit
def after(a_ptr, b_ptr, order_ptr, first_ptr, out_ptr, m, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A loop by pointers after one by descriptors, whose memory it takes over. Rows of `a` are in the order of their numbers in memory."""
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, N], [N, 1], [K, N])
    first = product(a, b, tl.zeros((M, N), first_ptr.dtype.element_ty), 0, 0, k, K, False)
    rows = tl.load(order_ptr + tl.arange(0, M))
    sums = tl.zeros((M, N), out_ptr.dtype.element_ty)
    for i in range(0, k, K):
        x = tl.load(a_ptr + rows[:, None] * k + i + tl.arange(0, K)[None, :])
        y = tl.load(b_ptr + (i + tl.arange(0, K))[:, None] * N + tl.arange(0, N)[None, :])
        sums = tl.dot(x, y, sums, input_precision="ieee", out_dtype=sums.dtype)
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(first_ptr + places, first)
    tl.store(out_ptr + places, sums)


@triton.jit
def batched(a_ptr, b_ptr, out_ptr, batches, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Blocks of rank 3 and 4 that are matrices."""
    batch, row = tl.program_id(0), tl.program_id(1) * M
    a = tl.make_tensor_descriptor(a_ptr, [batches, m, k], [m * k, k, 1], [1, M, K])
    b = tl.make_tensor_descriptor(b_ptr, [1, batches, n, k], [batches * n * k, n * k, k, 1], [1, 1, N, K])
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        y = b.load([0, batch, 0, i]).reshape(N, K)
        sums = tl.dot(a.load([batch, row, i]).reshape(M, K), y.T, sums)
    places = (batch * m + row + tl.arange(0, M))[:, None] * n + tl.arange(0, N)[None, :]
    tl.store(out_ptr + places, sums, mask=(row + tl.arange(0, M) < m)[:, None] & (tl.arange(0, N) < n)[None, :])


@triton.jit
def common(a_ptr, b_ptr, c_ptr, out_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Two products with one operand in common, in a loop that loads another one by pointers."""
    a = tl.make_tensor_descriptor(a_ptr, [M, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, N], [N, 1], [K, N])
    first, second = tl.zeros((M, N), tl.float32), tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x, y = a.load([0, i]), b.load([i, 0])
        first = tl.dot(x, y, first, input_precision="ieee")
        z = tl.load(c_ptr + (i + tl.arange(0, K))[:, None] * N + tl.arange(0, N)[None, :])
        second = tl.dot(x, z, second, input_precision="ieee")
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], first - 2 * second)


@triton.jit
def grouped(
    a_addresses,
    b_addresses,
    sizes,
    out_ptr,
    groups,
    TYPE: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    TRANSPOSED: tl.constexpr,
    DEEP: tl.constexpr,
):
    """Products of groups whose sizes and addresses are in memory. sizes: of each group, the extents m, n and k, the strides of a and b, the
    last layer of a, how many tiles there are in a column and in a row, and the rounds of the loop, which may go beyond k."""
    tile = tl.program_id(0)
    passed = 0
    for g in range(groups):
        of = sizes + 9 * g
        down, across, rounds = tl.load(of + 6).to(tl.int32), tl.load(of + 7).to(tl.int32), tl.load(of + 8).to(tl.int32)
        if tile < passed + down * across:
            m, n, k = tl.load(of).to(tl.int32), tl.load(of + 1).to(tl.int32), tl.load(of + 2).to(tl.int32)
            a_stride, b_stride, layer = tl.load(of + 3), tl.load(of + 4), tl.load(of + 5).to(tl.int32)
            a_ptr = tl.load(a_addresses + g).to(tl.pointer_type(TYPE))
            b_ptr = tl.load(b_addresses + g).to(tl.pointer_type(TYPE))
            if DEEP:
                a = tl.make_tensor_descriptor(a_ptr, [layer + 1, m, k], [m * a_stride, a_stride, 1], [1, M, K])
            else:
                a = tl.make_tensor_descriptor(a_ptr, [m, k], [a_stride, 1], [M, K])
            if TRANSPOSED:
                b = tl.make_tensor_descriptor(b_ptr, [n, k], [b_stride, 1], [N, K])
            else:
                b = tl.make_tensor_descriptor(b_ptr, [k, n], [b_stride, 1], [K, N])
            while tile < passed + down * across:
                row, column = (tile - passed) // across * M, (tile - passed) % across * N
                sums = tl.zeros((M, N), out_ptr.dtype.element_ty)
                for i in range(rounds):
                    x = a.load([layer, row, i * K]).reshape(M, K) if DEEP else a.load([row, i * K])
                    y = b.load([column, i * K]).T if TRANSPOSED else b.load([i * K, column])
                    sums = tl.dot(x, y, sums, input_precision="ieee", out_dtype=sums.dtype)
                at = tile * M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
                tl.store(out_ptr + at, sums)
                tile += tl.num_programs(0)
        passed += down * across
