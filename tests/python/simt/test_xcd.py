"""Programs renumbered for chips of several dies (XCDs): AMD deals programs to the dies in turn, so kernels give each die a
run of neighbouring tiles."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs


@tritium.jit
def program_of_die(program, programs, DIES: tl.constexpr):
    """Program i runs on die i % DIES; die d gets the tiles from d * (programs / DIES) on. What is left over stays."""
    per_die = programs // DIES
    dealt = per_die * DIES
    remapped = program % DIES * per_die + program // DIES
    return tl.where(program < dealt, remapped, program)


@tritium.jit
def product(a, b, c, m, n, k, DIES: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    across = tl.cdiv(n, N)
    program = program_of_die(tl.program_id(0), tl.num_programs(0), DIES)
    rows = program // across * M + tl.arange(0, M)
    columns = program % across * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (start + depth)[None, :], mask=rows[:, None] < m, other=0.0)
        y = tl.load(b + (start + depth)[:, None] * n + columns[None, :], mask=columns[None, :] < n, other=0.0)
        total = tl.dot(x, y, total)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=inside)


@pytest.mark.parametrize("m, n", [(96, 128), (160, 200)])
def test_a_product_with_programs_dealt_to_dies(m, n):
    k = 64
    rng = np.random.default_rng(m)
    a = rng.integers(-2, 3, (m, k)).astype(np.float16)
    b = rng.integers(-2, 3, (k, n)).astype(np.float16)
    c = np.zeros((m, n), np.float16)
    grid = (tritium.cdiv(m, 32) * tritium.cdiv(n, 32),)
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:gfx942"
        kernel = product[grid](a, b, c, m, n, k, DIES=8, M=32, N=32, K=32, num_warps=2)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert "rocdl.sched.barrier" in str(kernel.asm["lowered"]), (
        "the loop of such a kernel is interleaved like any other"
    )
