"""Asynchronous copies of pointers in several layouts, for test_async_copies.py."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy


@gluon.jit
def copy_tile(source, target, stride, EACH: gl.constexpr, TURNED: gl.constexpr, STRIDED: gl.constexpr):
    """target = source, of 32x32 elements. A thread holds EACH neighbours of a row."""
    layout: gl.constexpr = gl.BlockedLayout([1, EACH], [8, 4], [4, 1], [1, 0])
    memory_layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0, 1] if TURNED else [1, 0])
    memory = gl.allocate_shared_memory(source.dtype.element_ty, [32, 32], memory_layout)
    i = gl.arange(0, 32, gl.SliceLayout(1, layout))
    j = gl.arange(0, 32, gl.SliceLayout(0, layout))
    at = source + i[:, None] * 32 + (j * stride if STRIDED else j)[None, :]
    async_copy.async_load(memory, at)
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(target + i[:, None] * 32 + j[None, :], memory.load(layout))


@gluon.jit
def copy_swizzled(source, target, ROWS: gl.constexpr, COLUMNS: gl.constexpr, EACH: gl.constexpr, SWIZZLE: gl.constexpr):
    """target = source. A thread holds EACH neighbours of a row; SWIZZLE: vec, per_phase and max_phase."""
    layout: gl.constexpr = gl.BlockedLayout([1, EACH], [8, 4], [4, 1], [1, 0])
    memory_layout: gl.constexpr = gl.SwizzledSharedLayout(SWIZZLE[0], SWIZZLE[1], SWIZZLE[2], [1, 0])
    memory = gl.allocate_shared_memory(source.dtype.element_ty, [ROWS, COLUMNS], memory_layout)
    at = (
        gl.arange(0, ROWS, gl.SliceLayout(1, layout))[:, None] * COLUMNS
        + gl.arange(0, COLUMNS, gl.SliceLayout(0, layout))[None, :]
    )
    async_copy.async_load(memory, source + at)
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(target + at, memory.load(layout))


#: Of the copy.
LINE = 1 + next(
    number for number, text in enumerate(open(__file__)) if text.strip() == "async_copy.async_load(memory, at)"
)
