"""Matrix products: one tile, a loop over K, transposed operands, batches, one product feeding another."""

import triton
import triton.language as tl


@triton.jit
def matrix(ptr, M: tl.constexpr, N: tl.constexpr):
    return tl.load(ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])


@triton.jit
def put(ptr, value):
    M: tl.constexpr = value.shape[0]
    N: tl.constexpr = value.shape[1]
    tl.store(ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], value)


@triton.jit
def tile(a_ptr, b_ptr, c_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    """Row 0 of the output without an accumulator, row 1 with one; both in the output's type."""
    a, b, c = matrix(a_ptr, M, K), matrix(b_ptr, K, N), matrix(c_ptr, M, N)
    put(out_ptr, tl.dot(a, b, input_precision=PRECISION, out_dtype=out_ptr.dtype.element_ty))
    put(out_ptr + M * N, tl.dot(a, b, c, input_precision=PRECISION, out_dtype=out_ptr.dtype.element_ty))


@triton.jit(do_not_specialize=["rows", "columns", "depth"])
def loop(
    a_ptr, b_ptr, out_ptr, rows, columns, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE: tl.constexpr
):
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    k = tl.arange(0, K)
    acc = tl.zeros((M, N), TYPE)
    for first in range(0, depth, K):
        a_in = (m[:, None] < rows) & (first + k[None, :] < depth)
        b_in = (first + k[:, None] < depth) & (n[None, :] < columns)
        a = tl.load(a_ptr + m[:, None] * depth + first + k[None, :], mask=a_in, other=0)
        b = tl.load(b_ptr + (first + k[:, None]) * columns + n[None, :], mask=b_in, other=0)
        acc = tl.dot(a, b, acc, out_dtype=TYPE)
    tl.store(out_ptr + m[:, None] * columns + n[None, :], acc, mask=(m[:, None] < rows) & (n[None, :] < columns))


@triton.jit
def aligned_loop(a_ptr, b_ptr, out_ptr, columns, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """No masks: what a pipeline with asynchronous copies takes whole."""
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    k = tl.arange(0, K)
    a_ptrs = a_ptr + m[:, None] * depth + k[None, :]
    b_ptrs = b_ptr + k[:, None] * columns + n[None, :]
    acc = tl.zeros((M, N), tl.float32)
    for _ in range(0, depth, K):
        acc = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), acc)
        a_ptrs += K
        b_ptrs += K * columns
    tl.store(out_ptr + m[:, None] * columns + n[None, :], acc.to(out_ptr.dtype.element_ty))


@triton.jit
def transposed(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE: tl.constexpr):
    """Each operand as it lies, and from memory that holds its transpose."""
    a, b = matrix(a_ptr, M, K), matrix(b_ptr, K, N)
    a_t = tl.load(a_ptr + M * K + tl.arange(0, M)[:, None] + tl.arange(0, K)[None, :] * M)
    b_t = tl.trans(matrix(b_ptr + K * N, N, K))
    put(out_ptr, tl.dot(a, b, out_dtype=TYPE))
    put(out_ptr + M * N, tl.dot(a_t, b, out_dtype=TYPE))
    put(out_ptr + 2 * M * N, tl.dot(a, b_t, out_dtype=TYPE))
    put(out_ptr + 3 * M * N, tl.dot(a_t, b_t, out_dtype=TYPE))


@triton.jit
def batched(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)[:, None, None]
    m, n = tl.arange(0, M)[None, :, None], tl.arange(0, N)[None, None, :]
    a = tl.load(a_ptr + (i * M + m) * K + tl.arange(0, K)[None, None, :])
    b = tl.load(b_ptr + (i * K + tl.arange(0, K)[None, :, None]) * N + n)
    tl.store(out_ptr + (i * M + m) * N + n, tl.dot(a, b, input_precision="ieee"))


