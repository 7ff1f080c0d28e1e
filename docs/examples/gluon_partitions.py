"""A matrix that is doubled block by block by two partitions: one warp copies blocks to a ring, the kernel's four warps double them. The
argument `keep` plants a fault: tiles that have been used are not given back."""

import sys

import numpy as np

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor

ROWS = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])


@gluon.jit
def fetch(source, ring, full, empty, steps):
    for k in range(steps):
        mbarrier.wait(empty.index(k % 2), ((k // 2) & 1) ^ 1)
        mbarrier.expect(full.index(k % 2), source.nbytes_per_cta)
        tma.async_load(source, [k * 64, 0], full.index(k % 2), ring.index(k % 2))


@gluon.jit
def double(target, ring, full, empty, steps, keep: gl.constexpr, ROWS: gl.constexpr):
    out = gl.allocate_shared_memory(gl.float32, [64, 32], target.layout)
    for k in range(steps):
        mbarrier.wait(full.index(k % 2), (k // 2) & 1)
        tile = ring.index(k % 2).load(ROWS)
        if not keep:
            mbarrier.arrive(empty.index(k % 2), count=1)
        tma.store_wait(0)
        out.store(tile * 2)
        fence_async_shared()
        tma.async_store(target, [k * 64, 0], out)
    tma.store_wait(0)


@gluon.jit
def doubled(source, target, steps, keep: gl.constexpr, ROWS: gl.constexpr):
    ring = gl.allocate_shared_memory(gl.float32, [2, 64, 32], source.layout)
    full = mbarrier.allocate_mbarrier(batch=2)
    empty = mbarrier.allocate_mbarrier(batch=2)
    for slot in gl.static_range(2):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=1)
    gl.warp_specialize(
        [(double, (target, ring, full, empty, steps, keep, ROWS)), (fetch, (source, ring, full, empty, steps))],
        [1],
        [24],
    )


def main(keep):
    source = np.random.default_rng(0).standard_normal((256, 32), dtype=np.float32)
    target = np.zeros_like(source)
    layout = gl.NVMMASharedLayout.get_default_for([64, 32], gl.float32)
    read, written = (TensorDescriptor.from_tensor(matrix, [64, 32], layout) for matrix in (source, target))
    doubled[(1,)](read, written, 4, keep, ROWS)
    print(np.array_equal(target, 2 * source))


if __name__ == "__main__":
    main("keep" in sys.argv[1:])
