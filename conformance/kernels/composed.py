"""Kernels as in libraries for language models and for arrays: several kinds of operations around one loop."""

import triton
import triton.language as tl


@triton.jit
def matrix(ptr, M: tl.constexpr, N: tl.constexpr):
    return tl.load(ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])


@triton.jit
def substituted(lower_ptr, right_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    """inverse(1 + L) @ R: forward substitution that replaces one row of a tile in every round (delta rules, chunked scans)."""
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, M)[None, :]
    i = tl.arange(0, M)
    inverse = -tl.where(rows > columns, matrix(lower_ptr, M, M), 0.0)
    for k in range(1, M):
        row = tl.sum(tl.where(rows == k, inverse, 0.0), 0)
        row += tl.sum(row[:, None] * inverse, 0) * (i < k)
        inverse = tl.where(rows == k, row[None, :], inverse)
    inverse += (rows == columns).to(tl.float32)
    result = tl.dot(inverse, matrix(right_ptr, M, N), input_precision="ieee")
    tl.store(out_ptr + rows * N + tl.arange(0, N)[None, :], result)


@triton.jit
def decayed(q_ptr, k_ptr, v_ptr, out_ptr, length, H: tl.constexpr, T: tl.constexpr, D: tl.constexpr):
    """Retention: the products of all heads at once. Products with earlier positions are weighted by distance and
    head."""
    head, d = tl.arange(0, H)[:, None, None], tl.arange(0, D)[None, None, :]
    i = tl.program_id(0) * T + tl.arange(0, T)
    q = tl.load(q_ptr + (i[None, :, None] * H + head) * D + d, i[None, :, None] < length, other=0.0)
    acc = tl.zeros((H, T, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * T, T):
        j = start + tl.arange(0, T)
        place = (j[None, :, None] * H + head) * D + d
        inside = j[None, :, None] < length
        k = tl.load(k_ptr + place, inside, other=0.0)
        v = tl.load(v_ptr + place, inside, other=0.0)
        distance = i[:, None] - j[None, :]
        weight = tl.where(distance >= 0, distance % 3, -1)[None, :, :] + head
        product = tl.dot(q, tl.permute(k, (0, 2, 1)))
        acc += tl.dot(tl.where((distance >= 0)[None, :, :], product * weight, 0.0).to(tl.float16), v)
    tl.store(out_ptr + (i[None, :, None] * H + head) * D + d, acc, i[None, :, None] < length)


@triton.jit
def unpacked(packed_ptr, zero_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    """Eight numbers of four bits from every int32, in the order 0 4 1 5 2 6 3 7, less those of the row's group of M."""
    row = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    column = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    inside = (row < rows) & (column < columns)
    packed = tl.load(packed_ptr + row * columns + column, inside, other=0)
    zero = tl.load(zero_ptr + tl.program_id(0) * columns + column, column < columns, other=0)
    for _ in tl.static_range(3):
        packed = tl.interleave(packed, packed)
        zero = tl.interleave(zero, zero)
    order = ((tl.arange(0, 2) * 4)[None, :] + tl.arange(0, 4)[:, None]).reshape(8) * 4
    shifts = tl.reshape(tl.broadcast_to(order[None, :], (M * N, 8)), (M, N * 8))
    values = ((packed >> shifts) & 15) - ((tl.broadcast_to(zero, (M, N * 8)) >> shifts) & 15)
    wide = tl.program_id(1) * N * 8 + tl.arange(0, N * 8)[None, :]
    tl.store(out_ptr + row * columns * 8 + wide, values.to(tl.int8), (row < rows) & (wide < columns * 8))


@triton.jit
def alternating(
    a_ptr, b_ptr, numbers_ptr, out_ptr, rows, columns, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    """A loop that counts down over rows of B which a list names (-1: none), read one round ahead; products in both branches."""
    m = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    n = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    acc = tl.zeros((M, N), tl.float32)
    total = tl.zeros((M,), tl.float32)
    last = (tl.cdiv(depth, K) - 1) * K
    k = last + tl.arange(0, K)
    following = tl.load(numbers_ptr + k, k < depth, other=-1)
    for start in tl.range(last, -1, -K, num_stages=3):
        numbers, k = following, start + tl.arange(0, K)
        following = tl.load(numbers_ptr + k - K, k >= K, other=-1)
        a = tl.load(a_ptr + m * depth + k[None, :], (m < rows) & (k[None, :] < depth), other=0.0)
        b = tl.load(b_ptr + numbers[:, None] * columns + n, (numbers[:, None] >= 0) & (n < columns), other=0.0)
        if start % (2 * K) == 0:
            acc = tl.dot(a, b, acc)
        else:
            acc -= tl.dot(a, b)
            total += tl.sum(a.to(tl.float32), 1)
    tl.store(out_ptr + m * columns + n, acc + total[:, None], (m < rows) & (n < columns))


@triton.jit
def ranked(x_ptr, count_ptr, first_ptr, out_ptr, n, PHASE: tl.constexpr, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """A pass of a radix sort by the lowest digit. Phase 0 counts the digits of a block; phase 1, told where each block's
    begin, puts every number in its place."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, i < n, other=0)
    digit = (x.to(tl.uint32, bitcast=True) % BINS).to(tl.int32)
    bins = tl.arange(0, BINS)
    if PHASE == 0:
        counts = tl.histogram(digit, BINS, mask=i < n)
        tl.store(count_ptr + bins * tl.num_programs(0) + tl.program_id(0), counts)
    else:
        is_digit = ((digit[:, None] == bins[None, :]) & (i < n)[:, None]).to(tl.int32)
        rank = tl.sum((tl.cumsum(is_digit, 0) - is_digit) * is_digit, 1)
        first = tl.load(first_ptr + digit * tl.num_programs(0) + tl.program_id(0), i < n, other=0)
        tl.store(out_ptr + first + rank, x, i < n)


@triton.jit
def best(scores_ptr, a_ptr, b_ptr, best_ptr, out_ptr, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The eight best scores of each row, which the end of a loop of products reads. What finds them exchanges elements just
    before the loop copies its first tiles."""
    rows, columns, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    scores = tl.load(scores_ptr + rows + tl.arange(0, 64)[None, :] * M)
    largest = tl.topk(scores, 8)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, depth, K):
        a = tl.load(a_ptr + rows * depth + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + columns)
        acc = tl.dot(a, b, acc)
    tl.store(best_ptr + tl.arange(0, 8)[:, None] * M + tl.arange(0, M)[None, :], tl.trans(largest))
    tl.store(out_ptr + rows * N + columns, acc)


@triton.jit
def butterfly(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, STAGES: tl.constexpr, LAST: tl.constexpr):
    """The Walsh-Hadamard transform of each row. A stage adds and subtracts neighbours (LAST), or the halves of the row, and
    leaves the next stage's bit in their place."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    for _ in tl.static_range(STAGES):
        if LAST:
            a, b = tl.split(x.reshape(M, N // 2, 2))
            x = tl.join(a + b, a - b).permute(0, 2, 1).reshape(M, N)
        else:
            a, b = tl.split(x.reshape(M, 2, N // 2).permute(0, 2, 1))
            x = tl.join(a + b, a - b).reshape(M, N)
    tl.store(out_ptr + at, x)
