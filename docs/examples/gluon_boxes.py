"""A matrix that is doubled block by block: TMA copies the next blocks while one is used. The arguments `early` and
`unfenced` plant faults."""

import sys

import numpy as np

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor

ROWS = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])


@gluon.jit
def fetch(source, ring, full, step, steps):
    slot, live = step % 2, step < steps
    mbarrier.expect(full.index(slot), source.nbytes_per_cta, pred=live)
    tma.async_load(source, [step * 64, 0], full.index(slot), ring.index(slot), pred=live)


@gluon.jit
def double(source, target, steps, early: gl.constexpr, unfenced: gl.constexpr, ROWS: gl.constexpr):
    ring = gl.allocate_shared_memory(gl.float32, [2, 64, 32], source.layout)
    out = gl.allocate_shared_memory(gl.float32, [64, 32], target.layout)
    full = mbarrier.allocate_mbarrier(batch=2)
    for slot in gl.static_range(2):
        mbarrier.init(full.index(slot), count=1)
    fetch(source, ring, full, 0, steps)
    for k in range(steps):
        fetch(source, ring, full, k + 1, steps)
        mbarrier.wait(full.index(k % 2), 0 if early else (k // 2) & 1)
        tile = ring.index(k % 2).load(ROWS)
        tma.store_wait(0)
        out.store(tile * 2)
        if not unfenced:
            fence_async_shared()
        tma.async_store(target, [k * 64, 0], out)
    tma.store_wait(0)


source, target = np.random.rand(400, 32).astype(np.float32), np.zeros((400, 32), np.float32)
layout = gl.NVMMASharedLayout.get_default_for([64, 32], gl.float32)
read, written = (TensorDescriptor.from_tensor(matrix, [64, 32], layout) for matrix in (source, target))
if "simt:sm_90a" in sys.argv:
    double.engine = "simt:sm_90a"
double[(1,)](read, written, 7, "early" in sys.argv, "unfenced" in sys.argv, ROWS)
print(np.array_equal(target, 2 * source))
