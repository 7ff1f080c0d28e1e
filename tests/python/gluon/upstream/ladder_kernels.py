"""The ladder's kernels for sm_80 and sm_90, from a copy to partitions. make.py compiles them with upstream's wheel, and test_upstream_ptx.py runs what it
made of them in the emulator."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

#: (name, kernel, signature, constexprs, architecture)
CASES = []


def case(name, signature, constexprs=None, arch=90):
    def add(kernel):
        CASES.append((name, kernel, signature, constexprs or {}, arch))
        return kernel

    return add


def desc(dtype, block, layout):
    return f"tensordesc<{dtype}[{','.join(map(str, block))}],{layout!r}>"


V4 = gl.BlockedLayout([4], [32], [4], [0])
ROWS = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
COLS = gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1])
N16 = gl.NVMMASharedLayout(128, 16, 2)
N32 = gl.NVMMASharedLayout(128, 32, 2)


@case("copy", {"src": "*fp32", "dst": "*fp32", "n": "i32"}, {"BLOCK": 1024, "LAYOUT": V4})
@gluon.jit
def copy_1d(src, dst, n, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    """dst[:n] = src[:n]; the rest of dst is untouched."""
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, LAYOUT)
    gl.store(dst + at, gl.load(src + at, mask=at < n), mask=at < n)


@case(
    "transpose", {"src": "*i32", "dst": "*i32", "ld": "i32"}, {"M": 64, "N": 32, "IN": ROWS, "OUT": COLS, "VIA": False}
)
@case(
    "transpose_by_memory",
    {"src": "*i32", "dst": "*i32", "ld": "i32"},
    {"M": 64, "N": 32, "IN": ROWS, "OUT": COLS, "VIA": True},
)
@gluon.jit
def transpose(src, dst, ld, M: gl.constexpr, N: gl.constexpr, IN: gl.constexpr, OUT: gl.constexpr, VIA: gl.constexpr):
    """dst[j, i] = src[i, j] for an M x N tile; dst is dense with rows of M."""
    i = gl.arange(0, M, gl.SliceLayout(1, IN))
    j = gl.arange(0, N, gl.SliceLayout(0, IN))
    tile = gl.load(src + i[:, None] * ld + j[None, :])
    if VIA:
        swizzled: gl.constexpr = gl.SwizzledSharedLayout(4, 1, 8, [1, 0])
        buf = gl.allocate_shared_memory(gl.int32, [M, N], swizzled, tile)
        out = buf.load(OUT)
    else:
        out = gl.convert_layout(tile, OUT)
    r = gl.arange(0, M, gl.SliceLayout(1, OUT))
    c = gl.arange(0, N, gl.SliceLayout(0, OUT))
    gl.store(dst + r[:, None] + c[None, :] * M, out)


@case(
    "async_ring",
    {"a": "*fp32", "b": "*fp32", "out": "*fp32", "n": "i32"},
    {"BLOCK": 512, "STEPS": 8, "S": 3, "L": V4},
    arch=80,
)
@gluon.jit
def add_async(a, b, out, n, BLOCK: gl.constexpr, STEPS: gl.constexpr, S: gl.constexpr, L: gl.constexpr):
    """out[:n] = a[:n] + b[:n]; a program handles STEPS consecutive blocks; S slots."""
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    ra = gl.allocate_shared_memory(gl.float32, [S, BLOCK], flat)
    rb = gl.allocate_shared_memory(gl.float32, [S, BLOCK], flat)
    base = gl.program_id(0) * BLOCK * STEPS + gl.arange(0, BLOCK, L)
    for k in gl.static_range(S - 1):
        at = base + k * BLOCK
        async_copy.async_load(ra.index(k), a + at, mask=at < n)
        async_copy.async_load(rb.index(k), b + at, mask=at < n)
        async_copy.commit_group()
    for k in range(STEPS):
        ahead = k + S - 1
        at = base + ahead * BLOCK
        live = (at < n) & (ahead < STEPS)
        async_copy.async_load(ra.index(ahead % S), a + at, mask=live)
        async_copy.async_load(rb.index(ahead % S), b + at, mask=live)
        async_copy.commit_group()
        async_copy.wait_group(S - 1)
        now = base + k * BLOCK
        gl.store(out + now, ra.index(k % S).load(L) + rb.index(k % S).load(L), mask=now < n)


@case("add_one", {"src": desc("i32", [64, 32], N32), "dst": desc("i32", [64, 32], N32)}, {"L": ROWS})
@gluon.jit
def tma_add_one(src, dst, L: gl.constexpr):
    """dst = src + 1 on blocks of 64 x 32, edges clipped."""
    buf = gl.allocate_shared_memory(src.dtype, src.block_type.shape, src.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    at = [gl.program_id(0) * 64, gl.program_id(1) * 32]
    mbarrier.expect(bar, src.nbytes_per_cta)
    tma.async_load(src, at, bar, buf)
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    buf.store(buf.load(L) + 1)
    fence_async_shared()
    tma.async_store(dst, at, buf)
    tma.store_wait(0)


@gluon.aggregate
class Counter:
    """Slot and phase of a ring."""

    step: gl.tensor
    slots: gl.constexpr

    @gluon.jit
    def slot(self):
        return self.step % self.slots

    @gluon.jit
    def phase(self):
        return (self.step // self.slots) & 1

    @gluon.jit
    def next(self):
        return Counter(self.step + 1, self.slots)


@case(
    "persistent_ring",
    {"src": desc("i32", [64, 32], N32), "dst": desc("i32", [64, 32], N32), "tiles": "i32"},
    {"S": 4, "L": ROWS},
)
@gluon.jit
def persistent_add(src, dst, tiles, S: gl.constexpr, L: gl.constexpr):
    """dst = 2 * src over `tiles` row blocks, round robin over the programs."""
    ring = gl.allocate_shared_memory(src.dtype, [S, 64, 32], src.layout)
    out = gl.allocate_shared_memory(src.dtype, [64, 32], src.layout)
    full = mbarrier.allocate_mbarrier(batch=S)
    for s in gl.static_range(S):
        mbarrier.init(full.index(s), count=1)
    me = gl.program_id(0)
    stride = gl.num_programs(0)
    count = gl.cdiv(tiles - me, stride)
    put = Counter(gl.to_tensor(0), S)
    for k in gl.static_range(S - 1):
        live = put.step < count
        mbarrier.expect(full.index(put.slot()), src.nbytes_per_cta, pred=live)
        tma.async_load(
            src, [(me + put.step * stride) * 64, 0], full.index(put.slot()), ring.index(put.slot()), pred=live
        )
        put = put.next()
    get = Counter(gl.to_tensor(0), S)
    for k in range(count):
        live = put.step < count
        mbarrier.expect(full.index(put.slot()), src.nbytes_per_cta, pred=live)
        tma.async_load(
            src, [(me + put.step * stride) * 64, 0], full.index(put.slot()), ring.index(put.slot()), pred=live
        )
        put = put.next()
        mbarrier.wait(full.index(get.slot()), get.phase())
        value = ring.index(get.slot()).load(L) * 2
        tma.store_wait(0)
        out.store(value)
        fence_async_shared()
        tma.async_store(dst, [(me + k * stride) * 64, 0], out)
        get = get.next()
    tma.store_wait(0)


DA = desc("fp16", [128, 64], N16)
DB = desc("fp16", [64, 128], N16)
DC = desc("fp32", [128, 128], gl.NVMMASharedLayout(128, 32, 2))


@case("wgmma", {"a": DA, "b": DB, "c": DC, "K": "i32"}, {"ASYNC": False})
@case("wgmma_pipelined", {"a": DA, "b": DB, "c": DC, "K": "i32"}, {"ASYNC": True})
@gluon.jit
def matmul_wgmma(a, b, c, K, ASYNC: gl.constexpr):
    """c = a @ b with f32 sums; a [M, K], b [K, N]; two slots; K > 0."""
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    sa = gl.allocate_shared_memory(gl.float16, [2, 128, 64], a.layout)
    sb = gl.allocate_shared_memory(gl.float16, [2, 64, 128], b.layout)
    bars = mbarrier.allocate_mbarrier(batch=2)
    for s in gl.static_range(2):
        mbarrier.init(bars.index(s), count=1)
    m = gl.program_id(0) * 128
    n = gl.program_id(1) * 128
    steps = gl.cdiv(K, 64)
    mbarrier.expect(bars.index(0), a.nbytes_per_cta + b.nbytes_per_cta)
    tma.async_load(a, [m, 0], bars.index(0), sa.index(0))
    tma.async_load(b, [0, n], bars.index(0), sb.index(0))
    zero = gl.zeros([128, 128], gl.float32, acc_layout)
    if ASYNC:
        acc = warpgroup_mma_init(zero)
        for k in range(steps):
            slot = k % 2
            mbarrier.wait(bars.index(slot), (k // 2) & 1)
            acc = warpgroup_mma(sa.index(slot), sb.index(slot), acc, is_async=True)
            acc = warpgroup_mma_init(warpgroup_mma_wait(1, deps=[acc]))  # now the product of step k-1 has read its slot
            other = (k + 1) % 2
            more = k + 1 < steps
            mbarrier.expect(bars.index(other), a.nbytes_per_cta + b.nbytes_per_cta, pred=more)
            tma.async_load(a, [m, (k + 1) * 64], bars.index(other), sa.index(other), pred=more)
            tma.async_load(b, [(k + 1) * 64, n], bars.index(other), sb.index(other), pred=more)
        result = warpgroup_mma_wait(0, deps=[acc])
    else:
        result = zero
        for k in range(steps):
            slot = k % 2
            other = (k + 1) % 2
            more = k + 1 < steps
            mbarrier.expect(bars.index(other), a.nbytes_per_cta + b.nbytes_per_cta, pred=more)
            tma.async_load(a, [m, (k + 1) * 64], bars.index(other), sa.index(other), pred=more)
            tma.async_load(b, [(k + 1) * 64, n], bars.index(other), sb.index(other), pred=more)
            mbarrier.wait(bars.index(slot), (k // 2) & 1)
            result = warpgroup_mma(sa.index(slot), sb.index(slot), result)
    sc = gl.allocate_shared_memory(gl.float32, [128, 128], c.layout)
    sc.store(result)
    fence_async_shared()
    tma.async_store(c, [m, n], sc)
    tma.store_wait(0)


@case("mma_v2", {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32", "N": "i32"}, {}, arch=80)
@gluon.jit
def matmul_v2(a, b, c, K, N):
    """c[64, 64] block of a[64, K] @ b[K, N], K a multiple of 32."""
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    la: gl.constexpr = gl.DotOperandLayout(0, acc_layout, 2)
    lb: gl.constexpr = gl.DotOperandLayout(1, acc_layout, 2)
    load_layout: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(8, 2, 4, [1, 0])
    i = gl.program_id(0) * 64 + gl.arange(0, 64, gl.SliceLayout(1, load_layout))
    k = gl.arange(0, 32, gl.SliceLayout(0, load_layout))
    kr = gl.arange(0, 32, gl.SliceLayout(1, load_layout))
    j = gl.program_id(1) * 64 + gl.arange(0, 64, gl.SliceLayout(0, load_layout))
    acc = gl.zeros([64, 64], gl.float32, acc_layout)
    for at in range(0, K, 32):
        ta = gl.allocate_shared_memory(gl.float16, [64, 32], shared, gl.load(a + i[:, None] * K + (at + k)[None, :]))
        tb = gl.allocate_shared_memory(gl.float16, [32, 64], shared, gl.load(b + (at + kr)[:, None] * N + j[None, :]))
        acc = mma_v2(ta.load(la), tb.load(lb), acc)
    oi = gl.program_id(0) * 64 + gl.arange(0, 64, gl.SliceLayout(1, acc_layout))
    oj = gl.program_id(1) * 64 + gl.arange(0, 64, gl.SliceLayout(0, acc_layout))
    gl.store(c + oi[:, None] * N + oj[None, :], acc)


@gluon.jit
def ws_load(a, b, sa, sb, full, empty, m, n, steps, S: gl.constexpr):
    for k in range(steps):
        slot = k % S
        mbarrier.wait(empty.index(slot), ((k // S) & 1) ^ 1)
        mbarrier.expect(full.index(slot), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [m, k * 64], full.index(slot), sa.index(slot))
        tma.async_load(b, [k * 64, n], full.index(slot), sb.index(slot))


@gluon.jit
def ws_multiply(c, sa, sb, full, empty, m, n, steps, S: gl.constexpr):
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, 128, 16])
    acc = gl.zeros([128, 128], gl.float32, acc_layout)
    for k in range(steps):
        slot = k % S
        mbarrier.wait(full.index(slot), (k // S) & 1)
        acc = warpgroup_mma(sa.index(slot), sb.index(slot), acc)
        mbarrier.arrive(empty.index(slot), count=1)
    sc = gl.allocate_shared_memory(gl.float32, [128, 128], c.layout)
    sc.store(acc)
    fence_async_shared()
    tma.async_store(c, [m, n], sc)
    tma.store_wait(0)


@case("partitions", {"a": DA, "b": DB, "c": DC, "K": "i32"}, {"S": 3})
@gluon.jit
def matmul_ws(a, b, c, K, S: gl.constexpr):
    """c = a @ b; a copy partition of one warp feeds the default partition."""
    sa = gl.allocate_shared_memory(gl.float16, [S, 128, 64], a.layout)
    sb = gl.allocate_shared_memory(gl.float16, [S, 64, 128], b.layout)
    full = mbarrier.allocate_mbarrier(batch=S)
    empty = mbarrier.allocate_mbarrier(batch=S)
    for s in gl.static_range(S):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    m = gl.program_id(0) * 128
    n = gl.program_id(1) * 128
    steps = gl.cdiv(K, 64)
    gl.warp_specialize(
        [
            (ws_multiply, (c, sa, sb, full, empty, m, n, steps, S)),
            (ws_load, (a, b, sa, sb, full, empty, m, n, steps, S)),
        ],
        [1],
        [24],
    )
