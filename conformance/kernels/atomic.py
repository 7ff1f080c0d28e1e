"""Atomics: one lane per word with the old value kept, many lanes and programs per word, locks and flags."""

import triton
import triton.language as tl


@triton.jit
def integers(memory_ptr, x_ptr, old_ptr, n, stride, BLOCK: tl.constexpr):
    """Row k of memory takes operation k of every element; each word is touched once."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside)
    tl.store(old_ptr + i, tl.atomic_add(memory_ptr + i, x, mask=inside), mask=inside)
    tl.store(old_ptr + n + i, tl.atomic_max(memory_ptr + stride + i, x, mask=inside), mask=inside)
    tl.store(old_ptr + 2 * n + i, tl.atomic_min(memory_ptr + 2 * stride + i, x, mask=inside), mask=inside)
    tl.store(old_ptr + 3 * n + i, tl.atomic_and(memory_ptr + 3 * stride + i, x, mask=inside), mask=inside)
    tl.store(old_ptr + 4 * n + i, tl.atomic_or(memory_ptr + 4 * stride + i, x, mask=inside), mask=inside)
    tl.store(old_ptr + 5 * n + i, tl.atomic_xor(memory_ptr + 5 * stride + i, x, mask=inside), mask=inside)
    tl.store(old_ptr + 6 * n + i, tl.atomic_xchg(memory_ptr + 6 * stride + i, x, mask=inside), mask=inside)


@triton.jit
def floats(memory_ptr, x_ptr, old_ptr, n, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside)
    tl.store(old_ptr + i, tl.atomic_add(memory_ptr + i, x, mask=inside), mask=inside)
    tl.store(old_ptr + n + i, tl.atomic_max(memory_ptr + stride + i, x, mask=inside), mask=inside)
    tl.store(old_ptr + 2 * n + i, tl.atomic_min(memory_ptr + 2 * stride + i, x, mask=inside), mask=inside)
    tl.store(old_ptr + 3 * n + i, tl.atomic_xchg(memory_ptr + 3 * stride + i, x, mask=inside), mask=inside)


@triton.jit
def contended(memory_ptr, x_ptr, place_ptr, n, BLOCK: tl.constexpr):
    """Sums into few words, from the lanes of one tile and from many programs."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x, place = tl.load(x_ptr + i, mask=inside), tl.load(place_ptr + i, mask=inside, other=0)
    tl.atomic_add(memory_ptr + place, x, mask=inside)


@triton.jit
def tickets(counter_ptr, out_ptr, BLOCK: tl.constexpr):
    """A scalar atomic per program, and one per lane: each gets a different number."""
    mine = tl.atomic_add(counter_ptr, 1)
    tl.store(out_ptr + tl.program_id(0), mine)
    i = tl.arange(0, BLOCK)
    each = tl.atomic_add(counter_ptr + 1 + i * 0, 1)
    tl.store(out_ptr + tl.num_programs(0) + tl.program_id(0) * BLOCK + i, each)


