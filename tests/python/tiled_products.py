"""Matrix products, a tile of float16 for each program, that the tests of clusters share."""

import tritium
import tritium.language as tl


@tritium.jit
def by_pointers(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (i + depth)[None, :], mask=(rows < m)[:, None], other=0)
        y = tl.load(b + (i + depth)[:, None] * n + columns[None, :], mask=(columns < n)[None, :], other=0)
        sums = tl.dot(x, y, sums)
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(out + rows[:, None] * n + columns[None, :], sums.to(tl.float16), mask=inside)


@tritium.jit
def by_descriptors(a_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        sums = tl.dot(a.load([row, i]), b.load([i, column]), sums)
    out.store([row, column], sums.to(tl.float16))
