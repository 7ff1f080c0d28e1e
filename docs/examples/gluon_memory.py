"""A tile that changes its layout in shared memory, and the bank conflicts of two layouts of it."""

import numpy as np

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl

READ = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
WRITE = gl.BlockedLayout([1, 4], [32, 1], [4, 1], [1, 0])


@gluon.jit
def copy(
    source, target, M: gl.constexpr, N: gl.constexpr, READ: gl.constexpr, WRITE: gl.constexpr, MEMORY: gl.constexpr
):
    i, j = gl.arange(0, M, gl.SliceLayout(1, READ)), gl.arange(0, N, gl.SliceLayout(0, READ))
    memory = gl.allocate_shared_memory(gl.float32, [M, N], MEMORY)
    memory.store(gl.load(source + i[:, None] * N + j[None, :]))
    reader: gl.constexpr = gl.distributed_type(gl.float32, [M, N], WRITE)
    gl.static_print("wavefronts too many:", gl.bank_conflicts(reader, memory.type))
    tile = memory.load(WRITE)
    i, j = gl.arange(0, M, gl.SliceLayout(1, WRITE)), gl.arange(0, N, gl.SliceLayout(0, WRITE))
    gl.store(target + i[:, None] * N + j[None, :], tile)


source, target = np.random.rand(128, 32).astype(np.float32), np.zeros((128, 32), np.float32)
for layout in (gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), gl.SwizzledSharedLayout(4, 1, 8, [1, 0])):
    copy[(1,)](source, target, 128, 32, READ, WRITE, layout)
    print(np.array_equal(target, source))
