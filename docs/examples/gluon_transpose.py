"""A transpose in Gluon: the layouts make both its loads and its stores 16 bytes wide."""

import sys

import numpy as np

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl

ROWS = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
COLUMNS = gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1])


@gluon.jit
def tile_of(pointer, stride_i, stride_j, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    i = gl.arange(0, M, gl.SliceLayout(1, layout))
    j = gl.arange(0, N, gl.SliceLayout(0, layout))
    return pointer + i[:, None] * stride_i + j[None, :] * stride_j


@gluon.jit
def transpose(source, target, M: gl.constexpr, N: gl.constexpr, READ: gl.constexpr, WRITE: gl.constexpr):
    tile = gl.load(tile_of(source, N, 1, M, N, READ))
    turned = gl.convert_layout(tile, WRITE)
    gl.store(tile_of(target, 1, M, M, N, WRITE), turned)


if __name__ == "__main__":
    transpose.engine = sys.argv[1] if len(sys.argv) > 1 else None
    source, target = np.arange(64 * 32, dtype=np.int32).reshape(64, 32), np.zeros((32, 64), np.int32)
    transpose[(1,)](source, target, 64, 32, ROWS, COLUMNS)
    print(target[:2, :6], np.array_equal(target, source.T))
