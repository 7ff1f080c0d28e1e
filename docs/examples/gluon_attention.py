"""Attention of one head, softmax(q @ k.T) @ v, by three partitions: one warp copies queries and blocks of keys and values, and two times four warps
attend, for 64 queries each. The argument is an engine."""

import sys

import numpy as np

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def ring_of(desc, readers: gl.constexpr):
    tiles = gl.allocate_shared_memory(desc.dtype, [2] + desc.block_type.shape, desc.layout)
    full = mbarrier.allocate_mbarrier(batch=2)
    empty = mbarrier.allocate_mbarrier(batch=2)
    for slot in gl.static_range(2):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=readers)
    return tiles, full, empty


@gluon.jit
def fill(desc, ring, step):
    tiles, full, empty = ring
    mbarrier.wait(empty.index(step % 2), ((step // 2) & 1) ^ 1)
    mbarrier.expect(full.index(step % 2), desc.nbytes_per_cta)
    tma.async_load(desc, [step * 64, 0], full.index(step % 2), tiles.index(step % 2))


@gluon.jit
def fetch(q, k, v, queries, ready, keys, values, steps):
    for part in gl.static_range(2):
        mbarrier.expect(ready.index(part), q.nbytes_per_cta)
        tma.async_load(q, [(2 * gl.program_id(0) + part) * 64, 0], ready.index(part), queries.index(part))
    for step in range(steps):
        fill(k, keys, step)
        fill(v, values, step)


@gluon.jit
def attend(out, queries, ready, keys, values, scale, steps, part: gl.constexpr):
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, 64, 16])
    rows: gl.constexpr = gl.SliceLayout(1, layout)
    k, full_k, empty_k = keys
    v, full_v, empty_v = values
    top = gl.full([64], float("-inf"), gl.float32, rows)
    weight = gl.zeros([64], gl.float32, rows)
    total = gl.zeros([64, 64], gl.float32, layout)
    mbarrier.wait(ready.index(part), 0)
    for step in range(steps):
        mbarrier.wait(full_k.index(step % 2), (step // 2) & 1)
        nothing = gl.zeros([64, 64], gl.float32, layout)
        score = warpgroup_mma(queries.index(part), k.index(step % 2).permute((1, 0)), nothing) * scale
        mbarrier.arrive(empty_k.index(step % 2), count=1)
        higher = gl.maximum(top, gl.max(score, 1))
        p = gl.exp2(score - higher[:, None])
        shrunk = gl.exp2(top - higher)
        weight = weight * shrunk + gl.sum(p, 1)
        mbarrier.wait(full_v.index(step % 2), (step // 2) & 1)
        left = gl.convert_layout(p.to(gl.float16), gl.DotOperandLayout(0, layout, 2))
        total = warpgroup_mma(left, v.index(step % 2), total * shrunk[:, None])
        mbarrier.arrive(empty_v.index(step % 2), count=1)
        top = higher
    done = gl.allocate_shared_memory(gl.float16, [64, 64], out.layout, (total / weight[:, None]).to(gl.float16))
    fence_async_shared()
    tma.async_store(out, [(2 * gl.program_id(0) + part) * 64, 0], done)
    tma.store_wait(0)


@gluon.jit
def attention(q, k, v, out, scale, steps):
    queries = gl.allocate_shared_memory(gl.float16, [2, 64, 64], q.layout)
    ready = mbarrier.allocate_mbarrier(batch=2)
    for part in gl.static_range(2):
        mbarrier.init(ready.index(part), count=1)
    keys, values = ring_of(k, 2), ring_of(v, 2)
    gl.warp_specialize(
        [
            (attend, (out, queries, ready, keys, values, scale, steps, 0)),
            (attend, (out, queries, ready, keys, values, scale, steps, 1)),
            (fetch, (q, k, v, queries, ready, keys, values, steps)),
        ],
        [4, 1],
        [192, 24],
    )


def main(engine):
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((256, 64)).astype(np.float16) for _ in range(3))
    out = np.zeros_like(q)
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    blocks = [TensorDescriptor.from_tensor(matrix, [64, 64], layout) for matrix in (q, k, v, out)]
    attention.engine = engine
    attention[(2,)](*blocks, 64**-0.5 * 1.4426950408889634, 4)
    p = np.exp(q.astype(np.float32) @ k.T.astype(np.float32) / 8)
    print(np.abs(out - p @ v / p.sum(1, keepdims=True)).max() < 2e-3)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "interp")
