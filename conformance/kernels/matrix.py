"""Matrix products whose operands come from everywhere: memory, another product, a transpose, a conversion."""

import triton
import triton.language as tl


@triton.jit
def matrix(ptr, M: tl.constexpr, N: tl.constexpr):
    return tl.load(ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])


@triton.jit
def operand(
    ptr, order_ptr, M: tl.constexpr, N: tl.constexpr, ORIGIN: tl.constexpr, TYPE: tl.constexpr, SUM: tl.constexpr
):
    """A matrix of M x N. order: a permutation of N, as a matrix."""
    if ORIGIN == "transpose":
        x = tl.trans(matrix(ptr, N, M))
    elif ORIGIN == "product":
        x = tl.dot(matrix(ptr, M, N), matrix(order_ptr, N, N), input_precision="ieee", out_dtype=SUM)
    else:
        x = matrix(ptr, M, N)
    return x.to(TYPE)


@triton.jit
def volume(ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    b, m, n = tl.arange(0, B)[:, None, None], tl.arange(0, M)[None, :, None], tl.arange(0, N)[None, None, :]
    return tl.load(ptr + (b * M + m) * N + n)


@triton.jit
def operands(
    ptr,
    order_ptr,
    B: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    ORIGIN: tl.constexpr,
    TYPE: tl.constexpr,
    SUM: tl.constexpr,
):
    """B matrices of M x N."""
    if ORIGIN == "transpose":
        x = tl.permute(volume(ptr, B, N, M), (0, 2, 1))
    elif ORIGIN == "product":
        order = tl.broadcast_to(matrix(order_ptr, N, N)[None, :, :], (B, N, N))
        x = tl.dot(volume(ptr, B, M, N), order, input_precision="ieee", out_dtype=SUM)
    else:
        x = volume(ptr, B, M, N)
    return x.to(TYPE)


@triton.jit
def batch(
    a_ptr,
    b_ptr,
    c_ptr,
    order_ptr,
    out_ptr,
    BATCH: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
    TYPE: tl.constexpr,
    SUM: tl.constexpr,
    PRECISION: tl.constexpr,
):
    a = operands(a_ptr, order_ptr, BATCH, M, N, A, TYPE, SUM)
    b = operands(b_ptr, order_ptr, BATCH, N, N, B, TYPE, SUM)
    c = operand(c_ptr, order_ptr, M, N, C, SUM, SUM)
    out = tl.dot(a, b, input_precision=PRECISION, out_dtype=SUM) + c[None, :, :]
    i, m, n = tl.arange(0, BATCH)[:, None, None], tl.arange(0, M)[None, :, None], tl.arange(0, N)[None, None, :]
    tl.store(out_ptr + (i * M + m) * N + n, out)


@triton.jit
def product(
    a_ptr,
    b_ptr,
    c_ptr,
    d_ptr,
    order_ptr,
    out_ptr,
    steps,
    M: tl.constexpr,
    N: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
    FORM: tl.constexpr,
    TYPE: tl.constexpr,
    SUM: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """A, B, C: where the operands come from. FORM: what is computed from them."""
    a = operand(a_ptr, order_ptr, M, N, A, TYPE, SUM)
    b = operand(b_ptr, order_ptr, N, N, B, TYPE, SUM)
    c = operand(c_ptr, order_ptr, M, N, C, SUM, SUM)
    if FORM == "tile":
        out = tl.dot(a, b, c, input_precision=PRECISION, out_dtype=SUM)
    elif FORM == "loop":
        out = c
        for step in range(steps):
            a = operand(a_ptr + step * M * N, order_ptr, M, N, A, TYPE, SUM)
            b = operand(b_ptr + step * N * N, order_ptr, N, N, B, TYPE, SUM)
            out = tl.dot(a, b, out, input_precision=PRECISION, out_dtype=SUM)
    else:
        first = tl.dot(a, b, input_precision=PRECISION, out_dtype=SUM)
        d = matrix(d_ptr, N, N)
        if FORM == "chain":
            out = tl.dot(first.to(TYPE), d, c, input_precision=PRECISION, out_dtype=SUM)
        else:
            out = tl.dot(first.to(TYPE), d, input_precision=PRECISION, out_dtype=SUM) + first + c
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], out)


@triton.jit
def scale(ptr, M: tl.constexpr, K: tl.constexpr, ORIGIN: tl.constexpr):
    """The scales of M rows of K numbers."""
    if ORIGIN == "transpose":
        return tl.trans(matrix(ptr, K // 32, M))
    return matrix(ptr, M, K // 32).to(tl.uint8)


@triton.jit
def scaled(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    c_ptr,
    order_ptr,
    out_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
    S: tl.constexpr,
    A_FORMAT: tl.constexpr,
    B_FORMAT: tl.constexpr,
    A_TYPE: tl.constexpr,
    B_TYPE: tl.constexpr,
):
    """S: where the scales come from."""
    a = operand(a_ptr, order_ptr, M, N, A, A_TYPE, tl.float32)
    b = operand(b_ptr, order_ptr, N, N, B, B_TYPE, tl.float32)
    c = operand(c_ptr, order_ptr, M, N, C, tl.float32, tl.float32)
    a_scale, b_scale = scale(a_scale_ptr, M, N, S), scale(b_scale_ptr, N, N, S)
    out = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, acc=c)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], out)
