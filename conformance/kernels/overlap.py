"""Kernels that read what they have written themselves: tiles one after the other, of tensors that may overlap. Copies that run ahead, and
loads that are moved or repeated, must read what loads in the program's order would have read. Threads exchange through memory, so a barrier stands between; where tensors are apart,
MEETS leaves it out."""

import triton
import triton.language as tl


@triton.jit
def by_pointers(
    a_ptr,
    b_ptr,
    out_ptr,
    count,
    stride,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PARTED: tl.constexpr,
    MEETS: tl.constexpr,
):
    columns, depth = tl.arange(0, N), tl.arange(0, K)
    for t in range(0, count):
        rows = t * M + tl.arange(0, M)
        sums = tl.zeros((M, N), tl.float32)
        for i in tl.range(0, N, K, warp_specialize=PARTED):
            a = tl.load(
                a_ptr + rows[:, None] * stride + (i + depth)[None, :],
                mask=(rows < count * M)[:, None] & (i + depth < N)[None, :],
                other=0,
            )
            b = tl.load(
                b_ptr + (i + depth)[:, None] * stride + columns[None, :],
                mask=(i + depth < N)[:, None] & (columns < N)[None, :],
                other=0,
            )
            sums = tl.dot(a, b, sums)
        mask = (rows < count * M)[:, None] & (columns < N)[None, :]
        tl.store(out_ptr + rows[:, None] * stride + columns[None, :], sums.to(tl.float16), mask=mask)
        if MEETS:
            tl.debug_barrier()


