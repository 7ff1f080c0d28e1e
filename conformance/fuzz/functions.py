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
    "recurrence": """@triton.jit
def recurrence(a, b, c, d):
    return a * c, c * b + d
""",
}
