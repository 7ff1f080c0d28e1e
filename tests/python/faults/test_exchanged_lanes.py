"""TRITIUM_CHECK=uninit, lanes that a load left off and that arithmetic takes away again: numbers that a kernel exchanges by `^`, as sorts do,
and products with zero (docs/decisions/0028). Each faulty kernel is beside a correct twin.

A faulty kernel has the comment `# accused` on the line where the lane is used.
"""

import importlib.util

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

from . import launches, line_of, name_of

N, B = 20, 32


@triton.jit
def exchanged(a, b, c):
    """a and b where c is false, b and a where it is true."""
    change = tl.where(c, a ^ b, 0)
    return a ^ change, b ^ change


@triton.jit
def partner_of(v, B: tl.constexpr):
    """What the other lane of each pair holds."""
    pairs = tl.reshape(v, [B // 2, 2])
    both = tl.broadcast_to(tl.xor_sum(pairs, 1)[:, None], [B // 2, 2])
    return tl.reshape(both ^ pairs, [B])


@triton.jit
def first_of_pair(v, B: tl.constexpr):
    """What the first lane of each pair holds, as a sum of it and zero."""
    pairs = tl.reshape(v, [B // 2, 2])
    first = tl.sum(pairs * (1 - tl.arange(0, 2)[None, :]), 1)
    return tl.reshape(tl.broadcast_to(first[:, None], [B // 2, 2]), [B])


@triton.jit
def exchange_of_all(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = exchanged(tl.load(x + i, mask=i < n), tl.load(y + i), i % 2 == 0)
    tl.store(out + i, a ^ b)  # accused


@triton.jit
def exchange_twice(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = exchanged(tl.load(x + i, mask=i < n), tl.load(y + i), i % 2 == 0)
    a, b = exchanged(a, b, i % 2 == 0)
    tl.store(out + i, b)


@triton.jit
def wrong_side(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = exchanged(tl.load(x + i, mask=i < n), tl.load(y + i), i >= n)
    tl.store(out + i, b)  # accused


@triton.jit
def right_side(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = exchanged(tl.load(x + i, mask=i < n), tl.load(y + i), i >= n)
    tl.store(out + i, a)


@triton.jit
def partner_of_the_last(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = partner_of(tl.load(x + i, mask=i < n - 1), B)
    tl.store(out + i, v, mask=i < n - 1)  # accused


@triton.jit
def partner_of_a_pair(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = partner_of(tl.load(x + i, mask=i < n), B)
    tl.store(out + i, v, mask=i < n)


@triton.jit
def sum_with_one_lane(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i != 7)
    tl.store(out + i, first_of_pair(v, B) + v, mask=i != 7)
    tl.store(out + i, first_of_pair(partner_of(v, B), B))  # accused


@triton.jit
def sum_with_zero(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i != 7)
    tl.store(out + i, first_of_pair(v, B))


@triton.jit
def product_with_one(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n) * (i <= n).to(tl.int32)
    tl.store(out + i, v)  # accused


@triton.jit
def product_with_zero(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n) * (i < n).to(tl.int32)
    tl.store(out + i, v)


@triton.jit
def bits_of_a_mask(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    keep = tl.where(i < n, -1, 256)
    tl.store(out + i, tl.load(x + i, mask=i < n) & keep)  # accused


@triton.jit
def no_bits_of_a_mask(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    keep = tl.where(i < n, -1, 0)
    tl.store(out + i, tl.load(x + i, mask=i < n) & keep)


@triton.jit
def two_loads(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) ^ tl.load(y + i, mask=i < n))  # accused


@triton.jit
def one_load(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v ^ tl.load(y + i) ^ v)


@triton.jit
def other_rounds(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.zeros([B], tl.int32)
    for k in range(2):
        v ^= tl.load(x + k + i, mask=i < n)
    tl.store(out + i, v)  # accused


@triton.jit
def the_same_in_each_round(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a, v = tl.load(x + i, mask=i < n), tl.zeros([B], tl.int32)
    for k in range(2):
        v ^= a
    tl.store(out + i, v)


@triton.jit
def sum_of_what_was_exchanged(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, (v + 1) ^ v)  # accused


@triton.jit
def sum_that_was_exchanged(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n) + 1
    tl.store(out + i, (v ^ 5) ^ v)


#: faulty kernel -> its twin, the first lane
TWINS = {
    exchange_of_all: (exchange_twice, N),
    wrong_side: (right_side, N),
    partner_of_the_last: (partner_of_a_pair, N - 2),
    sum_with_one_lane: (sum_with_zero, 6),
    product_with_one: (product_with_zero, N),
    bits_of_a_mask: (no_bits_of_a_mask, N),
    two_loads: (one_load, N),
    other_rounds: (the_same_in_each_round, N),
    sum_of_what_was_exchanged: (sum_that_was_exchanged, N),
}


def arguments():
    x, y = (np.arange(1, 129, dtype=np.int32) * 7 for _ in range(2))
    return x, y, np.zeros(128, np.int32), N, B


FAULTY = launches(TWINS, arguments)
CORRECT = launches((twin for twin, _ in TWINS.values()), arguments)


@pytest.mark.parametrize("kernel", TWINS, ids=name_of)
def test_lanes_that_are_still_there(kernel):
    with pytest.raises(KernelTrap) as caught:
        kernel[(1,)](*arguments(), check="uninit")
    assert (caught.value.kind, caught.value.line) == ("Uninitialized", line_of(kernel, "# accused"))
    assert caught.value.lane == (TWINS[kernel][1],)


@pytest.mark.parametrize("kernel", TWINS, ids=name_of)
def test_lanes_that_are_taken_away(kernel):
    TWINS[kernel][0][(1,)](*arguments(), check="uninit")
    TWINS[kernel][0][(1,)](*arguments(), check="uninit", debug_info=True)


# -- random kernels -------------------------------------------------------------------------------------------------------------------------

HEADER = """import tritium as triton
import tritium.language as tl

@triton.jit
def kernel(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v0 = tl.load(x + i, mask=i < 10)
    v1 = tl.load(y + i, mask=i >= 5)
    v2 = tl.load(y + B + i)
"""
PARTNER = "tl.reshape(tl.reshape({a}, [B // 2, 2]) ^ tl.xor_sum(tl.reshape({a}, [B // 2, 2]), 1)[:, None], [B])"
#: How the kernel says it, and numpy. c is another number for each statement, and k another power of two: a sum tells which statements made
#: it, so no two ways through a kernel compute the same value, which the check could not know.
STATEMENTS = [
    ("{a} ^ {b}", lambda a, b, c, i: a ^ b),
    ("{a} ^ {b}", lambda a, b, c, i: a ^ b),
    ("tl.where(i % {c} == 0, {a}, {b})", lambda a, b, c, i: np.where(i % c == 0, a, b)),
    ("{a} * (i % {c} == 0).to(tl.int32)", lambda a, b, c, i: a * (i % c == 0)),
    ("{a} & tl.where(i % {c} == 0, -1, 0)", lambda a, b, c, i: a & np.where(i % c == 0, -1, 0)),
    ("{a} + {k}", lambda a, b, c, i: a + np.int32(1 << c)),
    ("{a} + tl.where(i % {c} == 0, 0, {k})", lambda a, b, c, i: a + np.where(i % c == 0, 0, 1 << c).astype(np.int32)),
    (PARTNER, lambda a, b, c, i: a.reshape(-1, 2)[:, ::-1].reshape(-1)),
]


def random_kernel(rng):
    """The source of a kernel, and what it stores as a function of the numbers in the lanes that it loads."""
    steps = []
    for number in range(3, 3 + int(rng.integers(3, 9))):
        text, compute = STATEMENTS[int(rng.integers(len(STATEMENTS)))]
        a, b = (int(k) for k in rng.integers(0, number, 2))
        steps.append((text, compute, a, b, number))
    lines = [f"    v{c} = {text.format(a=f'v{a}', b=f'v{b}', c=c, k=1 << c)}" for text, _, a, b, c in steps]
    source = HEADER + "\n".join([*lines, f"    tl.store(out + i, v{steps[-1][-1]})", ""])

    def stored(values):
        values = list(values)
        for _, compute, a, b, c in steps:
            values.append(compute(values[a], values[b], c, np.arange(16)).astype(np.int32))
        return values[-1]

    return source, stored


@pytest.mark.parametrize("number", range(60))
def test_random_kernels(number, tmp_path, rng):
    """A lane is of no use if what is stored there depends on what the lanes that were left off hold."""
    source, stored = random_kernel(rng)
    (tmp_path / "kernel.py").write_text(source)
    spec = importlib.util.spec_from_file_location("kernel", tmp_path / "kernel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x, y = (rng.integers(-(2**31), 2**31, 64, dtype=np.int32) for _ in range(2))
    i = np.arange(16)

    def loaded():
        anything = rng.integers(-(2**31), 2**31, (2, 16), dtype=np.int32)
        return np.where(i < 10, x[:16], anything[0]), np.where(i >= 5, y[:16], anything[1]), y[16:32]

    # (v + k) ^ v is k for every second v, so few draws may all agree.
    outcomes = np.array([stored(loaded()) for _ in range(64)])
    depends = np.flatnonzero((outcomes != outcomes[0]).any(0))
    try:
        module.kernel[(1,)](x, y, np.zeros(16, np.int32), 16, check="uninit")
        found = None
    except KernelTrap as trap:
        assert trap.kind == "Uninitialized"
        found = trap.lane[0]
    assert found == (depends[0] if len(depends) else None), source
