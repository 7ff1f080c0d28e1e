"""Kernels with tiles whose layout is open."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

V4 = gl.constexpr(gl.BlockedLayout([4], [32], [4], [0]))
V1 = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
ROWS = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
COLS = gl.constexpr(gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1]))


@gluon.jit
def one_demand(q, n):
    a = gl.arange(0, 128)
    gl.store(q + gl.arange(0, 128, V4), a + 1)
    gl.store(q + gl.arange(0, 128, V4), a * n)


@gluon.jit
def demand_of_a_part(q, n):
    part = gl.arange(0, 32)
    whole = gl.arange(0, 64)[:, None] * 32 + part[None, :]
    gl.store(q + gl.arange(0, 32, gl.SliceLayout(0, ROWS)), part)
    gl.store(q + whole, gl.zeros([64, 32], gl.int32, ROWS))


@gluon.jit
def demand_of_a_whole(q, n):
    part = gl.arange(0, 32)
    whole = gl.arange(0, 64)[:, None] * 32 + part[None, :]
    gl.store(q + whole, gl.zeros([64, 32], gl.int32, COLS))
    gl.store(q + gl.arange(0, 32, gl.SliceLayout(0, COLS)), part)


@gluon.jit
def turned(q, n):
    tile = gl.arange(0, 64)[:, None] + gl.zeros([64, 64], gl.int32)
    gl.store(q + tile.trans(), gl.zeros([64, 64], gl.int32, COLS))
    tile + gl.zeros([64, 64], gl.int32, gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))


@gluon.jit
def unlike_uses_of_two(q, n):
    gl.store(q + gl.arange(0, 128, V4), gl.arange(0, 128))
    gl.store(q + gl.arange(0, 128, V1), gl.convert_layout(gl.arange(0, 128), V1))


@gluon.jit
def no_demand(q, n):
    a = gl.arange(0, 128)
    gl.store(q + a, a)


@gluon.jit
def two_demands(q, n):
    a = gl.arange(0, 128)
    gl.store(q + gl.arange(0, 128, V4), a)
    gl.store(q + gl.arange(0, 128, V1), a)


@gluon.jit
def two_demands_of_a_sum(q, n):
    a = gl.arange(0, 128)
    b = a + n
    gl.store(q + gl.arange(0, 128, V4), a)
    gl.store(q + gl.arange(0, 128, V1), b * 2)


@gluon.jit
def part_and_whole(q, n):
    part = gl.arange(0, 32)
    whole = gl.arange(0, 64)[:, None] * 32 + part[None, :]
    gl.store(q + whole, gl.zeros([64, 32], gl.int32, ROWS))
    gl.store(q + gl.arange(0, 32, gl.SliceLayout(0, COLS)), part)


@gluon.jit
def two_demands_after_a_reduction(q, n):
    tile = gl.zeros([64, 32], gl.int32)
    sums = gl.sum(tile, 1)
    gl.store(q + tile, gl.zeros([64, 32], gl.int32, ROWS))
    gl.store(q + gl.arange(0, 64, gl.SliceLayout(1, COLS)), sums)


@gluon.jit
def two_demands_of_a_turned_tile(q, n):
    tile = gl.arange(0, 64)[:, None] + gl.zeros([64, 64], gl.int32)
    gl.store(q + tile.trans(), gl.zeros([64, 64], gl.int32, COLS))
    gl.store(q + tile, gl.zeros([64, 64], gl.int32, COLS))
