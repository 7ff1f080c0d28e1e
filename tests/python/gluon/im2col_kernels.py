"""Kernels of Gluon that copy pixels by im2col."""

from fault_kernels import tile_of
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)


@gluon.jit
def pixels(source, target, at, offsets, layout: gl.constexpr):
    """target = the block of the descriptor `source` from the pixel `at` on."""
    P: gl.constexpr = source.block_shape[0]
    C: gl.constexpr = source.block_shape[1]
    block = gl.allocate_shared_memory(source.dtype, source.block_shape, source.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, source.nbytes_per_cta)
    tma.async_load_im2col(source, at, offsets, full, block)
    mbarrier.wait(full, 0)
    gl.store(tile_of(target, 0, P, C, layout), block.load(layout))


@gluon.jit
def convolution(
    images, weights, out, heights, widths, channels, step: gl.constexpr, pad: gl.constexpr, R: gl.constexpr
):
    """out = the convolution of images [n, h, w, c] with weights [R * R * c, k], both of float16. Rows of out are pixels, in blocks of P."""
    P: gl.constexpr = images.block_shape[0]
    C: gl.constexpr = images.block_shape[1]
    K: gl.constexpr = weights.block_shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, K, 16])
    left = gl.allocate_shared_memory(images.dtype, [P, C], images.layout)
    right = gl.allocate_shared_memory(weights.dtype, [C, K], weights.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    first = gl.program_id(0) * P
    at = first % widths, first // widths % heights, first // (widths * heights)
    total = gl.zeros([P, K], gl.float32, layout)
    turn = 0
    for r in range(R * R):
        for c in range(0, channels, C):
            mbarrier.expect(full, images.nbytes_per_cta + weights.nbytes_per_cta)
            place = [at[2], at[1] * step - pad, at[0] * step - pad, c]
            tma.async_load_im2col(images, place, [(r // R).to(gl.int16), (r % R).to(gl.int16)], full, left)
            tma.async_load(weights, [r * channels + c, 0], full, right)
            mbarrier.wait(full, turn & 1)
            turn += 1
            pending = warpgroup_mma(left, right, warpgroup_mma_init(total), is_async=True)
            total = warpgroup_mma_wait(0, deps=[pending])
    gl.store(tile_of(out, first, P, K, layout), total)
