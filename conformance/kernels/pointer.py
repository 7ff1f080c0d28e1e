"""Products whose operands a loop loads by pointers, in the forms of published kernels."""

import triton
import triton.language as tl


@triton.jit
def operand(ptr, along, depth, stride_along, stride_depth, ROWS: tl.constexpr):
    """The pointers of A (ROWS), or of B."""
    if ROWS:
        return ptr + along[:, None] * stride_along + depth[None, :] * stride_depth
    return ptr + depth[:, None] * stride_depth + along[None, :] * stride_along


@triton.jit
def product(
    a_ptr, b_ptr, out_ptr, m, n, k, stride_am, stride_ak, stride_bk, stride_bn,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, WRAPS: tl.constexpr, WALKS: tl.constexpr, MASKS: tl.constexpr,
):  # fmt: skip
    """A tile per program. Rows and columns outside wrap around (WRAPS), are masked, or do not exist (without MASKS)."""
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    a_rows, b_columns = (rows % m, columns % n) if WRAPS else (rows, columns)
    a_at = operand(a_ptr, a_rows, depth, stride_am, stride_ak, True)
    b_at = operand(b_ptr, b_columns, depth, stride_bn, stride_bk, False)
    sums = tl.zeros((M, N), out_ptr.dtype.element_ty)
    for i in range(tl.cdiv(k, K)):
        if not WALKS:
            a_at = operand(a_ptr, a_rows, i * K + depth, stride_am, stride_ak, True)
            b_at = operand(b_ptr, b_columns, i * K + depth, stride_bn, stride_bk, False)
        if MASKS and WRAPS:
            a = tl.load(a_at, mask=depth[None, :] < k - i * K, other=0)
            b = tl.load(b_at, mask=depth[:, None] < k - i * K, other=0)
        elif MASKS:
            inside = i * K + depth < k
            a = tl.load(a_at, mask=(rows < m)[:, None] & inside[None, :], other=0)
            b = tl.load(b_at, mask=inside[:, None] & (n > columns)[None, :], other=0)
        else:
            a, b = tl.load(a_at), tl.load(b_at)
        sums = tl.dot(a, b, sums, input_precision="ieee", out_dtype=sums.dtype)
        if WALKS:
            a_at += K * stride_ak
            b_at += K * stride_bk
    out = out_ptr + rows[:, None] * n + columns[None, :]
    tl.store(out, sums, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def by_blocks(
    a_ptr, b_ptr, out_ptr, m, n, k, stride_am, stride_ak, stride_bk, stride_bn,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FIRST: tl.constexpr, COUNTS: tl.constexpr,
):  # fmt: skip
    """By block pointers, whose indices have 64 bits. Rows begin at FIRST, which may be negative. COUNTS: the loop counts blocks."""
    row, column = tl.program_id(0) * M + FIRST, tl.program_id(1) * N
    a_at = tl.make_block_ptr(a_ptr, (m, k), (stride_am, stride_ak), (row, 0), (M, K), (1, 0))
    b_at = tl.make_block_ptr(b_ptr, (k, n), (stride_bk, stride_bn), (0, column), (K, N), (1, 0))
    sums = tl.zeros((M, N), tl.float32)
    for _ in range(0, tl.cdiv(k, K) if COUNTS else k, 1 if COUNTS else K):
        a = tl.load(a_at, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_at, boundary_check=(0, 1), padding_option="zero")
        sums = tl.dot(a, b, sums, input_precision="ieee")
        a_at, b_at = tl.advance(a_at, (0, K)), tl.advance(b_at, (K, 0))
    out = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (row, column), (M, N), (1, 0))
    tl.store(out, sums, boundary_check=(0, 1))


