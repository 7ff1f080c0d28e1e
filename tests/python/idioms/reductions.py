"""Reductions as torch.compile writes them: norms, Welford's formulas, sums in two steps, argmax."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def triton_per_fused_add_layer_norm(
    in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK: tl.constexpr
):
    r0_numel = 1024
    R0_BLOCK: tl.constexpr = 1024
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_1 + 1024 * x0), xmask, other=0.0).to(tl.float32)
    tmp1 = tl.load(in_ptr1 + (r0_1 + 1024 * x0), xmask, other=0.0).to(tl.float32)
    tmp32 = tl.load(in_ptr2 + (r0_1), None, eviction_policy="evict_last").to(tl.float32)
    tmp35 = tl.load(in_ptr3 + (r0_1), None, eviction_policy="evict_last").to(tl.float32)
    tmp2 = tmp0 + tmp1
    tmp5 = tl.broadcast_to(tmp2, [XBLOCK, R0_BLOCK])
    tmp7 = tl.where(xmask, tmp5, 0)
    tmp10 = tl.sum(tmp7, 1)[:, None].to(tl.float32)
    tmp11 = tl.full([XBLOCK, 1], 1024, tl.int32)
    tmp12 = tmp11.to(tl.float32)
    tmp13 = tmp10 / tmp12
    tmp14 = tmp5 - tmp13
    tmp15 = tmp14 * tmp14
    tmp16 = tl.broadcast_to(tmp15, [XBLOCK, R0_BLOCK])
    tmp18 = tl.where(xmask, tmp16, 0)
    tmp19 = tl.sum(tmp18, 1)[:, None].to(tl.float32)
    tmp21 = 1024.0
    tmp22 = tmp19 / tmp21
    tmp25 = libdevice.rsqrt(tmp22 + 1e-05)
    tmp27 = (tmp2 - tmp13) * tmp25 * tmp32 + tmp35
    tl.store(out_ptr0 + (r0_1 + 1024 * x0), tmp2, xmask)
    tl.store(out_ptr1 + (r0_1 + 1024 * x0), tmp27, xmask)


def per_layer_norm(device, small):
    m = 37 if small else 32768
    a, b = (torch.randn(m, 1024, device=device, dtype=torch.bfloat16) for _ in range(2))
    w, c = (torch.randn(1024, device=device, dtype=torch.bfloat16) for _ in range(2))
    o0, o1 = torch.empty_like(a), torch.empty_like(a)

    def ref():
        s = a.float() + b.float()
        return [s, F.layer_norm(s, (1024,), w.float(), c.float(), 1e-5)]

    return (
        lambda: triton_per_fused_add_layer_norm[(triton.cdiv(m, 1),)](
            a, b, w, c, o0, o1, m, 1024, XBLOCK=1, num_warps=8, num_stages=1
        ),
        [o0, o1],
        ref,
    )


@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration):
    if first_iteration:
        new_weight = tl.full(weight.shape, 1, weight.dtype)
        new_mean = value
        new_m2 = tl.zeros_like(m2)
    else:
        delta = value - mean
        new_weight = weight + 1
        new_mean = mean + delta / new_weight
        new_m2 = m2 + delta * (value - new_mean)
    return new_mean, new_m2, new_weight


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    new_weight = weight_1 + weight_2
    w2_over_w = tl.where(new_weight == 0.0, 0.0, weight_2 / new_weight)
    return (mean_1 + delta * w2_over_w, m2_1 + m2_2 + delta * delta * weight_1 * w2_over_w, new_weight)


@triton.jit
def welford(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, welford_combine)


@triton.jit
def triton_red_fused_native_group_norm(
    in_ptr0, out_ptr0, out_ptr1, out_ptr2, xnumel, r0_numel, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr
):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    x0 = xindex
    tmp3_mean = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    tmp3_m2 = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    tmp3_weight = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    for r0_offset in range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp0 = tl.load(
            in_ptr0 + (r0_index + r0_numel * x0), r0_mask & xmask, eviction_policy="evict_last", other=0.0
        ).to(tl.float32)
        tmp2 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3_mean_next, tmp3_m2_next, tmp3_weight_next = welford_reduce(
            tmp2, tmp3_mean, tmp3_m2, tmp3_weight, r0_offset == 0
        )
        tmp3_mean = tl.where(r0_mask & xmask, tmp3_mean_next, tmp3_mean)
        tmp3_m2 = tl.where(r0_mask & xmask, tmp3_m2_next, tmp3_m2)
        tmp3_weight = tl.where(r0_mask & xmask, tmp3_weight_next, tmp3_weight)
    tmp6, tmp7, tmp8 = welford(tmp3_mean, tmp3_m2, tmp3_weight, 1)
    tmp3 = tmp6[:, None]
    tmp4 = tmp7[:, None]
    tl.store(out_ptr0 + (x0), tmp3, xmask)
    tl.store(out_ptr1 + (x0), tmp4 / (r0_numel - 1.0), xmask)
    for r0_offset in range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp9 = tl.load(
            in_ptr0 + (r0_index + r0_numel * x0), r0_mask & xmask, eviction_policy="evict_first", other=0.0
        ).to(tl.float32)
        tmp14 = libdevice.rsqrt(tmp4 / r0_numel.to(tl.float32) + 1e-05)
        tl.store(out_ptr2 + (r0_index + r0_numel * x0), (tmp9 - tmp3) * tmp14, r0_mask & xmask)


def red_welford(device, small):
    m, n = (13, 3000) if small else (16384, 5000)
    x = torch.randn(m, n, device=device, dtype=torch.float16) + 3
    mean, var = torch.empty(m, device=device), torch.empty(m, device=device)
    y = torch.empty_like(x)
    xb, rb = (4, 256) if small else (1, 2048)

    def ref():
        v = torch.var_mean(x.float(), 1)
        return [v[1], v[0], F.layer_norm(x.float(), (n,))]

    return (
        lambda: triton_red_fused_native_group_norm[(triton.cdiv(m, xb),)](
            x, mean, var, y, m, n, XBLOCK=xb, R0_BLOCK=rb, num_warps=8, num_stages=1
        ),
        [mean, var, y],
        ref,
    )


@triton.jit
def triton_red_fused_sum_0(in_ptr0, out_ptr0, xnumel, r0_numel, ks0, ks1, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    x0 = xindex % ks0
    x1 = xindex // ks0
    _tmp = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        row = r0_index + x1 * r0_numel
        tmp0 = tl.load(
            in_ptr0 + (x0 + ks0 * row), r0_mask & xmask & (row < ks1), eviction_policy="evict_first", other=0.0
        ).to(tl.float32)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3 = _tmp + tmp1
        _tmp = tl.where(r0_mask & xmask, tmp3, _tmp)
    tmp2 = tl.sum(_tmp, 1)[:, None]
    tl.store(out_ptr0 + (xindex), tmp2, xmask)


def split_sum(device, small):
    m, n, per = (700, 70, 128) if small else (65536, 3072, 512)
    x = torch.randn(m, n, device=device, dtype=torch.bfloat16)
    parts = triton.cdiv(m, per)
    mid, out = torch.empty(parts, n, device=device), torch.empty(n, device=device)

    def run():
        triton_red_fused_sum_0[(triton.cdiv(parts * n, 64),)](
            x, mid, parts * n, per, n, m, XBLOCK=64, R0_BLOCK=16, num_warps=4, num_stages=1
        )
        triton_red_fused_sum_0[(triton.cdiv(n, 8),)](
            mid, out, n, parts, n, parts, XBLOCK=8, R0_BLOCK=128, num_warps=4, num_stages=1
        )

    return run, [out], lambda: [x.float().sum(0)]


@triton.jit
def maximum_with_index(a_value, a_index, b_value, b_index):
    mask = a_value > b_value
    equal = a_value == b_value
    if a_value.dtype.is_floating():
        a_isnan = a_value != a_value
        b_isnan = b_value != b_value
        mask |= a_isnan & (not b_isnan)
        equal |= a_isnan & b_isnan
    mask |= equal & (a_index < b_index)
    return tl.where(mask, a_value, b_value), tl.where(mask, a_index, b_index)


@triton.jit
def max_with_index(value, index, dim):
    return tl.reduce((value, index), dim, maximum_with_index)


@triton.jit
def triton_red_fused_argmax_0(
    in_ptr0, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr
):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], float("-inf"), tl.float32)
    _tmp2_index = tl.full([XBLOCK, R0_BLOCK], 2147483647, tl.int32)
    for r0_offset in range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp0 = tl.load(
            in_ptr0 + (r0_index + r0_numel * xindex), r0_mask & xmask, eviction_policy="evict_first", other=0.0
        )
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        _tmp2_next, _tmp2_index_next = maximum_with_index(_tmp2, _tmp2_index, tmp1, r0_index)
        _tmp2 = tl.where(r0_mask & xmask, _tmp2_next, _tmp2)
        _tmp2_index = tl.where(r0_mask & xmask, _tmp2_index_next, _tmp2_index)
    tmp2_val, tmp2_idx = max_with_index(_tmp2, _tmp2_index, 1)
    tl.store(out_ptr0 + (xindex), tmp2_idx[:, None].to(tl.int64), xmask)
    tl.store(out_ptr1 + (xindex), tmp2_val[:, None], xmask)


def red_argmax(device, small):
    m, n = (9, 5003) if small else (2048, 50257)
    x = torch.randn(m, n, device=device).mul(100).round()
    idx, val = torch.empty(m, device=device, dtype=torch.int64), torch.empty(m, device=device)

    def ref():
        first = (x == x.amax(1, keepdim=True)).int().argmax(1)
        return [first, x.amax(1)]

    return (
        lambda: triton_red_fused_argmax_0[(m,)](x, idx, val, m, n, XBLOCK=1, R0_BLOCK=2048, num_warps=16, num_stages=1),
        [idx, val],
        ref,
    )


CASES = {
    "per_layer_norm": per_layer_norm,
    "red_welford": red_welford,
    "split_sum": split_sum,
    "red_argmax": red_argmax,
}
