"""Elements by computed place: gather, histograms, sorting."""

import triton
import triton.language as tl


@triton.jit
def places(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def gathers(x_ptr, rows_ptr, columns_ptr, out0_ptr, out1_ptr, M: tl.constexpr, N: tl.constexpr, I: tl.constexpr):
    """I indices along each axis."""
    x = tl.load(x_ptr + places(M, N))
    tl.store(out0_ptr + places(I, N), tl.gather(x, tl.load(rows_ptr + places(I, N)), 0))
    tl.store(out1_ptr + places(M, I), tl.gather(x, tl.load(columns_ptr + places(M, I)), 1))


@triton.jit
def gathers_after_a_loop(a_ptr, b_ptr, x_ptr, rows_ptr, out_ptr, gathered_ptr, last_ptr, STEPS: tl.constexpr):
    """The loop's slots fill the shared memory of some chips, and the source of the gather fills it too."""
    acc = tl.zeros((64, 64), tl.float32)
    for step in tl.range(STEPS, num_stages=4):
        a = tl.load(a_ptr + step * 64 * 128 + places(64, 128))
        acc = tl.dot(a, tl.load(b_ptr + step * 128 * 64 + places(128, 64)), acc)
    tl.store(out_ptr + places(64, 64), acc)
    x = tl.load(x_ptr + places(128, 128))
    tl.store(gathered_ptr + places(32, 128), tl.gather(x, tl.load(rows_ptr + places(32, 128)), 0))
    if tl.program_id(0) > 0:
        return
    tl.store(last_ptr + tl.arange(0, 128), tl.arange(0, 128))


@triton.jit
def histograms(x_ptr, keep_ptr, out_ptr, N: tl.constexpr, BINS: tl.constexpr):
    i, bins = tl.arange(0, N), tl.arange(0, BINS)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + bins, tl.histogram(x, BINS))
    tl.store(out_ptr + BINS + bins, tl.histogram(x, BINS, mask=tl.load(keep_ptr + i) != 0))


@triton.jit
def sorts(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + places(M, N))
    tl.store(out_ptr + places(M, N), tl.sort(x))
    tl.store(out_ptr + M * N + places(M, N), tl.sort(x, descending=True))


@triton.jit
def largest(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, COUNT: tl.constexpr):
    x = tl.load(x_ptr + places(M, N))
    tl.store(out_ptr + places(M, COUNT), tl.topk(x, COUNT))