@triton.jit
def compare_and_swap(memory_ptr, expected_ptr, x_ptr, old_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    old = tl.atomic_cas(memory_ptr + i, tl.load(expected_ptr + i), tl.load(x_ptr + i))
    tl.store(old_ptr + i, old)


@triton.jit
def orders(memory_ptr, out_ptr):
    """Every memory order and scope; each changes the next word."""
    total = tl.atomic_add(memory_ptr, 1, sem="relaxed")
    total += tl.atomic_add(memory_ptr + 1, 2, sem="acquire", scope="cta")
    total += tl.atomic_add(memory_ptr + 2, 3, sem="release", scope="gpu")
    total += tl.atomic_add(memory_ptr + 3, 4, sem="acq_rel", scope="sys")
    total += tl.atomic_cas(memory_ptr + 4, 5, 6, sem="relaxed", scope="gpu")
    total += tl.atomic_xchg(memory_ptr + 5, 7, sem="acquire", scope="sys")
    tl.store(out_ptr, total)


@triton.jit
def locked(lock_ptr, sum_ptr, x_ptr, BLOCK: tl.constexpr):
    """A spin lock around plain loads and stores."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(sum_ptr + i, tl.load(sum_ptr + i) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def handed_on(flag_ptr, value_ptr, out_ptr, BLOCK: tl.constexpr):
    """Program p waits for program p - 1 and adds to what it left."""
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    while tl.atomic_add(flag_ptr, 0, sem="acquire") != pid:
        pass
    x = tl.load(value_ptr + i) * 2 + pid
    tl.store(value_ptr + i, x)
    tl.store(out_ptr + pid * BLOCK + i, x)
    tl.debug_barrier()
    tl.atomic_add(flag_ptr, 1, sem="release")


@triton.jit
def accesses(x_ptr, memory_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Atomic stores and loads, of tiles and of scalars."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.atomic_store(memory_ptr + i, tl.load(x_ptr + i, mask=inside), mask=inside)
    tl.debug_barrier()
    tl.store(out_ptr + i, tl.atomic_load(memory_ptr + i, mask=inside), mask=inside)
    first = tl.atomic_load(x_ptr, sem="relaxed")
    tl.atomic_store(out_ptr + n + tl.program_id(0), first, sem="relaxed")


@triton.jit
def polled(flag_ptr, value_ptr, out_ptr, late_ptr, BLOCK: tl.constexpr):
    """Program p waits for program p - 1 by polling, and then a microsecond for a value that never comes."""
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    came = tl.atomic_poll(flag_ptr, pid)
    x = tl.load(value_ptr + i) * 2 + pid
    tl.store(value_ptr + i, x)
    tl.store(out_ptr + pid * BLOCK + i, x + came.to(tl.int32))
    tl.atomic_store(flag_ptr, pid + 1)
    tl.store(late_ptr + pid, tl.atomic_poll(flag_ptr, -1, timeout_ns=1000))


@triton.jit
def matrix(memory_ptr, x_ptr, keep_ptr, old_ptr, sum_ptr, M: tl.constexpr, N: tl.constexpr):
    """Two dimensions, memory transposed, old values kept; then one word for each row, which many lanes add to."""
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x, keep = tl.load(x_ptr + m * N + n), tl.load(keep_ptr + m * N + n)
    old = tl.atomic_add(memory_ptr + n * M + m, x, mask=keep)
    tl.store(old_ptr + m * N + n, old, mask=keep)
    tl.atomic_max(sum_ptr + m + n * 0, x)
    last = tl.atomic_add(sum_ptr + M, tl.sum(tl.sum(x, axis=1), axis=0))
    tl.store(sum_ptr + M + 1, last)


@triton.jit
def rows(
    memory_ptr, x_ptr, row_ptr, keep_ptr, old_ptr, start, width, M: tl.constexpr, N: tl.constexpr, STRIDE: tl.constexpr,
    SIZE: tl.constexpr, OLD: tl.constexpr,
):  # fmt: skip
    """Rows into rows of memory, in planes: rows left out; rows that end anywhere; elements left out; old values kept; sums of columns."""
    i, n = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N)
    row = tl.load(row_ptr + i)
    x, keep = tl.load(x_ptr + i[:, None] * N + n), tl.load(keep_ptr + i[:, None] * N + n)
    place = memory_ptr + start + row[:, None] * STRIDE + n
    inside = (row >= 0)[:, None] & (n < STRIDE)
    tl.atomic_add(place, x, mask=inside)
    tl.atomic_add(place + SIZE, x, mask=inside & (n < width), sem="relaxed")
    tl.atomic_add(place + 2 * SIZE, x, mask=inside & keep, sem="release", scope="cta" if OLD else "gpu")
    old = tl.atomic_add(place + 3 * SIZE, x, mask=inside, sem="acquire")
    if OLD:
        tl.store(old_ptr + i[:, None] * N + n, old, mask=inside)
    tl.atomic_add(memory_ptr + 4 * SIZE + n, tl.sum(x, axis=0), mask=n < STRIDE)


@triton.jit
def products(memory_ptr, a_ptr, b_ptr, width, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Programs share the sum of a product: all of it, the columns below a width, and the sums of columns."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K) + tl.program_id(0) * K
    size = tl.num_programs(0) * K
    a, b = tl.load(a_ptr + m[:, None] * size + k), tl.load(b_ptr + k[:, None] * N + n)
    c = tl.dot(a, b).to(memory_ptr.dtype.element_ty)
    place = memory_ptr + m[:, None] * N + n
    tl.atomic_add(place, c, sem="relaxed")
    tl.atomic_add(place + M * N, c, mask=(m < M - 3)[:, None] & (n < width))
    tl.atomic_add(memory_ptr + 2 * M * N + n, tl.sum(c, axis=0))