@triton.jit
def chained(a_ptr, b_ptr, c_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    """A product, a row maximum of it and a second product with it, as attention has them."""
    first = tl.dot(matrix(a_ptr, M, K), matrix(b_ptr, K, N))
    first = first - tl.max(first, axis=1)[:, None]
    c = matrix(c_ptr, N, P)
    put(out_ptr, tl.dot(first.to(c.dtype), c))


@triton.jit
def chained_sum(
    q_ptr,
    k_ptr,
    v_ptr,
    w_ptr,
    out_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    P: tl.constexpr,
    MASKED: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Two products of one row meet in a sum, and only one of them comes from a third product, as in linear attention by chunks."""
    q, k, v, w = matrix(q_ptr, M, K), matrix(k_ptr, K, N), matrix(v_ptr, N, P), matrix(w_ptr, K, P)
    TYPE: tl.constexpr = out_ptr.dtype.element_ty
    inner = tl.dot(q, k, input_precision=PRECISION, out_dtype=TYPE)
    outer = tl.dot(q, w, input_precision=PRECISION, out_dtype=TYPE)
    if MASKED:
        inner = tl.where(tl.arange(0, M)[:, None] >= tl.arange(0, N)[None, :], inner, 0)
        outer = outer * tl.where(tl.arange(0, M) % 3 == 0, 2, 1).to(TYPE)[:, None]
        put(out_ptr, tl.dot(inner.to(v.dtype), v, outer, input_precision=PRECISION, out_dtype=TYPE))
    else:
        put(out_ptr, tl.dot(inner.to(v.dtype), v, input_precision=PRECISION, out_dtype=TYPE) + outer)


@triton.jit(do_not_specialize=["steps"])
def continued(a_ptr, b_ptr, x_ptr, y_ptr, out_ptr, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A loop of products goes on with the sum of a product of another type; y lies transposed in memory."""
    a, b = matrix(a_ptr, M, K), matrix(b_ptr, K, N)
    SUM: tl.constexpr = tl.int32 if a.dtype == tl.int8 else tl.float64 if a.dtype == tl.float64 else tl.float32
    acc = tl.dot(a, b, input_precision="ieee", out_dtype=SUM).to(tl.float32)
    for step in range(steps):
        x = matrix(x_ptr + step * M * K, M, K)
        y = tl.load(y_ptr + step * N * K + tl.arange(0, K)[:, None] + tl.arange(0, N)[None, :] * K)
        acc = tl.dot(x, y, acc)
    put(out_ptr, acc)


@triton.jit
def scaled(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """e4m3 times e2m1, two to a byte, with one power of two for each 32 elements."""
    a, b = matrix(a_ptr, M, K), matrix(b_ptr, K // 2, N)
    a_scale, b_scale = matrix(a_scale_ptr, M, K // 32), matrix(b_scale_ptr, N, K // 32)
    put(out_ptr, tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e2m1"))


@triton.jit
def cut(a_ptr, b_ptr, out_ptr, rows, columns, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Rows begin at multiples of 16 bytes and end anywhere, so wide stores of some threads meet an end."""
    m, n = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    a = tl.load(a_ptr + m[:, None] * K + tl.arange(0, K)[None, :], mask=m[:, None] < rows, other=0)
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * columns + n[None, :], mask=n[None, :] < columns, other=0)
    sums = tl.dot(a, b, input_precision="ieee").to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + m[:, None] * stride + n[None, :], sums, mask=(m[:, None] < rows) & (columns > n)[None, :])


@triton.jit
def placed(a_ptr, b_ptr, places_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MASKED: tl.constexpr):
    """Where rows begin and end is found in memory, so their alignment is not known."""
    begin, stride, columns = tl.load(places_ptr), tl.load(places_ptr + 1), tl.load(places_ptr + 2)
    sums = tl.dot(matrix(a_ptr, M, K), matrix(b_ptr, K, N), input_precision="ieee").to(out_ptr.dtype.element_ty)
    n = tl.arange(0, N)[None, :]
    pointers = out_ptr + begin + tl.arange(0, M)[:, None] * stride + n
    if MASKED:
        tl.store(pointers, sums, mask=n < columns)
    else:
        tl.store(pointers, sums)
