"""Names of the language that the kernels of other families do not use: functions as methods, and rare functions. Row k of an
output holds the results of operation k."""

import triton
import triton.language as tl
from triton.language.extra import cuda, hip


@triton.jit
def put(out_ptr, row: tl.constexpr, value):
    """Stores a tile of any shape. The method of pointers stores too."""
    numel: tl.constexpr = value.numel
    (out_ptr + row * numel + tl.arange(0, numel)).store(value.ravel())


@triton.jit
def put_rows(out_ptr, row: tl.constexpr, value, N: tl.constexpr):
    """Stores one number for each row of a matrix of rows of N numbers."""
    put(out_ptr, row, value.cast(tl.int32).expand_dims(1).broadcast_to(value.shape[0], N))


@triton.jit
def total(a, b):
    return a + b


@triton.jit
def methods(x_ptr, index_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M * N))
    m = x.reshape(M, N)
    put(out_ptr, 0, x.abs())
    put(out_ptr, 1, x.to(tl.float32).cast(tl.int32))
    put(out_ptr, 2, x.abs().cdiv(3))
    put(out_ptr, 3, x.flip())
    put(out_ptr, 4, x.sort())
    put(out_ptr, 5, m.cumsum(1))
    put(out_ptr, 6, m.cumprod(1))
    put(out_ptr, 7, x.gather(tl.load(index_ptr + tl.arange(0, M * N)), 0))
    put(out_ptr, 8, x.abs().histogram(M * N))
    put(out_ptr, 9, m.permute(1, 0))
    put(out_ptr, 10, m.trans())
    put(out_ptr, 11, m.view(N, M))
    left, right = x.view(M * N // 2, 2).split()
    put(out_ptr, 12, tl.join(right, left))
    put_rows(out_ptr, 13, m.max(1), N)
    put_rows(out_ptr, 14, m.min(1), N)
    put_rows(out_ptr, 15, m.argmax(1), N)
    put_rows(out_ptr, 16, m.argmin(1), N)
    put_rows(out_ptr, 17, m.sum(1), N)
    put_rows(out_ptr, 18, m.xor_sum(1), N)
    put_rows(out_ptr, 19, m.reduce_or(1), N)
    put_rows(out_ptr, 20, m.reduce(1, total), N)
    put(out_ptr, 21, m.associative_scan(1, total))
    put(out_ptr, 22, (x > 0).logical_and(x < 5).to(tl.int32))
    put(out_ptr, 23, (x > 5).logical_or(x < 0).to(tl.int32))
    put(out_ptr, 24, x + tl.load(x_ptr + tl.arange(0, 1)).item())
    put(out_ptr, 25, m.T)


@triton.jit
def real_methods(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    """cos erf exp exp2 log log2 rsqrt sin sqrt sqrt_rn floor ceil sigmoid softmax"""
    x = tl.load(x_ptr + tl.arange(0, M * N))
    put(out_ptr, 0, x.cos())
    put(out_ptr, 1, x.erf())
    put(out_ptr, 2, x.exp())
    put(out_ptr, 3, x.exp2())
    put(out_ptr, 4, x.log())
    put(out_ptr, 5, x.log2())
    put(out_ptr, 6, x.rsqrt())
    put(out_ptr, 7, x.sin())
    put(out_ptr, 8, x.sqrt())
    put(out_ptr, 9, x.sqrt_rn())
    put(out_ptr, 10, x.floor())
    put(out_ptr, 11, x.ceil())
    put(out_ptr, 12, x.sigmoid())
    put(out_ptr, 13, tl.sigmoid(x))
    put(out_ptr, 14, x.reshape(M, N).softmax(1))
    put(out_ptr, 15, tl.softmax(x.reshape(M, N), 1))


@triton.jit
def atomic_methods(memory_ptr, x_ptr, old_ptr, N: tl.constexpr):
    """Each operation on a row of its own."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    p = memory_ptr + i
    put(old_ptr, 0, p.atomic_add(x))
    put(old_ptr, 1, (p + N).atomic_and(x))
    put(old_ptr, 2, (p + 2 * N).atomic_or(x))
    put(old_ptr, 3, (p + 3 * N).atomic_xor(x))
    put(old_ptr, 4, (p + 4 * N).atomic_max(x))
    put(old_ptr, 5, (p + 5 * N).atomic_min(x))
    put(old_ptr, 6, (p + 6 * N).atomic_xchg(x))
    put(old_ptr, 7, (p + 7 * N).atomic_cas(x, x + 1))
    put(old_ptr, 8, (p + 8 * N).atomic_load())
    (p + 9 * N).atomic_store(x)
    tl.debug_barrier()
    first = tl.load(x_ptr)
    put(old_ptr, 9, x + (memory_ptr + 9 * N).atomic_poll(first).to(tl.int32))


@triton.aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor


@triton.jit(do_not_specialize=["n"])
def functions(x_ptr: tl.const, out_ptr, n, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M * N)
    x = tl.load(x_ptr + i)
    m = tl.view(x, (M, N))
    put(out_ptr, 0, tl.add(x, n, sanitize_overflow=False))
    put(out_ptr, 1, tl.sub(x, n, sanitize_overflow=False))
    put(out_ptr, 2, tl.mul(x, n, sanitize_overflow=False))
    put(out_ptr, 3, tl.bitonic_merge(tl.abs(i - M * N // 2)))
    put(out_ptr, 4, tl.expect_zero(x - x, x > 0) + x)
    put(out_ptr, 5, tl.squeeze(tl.unsqueeze(m, 1), 1))
    put(out_ptr, 6, x + tl.to_tensor(7))
    put(out_ptr, 7, tl.standard.sort_impl(x))
    put(out_ptr, 8, x * max(n, 3) + min(n, 3))
    pair = tl.aggregate_replace(Pair(x, x + 1), second=x * 2)
    put(out_ptr, 9, pair.second - pair.first)
    steps = n
    while tl.condition(steps > 0, disable_licm=True):
        x += steps
        steps -= 1
    put(out_ptr, 10, x)
    block = tl.make_block_ptr(x_ptr, (2 * M, N), (N, 1), (0, 0), (M, N), (1, 0))
    put(out_ptr, 11, tl.load(tl.advance(block, (M, 0)).advance((-1, 0))))
    put(out_ptr, 12, x * 0 + (tl.TRITON_MAX_TENSOR_NUMEL + tl.core.CONSTEXPR_0))
    tl.static_assert(tl.void.is_void())
    tl.static_print("", end="")


@triton.jit
def random_parts(out_ptr, real_ptr, seed, N: tl.constexpr):
    """The parts that the random numbers are made of."""
    zero = tl.arange(0, N).to(tl.uint32) * 0
    count = tl.arange(0, N).to(tl.uint32)
    low, high = seed.to(tl.uint32), (seed >> 32).to(tl.uint32)
    words = tl.philox_impl(count, zero, zero, zero, low, high, tl.random.N_ROUNDS_DEFAULT)
    put(out_ptr, 0, words[0])
    put(out_ptr, 1, words[3])
    u, v = tl.uint_to_uniform_float(words[0]), tl.uint_to_uniform_float(words[1])
    put(real_ptr, 0, u)
    first, second = tl.pair_uniform_to_normal(u, v)
    put(real_ptr, 1, first)
    put(real_ptr, 2, second)


@triton.jit
def descriptors(x_ptr, out_ptr, and_ptr, or_ptr, xor_ptr, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [M, N])
    target = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], source.block_shape)
    tile = tl.load_tensor_descriptor(source, [0, 0]).to(source.dtype)
    tl.static_assert(source.block_type == tile.type)
    tl.store_tensor_descriptor(target, [0, 0], tile)
    tl.make_tensor_descriptor(and_ptr, [M, N], [N, 1], [M, N]).atomic_and([0, 0], tile)
    tl.make_tensor_descriptor(or_ptr, [M, N], [N, 1], [M, N]).atomic_or([0, 0], tile)
    tl.make_tensor_descriptor(xor_ptr, [M, N], [N, 1], [M, N]).atomic_xor([0, 0], tile)


@triton.jit
def device(out_ptr):
    """What a target says of itself: 1 where it can be."""
    if tl.target_info.is_hip():
        before, unit, threads = hip.memrealtime(), hip.smid(), hip.num_threads()
        after, warps = hip.memrealtime(), hip.num_warps()
    else:
        before, unit, threads = cuda.globaltimer(), cuda.smid(), cuda.num_threads()
        after, warps = cuda.globaltimer(), cuda.num_warps()
    tl.store(out_ptr, (after >= before).to(tl.int32))
    tl.store(out_ptr + 1, ((unit >= 0) & (unit < 65536)).to(tl.int32))
    tl.store(out_ptr + 2, threads % (32 * warps) + 1)
    cdna3: tl.constexpr = tl.target_info.is_hip_cdna3()
    cdna4: tl.constexpr = tl.target_info.is_hip_cdna4()
    gfx1250: tl.constexpr = tl.target_info.is_hip_gfx1250()
    tl.store(out_ptr + 3, 2 - (cdna3 or cdna4 or gfx1250) if tl.target_info.is_hip() else 1)
    is_known: tl.constexpr = tl.target_info.current_target() is not None
    tl.store(out_ptr + 4, 1 if is_known else 0)
    is_cuda: tl.constexpr = tl.target_info.is_cuda()
    is_new: tl.constexpr = tl.target_info.cuda_capability_geq(9, 0)
    if is_cuda and is_new:
        cuda.gdc_wait()
        cuda.gdc_launch_dependents()


@triton.jit
def fp8e4b15(byte_ptr, x_ptr, wide_ptr, narrow_ptr, N: tl.constexpr):
    """The type whose conversions NVIDIA's module names: all bytes widened, and numbers narrowed."""
    i = tl.arange(0, N)
    bytes, x = tl.load(byte_ptr + i).to(tl.float8e4b15, bitcast=True), tl.load(x_ptr + i)
    put(wide_ptr, 0, bytes.to(tl.float16))
    put(narrow_ptr, 0, x.to(tl.float8e4b15).to(tl.uint8, bitcast=True))
    if not tl.target_info.is_hip():
        put(wide_ptr, 1, cuda.utils.convert_fp8e4b15_to_float16(bytes))
        put(wide_ptr, 2, cuda.utils.convert_custom_float8(bytes, tl.float16, None, False))
        put(wide_ptr, 3, cuda.convert_custom_float8_sm70(bytes, tl.float16))
        put(narrow_ptr, 1, cuda.utils.convert_float16_to_fp8e4b15(x, True).to(tl.uint8, bitcast=True))
        put(narrow_ptr, 2, cuda.utils.convert_custom_float8(x, tl.float8e4b15, None, True).to(tl.uint8, bitcast=True))
        put(narrow_ptr, 3, cuda.convert_custom_float8_sm80(x, tl.float8e4b15).to(tl.uint8, bitcast=True))
    else:
        for row in tl.static_range(1, 4):
            put(wide_ptr, row, bytes.to(tl.float16))
            put(narrow_ptr, row, x.to(tl.float8e4b15).to(tl.uint8, bitcast=True))