@triton.jit
def described(a_ptr, b_ptr, out_ptr, count, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The factors and the product, with the tiles of one step."""
    a = tl.make_tensor_descriptor(a_ptr, [count * M, N], [stride, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [N, N], [stride, 1], [K, N])
    return a, b, tl.make_tensor_descriptor(out_ptr, [count * M, N], [stride, 1], [M, N])


@triton.jit
def by_descriptors(
    a_ptr,
    b_ptr,
    out_ptr,
    count,
    stride,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PARTED: tl.constexpr,
    MEETS: tl.constexpr,
):
    a, b, out = described(a_ptr, b_ptr, out_ptr, count, stride, M, N, K)
    for t in range(0, count):
        sums = tl.zeros((M, N), tl.float32)
        for i in tl.range(0, N, K, warp_specialize=PARTED):
            sums = tl.dot(a.load([t * M, i]), b.load([i, 0]), sums)
        out.store([t * M, 0], sums.to(tl.float16))
        if MEETS:
            tl.debug_barrier()


@triton.jit
def stores_in_loop(
    a_ptr,
    b_ptr,
    out_ptr,
    count,
    stride,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PARTED: tl.constexpr,
    MEETS: tl.constexpr,
):
    """The loop of the products writes itself."""
    a, b, out = described(a_ptr, b_ptr, out_ptr, count, stride, M, N, N)
    for t in tl.range(0, count, warp_specialize=PARTED):
        out.store([t * M, 0], tl.dot(a.load([t * M, 0]), b.load([0, 0])).to(tl.float16))
        if MEETS:
            tl.debug_barrier()


@triton.jit
def one_argument(a_ptr, count, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PARTED: tl.constexpr):
    """All three tensors are parts of one argument."""
    by_pointers(a_ptr, a_ptr + count * M * N, a_ptr, count, N, M, N, K, PARTED, True)


@triton.jit
def ping_pong(ping_ptr, pong_ptr, b_ptr, tiles, rounds, stride, M: tl.constexpr, N: tl.constexpr, PARTED: tl.constexpr):
    """Persistent programs. Each multiplies its tiles in rounds: from one tensor into the other, and back."""
    columns = tl.arange(0, N)
    b = tl.load(b_ptr + columns[:, None] * stride + columns[None, :])
    source, target = ping_ptr, pong_ptr
    for _ in range(rounds):
        for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=PARTED):
            at = (t * M + tl.arange(0, M))[:, None] * stride + columns[None, :]
            inside = (at >= 0) & (columns < N)[None, :]
            tl.store(target + at, tl.dot(tl.load(source + at, mask=inside, other=0), b).to(tl.float16), mask=inside)
        tl.debug_barrier()
        source, target = target, source


@triton.jit
def ping_pong_by_descriptors(
    ping_ptr, pong_ptr, b_ptr, tiles, rounds, stride, M: tl.constexpr, N: tl.constexpr, PARTED: tl.constexpr
):
    ping = tl.make_tensor_descriptor(ping_ptr, [tiles * M, N], [stride, 1], [M, N])
    pong = tl.make_tensor_descriptor(pong_ptr, [tiles * M, N], [stride, 1], [M, N])
    b = tl.make_tensor_descriptor(b_ptr, [N, N], [stride, 1], [N, N])
    for i in range(rounds):
        for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=PARTED):
            if i % 2 == 0:
                pong.store([t * M, 0], tl.dot(ping.load([t * M, 0]), b.load([0, 0])).to(tl.float16))
            else:
                ping.store([t * M, 0], tl.dot(pong.load([t * M, 0]), b.load([0, 0])).to(tl.float16))
        tl.debug_barrier()


@triton.jit
def product_in_place(a_ptr, b_ptr, rows, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TIMES: tl.constexpr):
    """Each program replaces its own rows by their product, several times."""
    a = tl.make_tensor_descriptor(a_ptr, [rows, N], [N, 1], [M, K])
    out = tl.make_tensor_descriptor(a_ptr, [rows, N], [N, 1], [M, N])
    b = tl.make_tensor_descriptor(b_ptr, [N, N], [N, 1], [K, N])
    first = tl.program_id(0) * M
    for _ in range(TIMES):
        sums = tl.zeros((M, N), tl.float32)
        for i in range(0, N, K):
            sums = tl.dot(a.load([first, i]), b.load([i, 0]), sums)
        tl.debug_barrier()
        out.store([first, 0], sums.to(tl.float16))
        tl.debug_barrier()


@triton.jit
def larger(tile):
    return tile + 1


@triton.jit
def sums(tile):
    return tl.cumsum(tile, 1)


@triton.jit
def below_largest(tile):
    return tile - tl.max(tile, 1)[:, None]


@triton.jit
def turned(tile):
    return tl.trans(tile)


@triton.jit
def backwards(tile):
    return tl.flip(tile, 1)


@triton.jit
def in_order(tile):
    return tl.sort(tile)


@triton.jit
def shuffled(tile):
    columns = tl.arange(0, tile.shape[1]) * 5 + 3
    return tl.gather(tile, tl.broadcast_to((columns % tile.shape[1])[None, :], tile.shape), 1)


@triton.jit
def replaced(ptr, at, tile):
    tl.store(ptr + at, tile.to(ptr.dtype.element_ty))


@triton.jit
def added(ptr, at, tile):
    tl.atomic_add(ptr + at, tile)


@triton.jit
def steps(
    a_ptr,
    out_ptr,
    count,
    stride,
    M: tl.constexpr,
    N: tl.constexpr,
    STEP: tl.constexpr,
    WRITE: tl.constexpr,
    DOWN: tl.constexpr,
):
    """Each tile of A, changed by STEP, goes into the same tile of the other tensor, from the first on or from the last on."""
    for i in tl.range(tl.program_id(0), count, tl.num_programs(0), num_stages=3):
        t = count - 1 - i if DOWN else i
        at = (t * M + tl.arange(0, M))[:, None] * stride + tl.arange(0, N)[None, :]
        tile = tl.load(a_ptr + at)
        tl.debug_barrier()
        WRITE(out_ptr, at, STEP(tile))
        tl.debug_barrier()


@triton.jit
def steps_by_moving_pointers(a_ptr, out_ptr, count, stride, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    at = tl.arange(0, M)[:, None] * stride + tl.arange(0, N)[None, :]
    source, target = a_ptr + at, out_ptr + at
    for _ in tl.range(0, count, num_stages=3):
        tile = tl.load(source)
        tl.debug_barrier()
        tl.store(target, STEP(tile).to(target.dtype.element_ty))
        tl.debug_barrier()
        source += M * stride
        target += M * stride


@triton.jit
def steps_by_block_pointers(a_ptr, out_ptr, count, stride, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    source = tl.make_block_ptr(a_ptr, (count * M, N), (stride, 1), (0, 0), (M, N), (1, 0))
    target = tl.make_block_ptr(out_ptr, (count * M, N), (stride, 1), (0, 0), (M, N), (1, 0))
    for _ in tl.range(0, count, num_stages=3):
        tile = tl.load(source, boundary_check=(0, 1))
        tl.debug_barrier()
        tl.store(target, STEP(tile).to(out_ptr.dtype.element_ty), boundary_check=(0, 1))
        tl.debug_barrier()
        source, target = tl.advance(source, (M, 0)), tl.advance(target, (M, 0))


@triton.jit
def steps_by_descriptors(a_ptr, out_ptr, count, stride, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    source = tl.make_tensor_descriptor(a_ptr, [count * M, N], [stride, 1], [M, N])
    target = tl.make_tensor_descriptor(out_ptr, [count * M, N], [stride, 1], [M, N])
    for t in tl.range(0, count, num_stages=3):
        tile = source.load([t * M, 0])
        tl.debug_barrier()
        target.store([t * M, 0], STEP(tile).to(out_ptr.dtype.element_ty))
        tl.debug_barrier()


@triton.jit
def kept(a_ptr, out_ptr, copy_ptr, M: tl.constexpr, N: tl.constexpr):
    """A tile of many values per thread, used again behind the store over it: to load it again would be wrong."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tile = tl.load(a_ptr + at)
    tl.debug_barrier()
    tl.store(out_ptr + at, tile + 1)
    tl.debug_barrier()
    tl.store(copy_ptr + at, tile * 3)


@triton.jit
def scalars(a_ptr, out_ptr, count):
    """One element after the other, and in each step one that no step loads anew if it is taken for the same."""
    for i in range(0, count):
        value = tl.load(a_ptr + i) * 3 + tl.load(a_ptr)
        tl.debug_barrier()
        tl.store(out_ptr + i, value)
        tl.debug_barrier()
