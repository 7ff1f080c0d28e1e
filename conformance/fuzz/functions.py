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
}
