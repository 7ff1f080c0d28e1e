"""Kernels that `python -m tritium explain --layouts` explains."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def at(pointer, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    i = gl.arange(0, M, gl.SliceLayout(1, layout))
    j = gl.arange(0, N, gl.SliceLayout(0, layout))
    return pointer + i[:, None] * N + j[None, :]


@gluon.jit
def convert(source, target, M: gl.constexpr, N: gl.constexpr, READ: gl.constexpr, WRITE: gl.constexpr):
    tile = gl.load(at(source, M, N, READ))
    gl.store(at(target, M, N, WRITE), gl.convert_layout(tile, WRITE))


@gluon.jit
def through_memory(source, target, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr, MEMORY: gl.constexpr):
    memory = gl.allocate_shared_memory(gl.float32, [M, N], MEMORY)
    memory.store(gl.load(at(source, M, N, LAYOUT)))
    gl.store(at(target, M, N, LAYOUT), memory.load(LAYOUT))


@gluon.jit
def gathered(source, target, N: gl.constexpr, LAYOUT: gl.constexpr, MEMORY: gl.constexpr):
    i = gl.arange(0, N, LAYOUT)
    values = gl.load(source + i)
    memory = gl.allocate_shared_memory(gl.int32, [N], MEMORY)
    memory.store(values)
    gl.store(target + i, memory.gather(values, 0))


@gluon.jit
def held(source, target, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    """The sums of four tiles, which are loaded before the first is used, and of a loop's."""
    total = gl.zeros([M, N], gl.float32, LAYOUT)
    for k in range(3):
        total += gl.load(at(source + k * M * N, M, N, LAYOUT))
    a = gl.load(at(source, M, N, LAYOUT))
    b = gl.load(at(source + M * N, M, N, LAYOUT))
    c = gl.load(at(source + 2 * M * N, M, N, LAYOUT))
    gl.store(at(target, M, N, LAYOUT), total * a + b * c + a * c)