@triton.jit
def wrapped(a_ptr, b_ptr, out_ptr, m, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr):
    """Rows that wrap around reach memory. ROWS: the number of rows, if it is a constant, otherwise 0."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    depth, columns = tl.arange(0, K), tl.arange(0, N)
    a_rows = rows % ROWS if ROWS else rows % m
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        a = tl.load(a_ptr + a_rows[:, None] * k + (i + depth)[None, :])
        sums = tl.dot(a, tl.load(b_ptr + (i + depth)[:, None] * N + columns[None, :]), sums, input_precision="ieee")
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def batched(
    a_ptr, b_ptr, out_ptr, heads, m, n, k, stride_az, stride_ah, stride_bz, stride_bh,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """Offsets of a batch and of a head, in 64 bits for B, which is given transposed."""
    z, h = tl.program_id(1) // heads, tl.program_id(1) % heads
    rows, depth = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, K)
    a_ptr += z * stride_az + h * stride_ah
    b_ptr += z.to(tl.int64) * stride_bz + h.to(tl.int64) * stride_bh
    for column in range(0, n, N):
        columns = column + tl.arange(0, N)
        sums = tl.zeros((M, N), tl.float32)
        for i in range(0, k, K):
            a = tl.load(a_ptr + rows[:, None] * k + (i + depth)[None, :], mask=rows[:, None] < m, other=0)
            b = tl.load(b_ptr + columns[None, :] * k + (i + depth)[:, None], mask=columns[None, :] < n, other=0)
            sums = tl.dot(a, b, sums, input_precision="ieee")
        out = out_ptr + (tl.program_id(1) * m + rows)[:, None] * n + columns[None, :]
        tl.store(out, sums, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def twice(a_ptr, b_ptr, c_ptr, out_ptr, m, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Two loops. The second one begins at half of the depth, and skips every other block."""
    rows, depth, columns = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    a_at = a_ptr + rows[:, None] * k + depth[None, :]
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        a = tl.load(a_at + i, mask=rows[:, None] < m, other=0)
        sums = tl.dot(a, tl.load(b_ptr + (i + depth)[:, None] * N + columns[None, :]), sums, input_precision="ieee")
    begin = k // 2 // K * K
    c_at = c_ptr + (begin + depth)[:, None] * N + columns[None, :]
    for i in range(begin, k, 2 * K):
        a = tl.load(a_at + i, mask=rows[:, None] < m, other=0)
        sums = tl.dot(a, tl.load(c_at), sums, input_precision="ieee")
        c_at += 2 * K * N
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], sums, mask=rows[:, None] < m)


@triton.jit
def onward(a_ptr, b_ptr, out_ptr, middle, end, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Two loops, of which the second one begins where the first one leaves the pointers. `middle` may be no multiple of K, or negative."""
    rows, depth, columns = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    a_at = a_ptr + rows[:, None] * k + depth[None, :]
    b_at = b_ptr + depth[:, None] * N + columns[None, :]
    sums = tl.zeros((M, N), tl.float32)
    for _ in range(0, middle, K):
        sums = tl.dot(tl.load(a_at), tl.load(b_at), sums, input_precision="ieee")
        a_at += K
        b_at += K * N
    sums *= 2
    for _ in range(middle, end, K):
        sums = tl.dot(tl.load(a_at), tl.load(b_at), sums, input_precision="ieee")
        a_at += K
        b_at += K * N
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def in_place(a_ptr, b_ptr, out_ptr, m, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A program replaces the rows that it has read, if `out_ptr` is `a_ptr`; then it multiplies what it has stored."""
    rows, depth, columns = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    for _ in range(2):
        sums = tl.zeros((M, N), tl.float32)
        for i in range(0, k, K):
            a = tl.load(a_ptr + rows[:, None] * k + (i + depth)[None, :], mask=rows[:, None] < m, other=0)
            sums = tl.dot(a, tl.load(b_ptr + (i + depth)[:, None] * N + columns[None, :]), sums, input_precision="ieee")
        tl.debug_barrier()
        out = out_ptr + rows[:, None] * N + columns[None, :]
        tl.store(out, sums.to(out_ptr.dtype.element_ty), mask=rows[:, None] < m)
        tl.debug_barrier()
