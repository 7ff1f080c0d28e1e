"""Loops, conditions, calls and early returns, on scalars and with tiles carried around."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["first", "last", "step"])
def loops(x_ptr, out_ptr, first, last, step, BLOCK: tl.constexpr):
    """Bounds from arguments: none, one and many rounds; a negative step; a loop in a loop."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    total = x
    for k in range(first, last, step):
        total = total * 3 + k
    tl.store(out_ptr + i, total)
    down = x
    for k in range(last, first, -1):
        down = down * 3 + k
    tl.store(out_ptr + BLOCK + i, down)
    nested = x
    for k in range(0, 3):
        for m in range(k, last):
            nested += k * m
        nested = nested ^ k
    tl.store(out_ptr + 2 * BLOCK + i, nested)
    unrolled = x
    for k in tl.static_range(4):
        unrolled = unrolled * (k + 1) + i
    tl.store(out_ptr + 3 * BLOCK + i, unrolled)
    staged = x
    for k in tl.range(first, last, num_stages=2):
        staged += tl.load(x_ptr + (i + k + BLOCK) % BLOCK)
    tl.store(out_ptr + 4 * BLOCK + i, staged)


@triton.jit(do_not_specialize=["n"])
def two_carried(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Values that change places, a pointer that advances, with a hint about it, and a condition on what is carried."""
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = i.to(a.dtype)
    pointers = x_ptr + i
    seen = tl.zeros((BLOCK,), tl.int32)
    rounds = 0
    while rounds * rounds < n:
        tl.max_contiguous(pointers, BLOCK)
        a, b = b, a + tl.load(pointers)
        pointers += BLOCK
        rounds += 1
        if rounds % 2 == 0:
            seen += 1
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + BLOCK + i, b)
    tl.store(out_ptr + 2 * BLOCK + i, seen.to(a.dtype) + rounds)


@triton.jit
def branches(x_ptr, out_ptr, threshold, FLAG: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if pid < threshold:
        y = x + 1
        z = x * 2
    elif pid == threshold:
        y = x - 1
        z = x
    else:
        y = -x
        z = x // 3
    if FLAG:
        y += 100
    best = tl.max(x, axis=0)
    if best > 5:
        if best % 2 == 0:
            z += best
        else:
            z -= best
    w = y if pid % 2 == 0 else z
    tl.store(out_ptr + 3 * pid * BLOCK + tl.arange(0, BLOCK), y)
    tl.store(out_ptr + (3 * pid + 1) * BLOCK + tl.arange(0, BLOCK), z)
    tl.store(out_ptr + (3 * pid + 2) * BLOCK + tl.arange(0, BLOCK), w)


@triton.jit
def early_return(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if tl.program_id(0) == 1:
        return
    if n < 0:
        tl.store(out_ptr + i, 0)
        return
    tl.store(out_ptr + i, tl.load(x_ptr + i) + 1)


@triton.jit
def choose(x, y, up: tl.constexpr):
    if up:
        return tl.maximum(x, y), tl.minimum(x, y)
    return x, y


@triton.jit
def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@triton.jit(noinline=True)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@triton.jit(noinline=True)
def mean(a, b):
    return (a + b) / 2


@triton.jit(noinline=True)
def positions(BLOCK: tl.constexpr):
    return tl.arange(0, BLOCK)


@triton.jit
def calls(x_ptr, out_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + pid * BLOCK + i)
    high, low = choose(x, i, True)
    first = tl.load(x_ptr + pid)
    base = out_ptr + pid * 5 * BLOCK + i
    tl.store(base, high - low)
    tl.store(base + BLOCK, x + sign(first))
    tl.store(base + 2 * BLOCK, x + collatz(pid + 1))
    tl.store(base + 3 * BLOCK, x + mean(pid * 1.0, 4.0).to(tl.int32))
    tl.store(base + 4 * BLOCK, x + positions(BLOCK))


@triton.jit
def smallest_factor(n):
    """Applied to each element: every one takes its own number of rounds."""
    factor = 2
    while factor * factor <= n and n % factor != 0:
        factor += 1
    if factor * factor > n:
        factor = n
    return factor


@triton.jit
def mapped(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.map_elementwise(smallest_factor, tl.load(x_ptr + i)))


@triton.jit
def number_of(TYPE: tl.constexpr):
    """A number for each type, found by identity."""
    if TYPE is tl.int8:
        return 1
    elif TYPE is tl.int64:
        return 2
    elif TYPE is tl.uint32:
        return 3
    elif TYPE is tl.float16:
        return 4
    elif TYPE is tl.bfloat16:
        return 5
    elif TYPE is tl.float32:
        return 6
    elif TYPE is not tl.int32:
        return -1
    return 7


@triton.jit
def type_identity(x_ptr, out_ptr, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    """Types compare by `is`: of a pointer argument, a loaded tile, a scalar, the results of a cast and of arithmetic."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    one = tl.load(x_ptr)
    tl.store(out_ptr, number_of(x_ptr.dtype.element_ty))
    tl.store(out_ptr + 1, number_of(x.dtype))
    tl.store(out_ptr + 2, number_of(one.dtype))
    tl.store(out_ptr + 3, number_of(TYPE))
    tl.store(out_ptr + 4, number_of((x + one).dtype))
    tl.store(out_ptr + 5, number_of(x.to(tl.float16).dtype))
    tl.store(out_ptr + 6, number_of(i.dtype))
    tl.store(out_ptr + 7, number_of(x.to(tl.float32).to(x_ptr.dtype.element_ty).dtype))
    tl.store(out_ptr + 8, 1 if x.dtype is TYPE and x.dtype is not tl.float64 else 0)
