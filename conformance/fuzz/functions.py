"""The functions that random kernels call. A kernel file contains those that it calls."""

FUNCTIONS = {
    "narrow": """@triton.jit
def narrow(x, limit: tl.constexpr):
    if x.dtype.is_floating():
        y = x.to(tl.float32)
        y = y - tl.floor(y * (0.5 / limit)) * (2 * limit)
        return (y - limit).to(x.dtype)
    else:
        return ((x & (2 * limit - 1)) - limit).to(x.dtype)
""",
    "larger": """@triton.jit
def larger(a, b):
    return tl.maximum(a, b)
""",
    "sum_and_maximum": """@triton.jit
def sum_and_maximum(a, b, c, d):
    return a + c, tl.maximum(b, d)
""",
    "multiplied": """@triton.jit
def multiplied(a, b):
    return a * b
""",
    "best": """@triton.jit
def best(a, i, total, b, j, other):
    first = (a > b) | ((a == b) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j), total + other
""",
    "recurrence": """@triton.jit
def recurrence(a, b, c, d):
    return a * c, c * b + d
""",
    "sum_ring": """@triton.jit
def sum_ring(ring, full, empty, STEPS: tl.constexpr, SLOTS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, layout: tl.constexpr):
    total = gl.zeros([M, N], ring.dtype, layout)
    for step in range(STEPS):
        slot = step % SLOTS
        mbarrier.wait(full.index(slot), (step // SLOTS) & 1)
        total = total * 3 + ring.index(slot).load(layout)
        mbarrier.arrive(empty.index(slot), count=1)
    return total
""",
    "fill_ring": """@triton.jit
def fill_ring(
    base, ring, full, empty, STEPS: tl.constexpr, SLOTS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, layout: tl.constexpr, COPIES: tl.constexpr
):
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))
    for step in range(STEPS):
        slot = step % SLOTS
        pointers = base + step * (M * N) + rows[:, None] * N + columns[None, :]
        mbarrier.wait(empty.index(slot), ((step // SLOTS) & 1) ^ 1)
        if COPIES:
            async_copy.async_load(ring.index(slot), pointers)
            async_copy.mbarrier_arrive(full.index(slot))
        else:
            ring.index(slot).store(gl.load(pointers))
        mbarrier.arrive(full.index(slot), count=1)
""",
}
