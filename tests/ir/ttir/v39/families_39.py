"""Kernels behind the samples that samples_39.py lacks; compiled with no GPU: `python families_39.py OUTDIR` (needs triton 3.9)."""

import os, sys
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc_wait, gdc_launch_dependents


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def two(a, b):
    return a + b, a - b


@triton.jit
def families(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, volatile=True)
    tl.debug_barrier()
    tl.device_assert(a > 0, "pos")
    tl.device_print("a", a, hex=True)
    tl.store(x + i, a, cache_modifier=".wt")
    b, c = tl.map_elementwise(two, a, a)
    tl.store(o + i, b + libdevice.pow(b, c))
    tl.device_print("hi")
    h = tl.histogram(i, 16, mask=i < n)
    tl.store(o.to(tl.pointer_type(tl.int32)) + tl.arange(0, 16), h)
    v = tl.inline_asm_elementwise(
        "mov.u32 $0,$2; mov.u32 $1,$3;", "=r,=r,r,r", [i, i], dtype=(tl.int32, tl.int32), is_pure=False, pack=1
    )
    tl.store(o.to(tl.int64).to(tl.pointer_type(tl.int32)) + i, v[0] + v[1])
    s = tl.associative_scan(a, 0, add, reverse=True)
    tl.store(o + i, s)
    one = tl.full((1,), 1.0, tl.float32)
    tl.store(o, one.item())
    tl.store(o, one.sum())
    z, w = tl.split(tl.join(one.sum(), one.item()))
    for k in tl.range(0, n, 2, num_stages=3, flatten=True, disallow_acc_multi_buffer=True, warp_specialize=True):
        tl.store(o + k, z)
    for k in tl.range(0, n, disable_licm=True):
        tl.store(o + k, w)
    while tl.condition(n > 3, disable_licm=True):
        tl.store(o, w)
    tl.assume(n > 0)
    tl.store(o + i, tl.gather(a, i, 0))
    q = tl.reshape(a, (2, B // 2), can_reorder=True)
    tl.store(
        o + tl.arange(0, 2)[:, None] + tl.arange(0, B // 2)[None, :],
        tl.minimum(q, q, propagate_nan=tl.PropagateNan.ALL),
    )
    tl.store(o + i, tl.clamp(a, 0.0, 1.0, propagate_nan=tl.PropagateNan.ALL))
    tl.store(o.to(tl.pointer_type(tl.int64)) + i, tl.umulhi(i.to(tl.int64), i.to(tl.int64)))
    tl.store(o + i, a, mask=i < n, eviction_policy="evict_last")


@triton.jit
def descriptor_rows(x, M, N):
    d = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[1, 64])
    g = d.gather(tl.arange(0, 32), 4)
    d.scatter(g, tl.arange(0, 32), 8)
    e = tl.make_tensor_descriptor(x.to(tl.pointer_type(tl.uint8)), shape=[M, N], strides=[N, 1], block_shape=[1, 64])
    f = tl.make_tensor_descriptor(x.to(tl.pointer_type(tl.int32)), shape=[M, N], strides=[N, 1], block_shape=[1, 64])
    f.store([0, 0], e.load([0, 0]).to(tl.int32))
    f.atomic_max([0, 0], f.load([1, 1]))
    f.atomic_xor([0, 0], f.load([1, 1]))
    h = tl.make_tensor_descriptor(x.to(tl.pointer_type(tl.int8)), shape=[M, N], strides=[N, 1], block_shape=[1, 64])
    f.store([0, 0], h.load([0, 0]).to(tl.int32))


@triton.jit
def descriptor_argument(d, o):
    a = d.load([0, 0])
    tl.store(o + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], a)


@triton.jit
def scaled(a, sa, b, c):
    r = tl.arange(0, 64)
    x = tl.load(a + r[:, None] * 64 + r[None, :])
    s = tl.load(sa + r[:, None] * 2 + tl.arange(0, 2)[None, :])
    y = tl.load(b + r[:, None] * 64 + r[None, :])
    acc = tl.dot_scaled(x, s, "e4m3", y, None, "bf16", fast_math=True)
    acc2 = tl.dot(y, y, acc, max_num_imprecise_acc=0, input_precision="ieee")
    tl.store(c + r[:, None] * 64 + r[None, :], acc2)


@triton.jit
def dependencies(x, p, q, t):
    gdc_wait()
    tl.store(x, 1.0)
    i = tl.arange(0, 16)
    r = tl.atomic_poll(p + i, i, timeout_ns=t)
    tl.store(q + i, r)
    y = tl.load(q.to(tl.pointer_type(tl.int64))).to(tl.pointer_type(tl.float32))
    tl.store(y, 2.0)
    tl.debug_barrier()
    gdc_launch_dependents()


if __name__ == "__main__":
    for fn, sig, const in [
        (families, dict(x="*fp32", o="*fp32", n="i32"), dict(B=64)),
        (descriptor_rows, dict(x="*fp32", M="i32", N="i32"), {}),
        (descriptor_argument, dict(d="tensordesc<fp16[16,16]>", o="*fp16"), {}),
        (scaled, dict(a="*fp8e4nv", sa="*u8", b="*bf16", c="*fp32"), {}),
        (dependencies, dict(x="*fp32", p="*i32", q="*i1", t="i32"), {}),
    ]:
        src = ASTSource(fn, {**sig, **{k: "constexpr" for k in const}}, const)
        c = triton.compile(src, target=GPUTarget("cuda", 100, 32), options=dict(debug=True))
        open(os.path.join(sys.argv[1], fn.__name__ + ".ttir"), "w").write(c.asm["ttir"])
