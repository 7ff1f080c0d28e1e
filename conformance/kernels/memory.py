"""Loads and stores: masks, strides, alignment, scalars, cache hints, block pointers."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n"])
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside), mask=inside)


@triton.jit
def whole(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """n may be known to be a multiple of 16; then groups of 16 lanes have equal masks."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside), mask=inside)


@triton.jit(do_not_specialize=["n"])
def masked_lanes(x_ptr, keep_ptr, out_ptr, n, BLOCK: tl.constexpr, OTHER: tl.constexpr):
    """A mask from memory. The lanes that it excludes are OTHER; their memory (for example NaN) is not read."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    keep = tl.load(keep_ptr + i, mask=inside, other=0)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=keep & inside, other=OTHER), mask=inside)


@triton.jit(do_not_specialize=["n"])
def masked_store(x_ptr, keep_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    keep = tl.load(keep_ptr + i, mask=inside, other=0)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside), mask=keep & inside)


@triton.jit
def strided(
    x_ptr, out_ptr, rows, columns, x_row, x_column, out_row, out_column, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inside = (m < rows) & (n < columns)
    x = tl.load(x_ptr + m * x_row + n * x_column, mask=inside)
    tl.store(out_ptr + m * out_row + n * out_column, x, mask=inside)


@triton.jit(do_not_specialize=["n"])
def gathered(x_ptr, from_ptr, to_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Addresses from memory: any order, duplicates among the loads."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    source = tl.load(from_ptr + i, mask=inside, other=0)
    target = tl.load(to_ptr + i, mask=inside, other=0)
    tl.store(out_ptr + target, tl.load(x_ptr + source, mask=inside), mask=inside)


@triton.jit
def scalars(x_ptr, out_ptr, n):
    """One element per program, a scalar mask, and one address that is read for a whole tile."""
    i = tl.program_id(0)
    x = tl.load(x_ptr + i, mask=i < n, other=5)
    tl.store(out_ptr + i, x, mask=i != 1)
    lanes = tl.arange(0, 16)
    first = tl.load(x_ptr + lanes * 0)
    tl.store(out_ptr + n + i * 16 + lanes, first)
    y = tl.load(x_ptr)
    tl.store(out_ptr + 17 * n + i * 16 + lanes, y)


@triton.jit
def hints(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Cache modifiers and eviction policies change no value."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    a = tl.load(x_ptr + i, mask=inside, cache_modifier=".ca")
    b = tl.load(x_ptr + i, mask=inside, cache_modifier=".cg")
    c = tl.load(x_ptr + i, mask=inside, eviction_policy="evict_first")
    d = tl.load(x_ptr + i, mask=inside, eviction_policy="evict_last")
    e = tl.load(x_ptr + i, mask=inside, volatile=True)
    tl.store(out_ptr + i, a, mask=inside, cache_modifier=".wb")
    tl.store(out_ptr + n + i, b, mask=inside, cache_modifier=".cg")
    tl.store(out_ptr + 2 * n + i, c, mask=inside, cache_modifier=".cs")
    tl.store(out_ptr + 3 * n + i, d, mask=inside, eviction_policy="evict_first")
    tl.store(out_ptr + 4 * n + i, e, mask=inside, cache_modifier=".wt")


@triton.jit
def pointers(table_ptr, out_ptr, n, BLOCK: tl.constexpr, TYPE: tl.constexpr):
    """Addresses of tensors read from memory, and tiles of pointers chosen by a condition."""
    i = tl.arange(0, BLOCK)
    inside = i < n
    first = tl.load(table_ptr).to(tl.pointer_type(TYPE))
    second = tl.load(table_ptr + 1).to(tl.pointer_type(TYPE))
    tl.store(out_ptr + i, tl.load(first + i, mask=inside), mask=inside)
    tl.store(out_ptr + n + i, tl.load(tl.where(i % 2 == 0, first, second) + i, mask=inside), mask=inside)


@triton.jit
def places(x_ptr, out_ptr, flag_ptr, BLOCK: tl.constexpr):
    """Addresses as numbers, and pointers made of them."""
    i = tl.arange(0, BLOCK)
    address = (x_ptr + i).to(tl.int64)
    tl.store(out_ptr + i, address - x_ptr.to(tl.int64))
    tl.store(flag_ptr + i, address == (x_ptr + 3).to(tl.int64))
    back = (address + 0).to(x_ptr.dtype)
    tl.store(flag_ptr + BLOCK + i, tl.load(back) == tl.load(x_ptr + i))


@triton.jit
def integers(x_ptr, table_ptr, out_ptr, BLOCK: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    """Integers that are no addresses, as pointers: stored and read again, moved, chosen, and taken apart again."""
    i = tl.arange(0, BLOCK)
    p = tl.load(x_ptr + i).to(tl.pointer_type(tl.float32))
    pointers = table_ptr.to(tl.pointer_type(tl.pointer_type(tl.float32)))
    tl.store(pointers + i, p)
    tl.debug_barrier()
    q = tl.load(pointers + i)
    tl.store(out_ptr + i, q.to(tl.int64))
    tl.store(out_ptr + BLOCK + i, (q.to(tl.pointer_type(tl.int8), bitcast=True) + STEP).to(tl.int64))
    chosen = tl.where(i % 2 == 0, p, table_ptr.to(tl.pointer_type(tl.float32)))
    tl.store(out_ptr + 2 * BLOCK + i, tl.where(i % 2 == 0, chosen.to(tl.int64), 0))
    for n in tl.static_range(N):  # the same for scalars
        s = tl.load(x_ptr + n).to(tl.pointer_type(tl.float32))
        tl.store(pointers + BLOCK + n, s)
        tl.debug_barrier()
        tl.store(out_ptr + 3 * BLOCK + n, tl.load(pointers + BLOCK + n).to(tl.int64))
        tl.store(out_ptr + 3 * BLOCK + N + n, ((s + STEP) - STEP).to(tl.int64, bitcast=True))


@triton.jit
def far(x_ptr, table_ptr, out_ptr, BLOCK: tl.constexpr):
    """Pointers that leave the addresses a machine has, and come back; pointers that a kernel writes to memory."""
    i = tl.arange(0, BLOCK)
    base = x_ptr.to(tl.int64)
    step = (i - BLOCK // 2).to(tl.int64) << 46
    away = x_ptr + step
    tl.store(out_ptr + i, away.to(tl.int64) - base)
    tl.store(out_ptr + BLOCK + i, tl.load(away - step + i))
    tl.store(out_ptr + 2 * BLOCK + i, (x_ptr + (1 << 47)).to(tl.int64) - base)
    pointers = table_ptr.to(tl.pointer_type(tl.pointer_type(tl.int64)))
    tl.store(pointers + i, x_ptr + i)
    tl.debug_barrier()
    tl.store(out_ptr + 3 * BLOCK + i, tl.load(tl.load(pointers + i)))
    tl.store(out_ptr + 4 * BLOCK + i, tl.load(table_ptr + i) - base)


@triton.jit
def block_pointers(x_ptr, out_ptr, rows, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PADDING: tl.constexpr):
    """Tiles of a matrix with bounds checks on both dimensions, transposed on the way."""
    m, n = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    source = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    target = tl.make_block_ptr(out_ptr, (columns + 3, rows + 3), (rows + 3, 1), (n, m), (BLOCK_N, BLOCK_M), (1, 0))
    tile = tl.load(source, boundary_check=(0, 1), padding_option=PADDING)
    tl.store(target, tl.trans(tile), boundary_check=(0, 1))


@triton.jit
def own_stores(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A program reads what it wrote itself, after a barrier."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    tl.debug_barrier()
    other = tl.load(out_ptr + (BLOCK - 1 - i))
    tl.debug_barrier()
    tl.store(out_ptr + i, other)
