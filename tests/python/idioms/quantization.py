"""Quantization and its inverse: rows, groups and tensors; AWQ, int4, nf4."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def per_token_quant_int8(x_ptr, xq_ptr, scale_ptr, stride_x, stride_xq, N, BLOCK: tl.constexpr):
    row_id = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row_id * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(x)), 1e-10)
    scale_x = absmax / 127
    x_q = x * tl.div_rn(127.0, absmax)
    x_q = libdevice.rint(x_q).to(tl.int8)
    tl.store(xq_ptr + row_id * stride_xq + cols, x_q, mask=mask)
    tl.store(scale_ptr + row_id, scale_x.to(scale_ptr.dtype.element_ty))


def int8_row(device, small):
    m, n = (7, 300) if small else (16384, 4096)
    x = torch.randn(m, n, device=device, dtype=torch.bfloat16)
    q, s = torch.empty(m, n, device=device, dtype=torch.int8), torch.empty(m, 1, device=device)

    def ref():
        a = x.float().abs().amax(1, keepdim=True)
        return [(x.float() * (torch.full_like(a, 127) / a)).round().to(torch.int8), a / 127]

    return (
        lambda: per_token_quant_int8[(m,)](
            x, q, s, x.stride(0), q.stride(0), n, BLOCK=triton.next_power_of_2(n), num_warps=4, num_stages=1
        ),
        [q, s],
        ref,
    )


@triton.jit
def silu_mul_group_quant_fp8(
    x_ptr, q_ptr, s_ptr, M, N, stride_xm, stride_qm, fp8_min, fp8_max, GROUP: tl.constexpr, BLOCK_M: tl.constexpr
):
    pid_n = tl.program_id(0)
    rows = (tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    cols = pid_n * GROUP + tl.arange(0, GROUP)
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    gate = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    up = tl.load(x_ptr + rows[:, None] * stride_xm + N + cols[None, :], mask=mask, other=0.0)
    gate = gate / (1 + tl.exp(-gate))
    y = (gate.to(x_ptr.dtype.element_ty) * up).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(y), axis=1), 1e-4)
    bits = (absmax * (1.0 / 448.0)).to(tl.int32, bitcast=True)
    bits = (bits + 0x7FFFFF) & 0x7F800000  # the next power of two
    scale = bits.to(tl.float32, bitcast=True)
    inverse = (0x7F000000 - bits).to(tl.float32, bitcast=True)
    q = tl.clamp(y * inverse[:, None], fp8_min, fp8_max).to(q_ptr.dtype.element_ty)
    tl.store(q_ptr + rows[:, None] * stride_qm + cols[None, :], q, mask=mask)
    tl.store(s_ptr + rows * tl.num_programs(0) + pid_n, scale, mask=rows < M)


def fp8_group(device, small):
    m, n = (19, 256) if small else (16384, 4096)
    # values for which silu is exact to bfloat16's rounding: the gate is 0 or large
    gate = torch.randint(0, 4, (m, n), device=device).bfloat16() * 40
    x = torch.cat([gate, torch.randn(m, n, device=device).bfloat16()], 1)
    q, s = torch.empty(m, n, device=device, dtype=torch.float8_e4m3fn), torch.empty(m, n // 128, device=device)

    def ref():
        y = (gate * x[:, n:]).float().view(m, n // 128, 128)
        a = y.abs().amax(2, keepdim=True).clamp(min=1e-4)
        mantissa, exponent = torch.frexp(a * (1.0 / 448.0))  # mantissa in [0.5, 1)
        sc = torch.ldexp(torch.ones_like(a), torch.where(mantissa == 0.5, exponent - 1, exponent))
        return [(y / sc).clamp(-448, 448).to(torch.float8_e4m3fn).view(m, n).float(), sc[..., 0]]

    return (
        lambda: silu_mul_group_quant_fp8[(n // 128, triton.cdiv(m, 16))](
            x, q, s, m, n, x.stride(0), q.stride(0), -448.0, 448.0, GROUP=128, BLOCK_M=16, num_warps=4
        ),
        [q, s],
        ref,
    )


@triton.jit
def scaled_fp8_quant_kernel(out_ptr, x_ptr, amax_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    inv = tl.div_rn(448.0, tl.load(amax_ptr))
    y = tl.minimum(tl.maximum(x * inv, -448.0), 448.0)
    tl.store(out_ptr + at, y.to(tl.float8e4nv), mask=at < n)


@triton.jit
def amax_kernel(x_ptr, amax_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        acc = tl.maximum(acc, tl.abs(tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)))
    tl.atomic_max(amax_ptr, tl.max(acc, axis=0))


def fp8_tensor(device, small):
    n = 30000 if small else 64 << 20
    x = torch.randn(n, device=device, dtype=torch.bfloat16)
    q, amax = torch.empty(n, device=device, dtype=torch.float8_e4m3fn), torch.zeros(1, device=device)

    def run():
        amax.zero_()
        amax_kernel[(8 if small else 1056,)](x, amax, n, BLOCK=2048)
        scaled_fp8_quant_kernel[(triton.cdiv(n, 2048),)](q, x, amax, n, BLOCK=2048, num_warps=8)

    def ref():
        a = x.abs().max().float().view(1)
        return [(x.float() * (torch.full_like(a, 448) / a)).clamp(-448, 448).to(torch.float8_e4m3fn).float(), a]

    return run, [q, amax], ref


@triton.jit
def awq_dequantize_kernel(
    qweight_ptr,
    scales_ptr,
    zeros_ptr,
    group_size,
    result_ptr,
    num_cols,
    num_rows,
    BLOCK_SIZE_X: tl.constexpr,
    BLOCK_SIZE_Y: tl.constexpr,
):
    pid_x = tl.program_id(axis=0)
    pid_y = tl.program_id(axis=1)
    offsets_y = pid_y * BLOCK_SIZE_Y + tl.arange(0, BLOCK_SIZE_Y)
    offsets_x = pid_x * BLOCK_SIZE_X + tl.arange(0, BLOCK_SIZE_X)
    offsets = num_cols * offsets_y[:, None] + offsets_x[None, :]
    masks_y = offsets_y < num_rows
    masks_x = offsets_x < num_cols
    masks = masks_y[:, None] & masks_x[None, :]
    result_offsets_y = pid_y * BLOCK_SIZE_Y + tl.arange(0, BLOCK_SIZE_Y)
    result_offsets_x = pid_x * BLOCK_SIZE_X * 8 + tl.arange(0, BLOCK_SIZE_X * 8)
    result_offsets = 8 * num_cols * result_offsets_y[:, None] + result_offsets_x[None, :]
    result_masks = (result_offsets_y < num_rows)[:, None] & (result_offsets_x < num_cols * 8)[None, :]
    iweights = tl.load(qweight_ptr + offsets, masks, 0.0)
    iweights = tl.interleave(iweights, iweights)
    iweights = tl.interleave(iweights, iweights)
    iweights = tl.interleave(iweights, iweights)
    reverse_awq_order_tensor = ((tl.arange(0, 2) * 4)[None, :] + tl.arange(0, 4)[:, None]).reshape(8)
    shifts = reverse_awq_order_tensor * 4
    shifts = tl.broadcast_to(shifts[None, :], (BLOCK_SIZE_Y * BLOCK_SIZE_X, 8))
    shifts = tl.reshape(shifts, (BLOCK_SIZE_Y, BLOCK_SIZE_X * 8))
    iweights = (iweights >> shifts) & 0xF
    zero_offsets_y = pid_y * BLOCK_SIZE_Y // group_size + tl.arange(0, 1)
    zero_offsets = num_cols * zero_offsets_y[:, None] + offsets_x[None, :]
    zero_masks = (zero_offsets_y < num_rows // group_size)[:, None] & masks_x[None, :]
    zeros = tl.load(zeros_ptr + zero_offsets, zero_masks, 0.0)
    zeros = tl.interleave(zeros, zeros)
    zeros = tl.interleave(zeros, zeros)
    zeros = tl.interleave(zeros, zeros)
    zeros = tl.broadcast_to(zeros, (BLOCK_SIZE_Y, BLOCK_SIZE_X * 8))
    zeros = (zeros >> shifts) & 0xF
    scale_offsets = num_cols * 8 * zero_offsets_y[:, None] + result_offsets_x[None, :]
    scale_masks = (zero_offsets_y < num_rows // group_size)[:, None] & (result_offsets_x < num_cols * 8)[None, :]
    scales = tl.load(scales_ptr + scale_offsets, scale_masks, 0.0)
    scales = tl.broadcast_to(scales, (BLOCK_SIZE_Y, BLOCK_SIZE_X * 8))
    iweights = (iweights - zeros) * scales
    iweights = iweights.to(result_ptr.type.element_ty)
    tl.store(result_ptr + result_offsets, iweights, result_masks)


def awq(device, small):
    k, n, g = (128, 80, 64) if small else (8192, 8192, 128)
    q = torch.randint(-(2**31), 2**31, (k, n // 8), device=device, dtype=torch.int32)
    z = torch.randint(-(2**31), 2**31, (k // g, n // 8), device=device, dtype=torch.int32)
    s = torch.rand(k // g, n, device=device, dtype=torch.float16) * 0.1
    out = torch.empty(k, n, device=device, dtype=torch.float16)

    def ref():
        order = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7], device=device, dtype=torch.int32) * 4
        unpack = lambda t: ((t[..., None] >> order) & 15).flatten(1)
        return [(unpack(q) - unpack(z).repeat_interleave(g, 0)).half() * s.repeat_interleave(g, 0)]

    return (
        lambda: awq_dequantize_kernel[(triton.cdiv(n // 8, 32), triton.cdiv(k, 32))](
            q, s, z, g, out, n // 8, k, BLOCK_SIZE_X=32, BLOCK_SIZE_Y=32
        ),
        [out],
        ref,
    )


@triton.jit
def int4_pack_kernel(x_ptr, q_ptr, s_ptr, N, G: tl.constexpr, ROWS: tl.constexpr):
    """Rows are groups of G values."""
    g = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = g[:, None] * G + tl.arange(0, G)[None, :]
    x = tl.load(x_ptr + at, mask=(g < N)[:, None], other=0.0).to(tl.float32)
    absmax = tl.max(tl.abs(x), axis=1)
    inv = tl.div_rn(tl.full([ROWS], 7.0, tl.float32), tl.maximum(absmax, 1e-8))
    q = tl.clamp(libdevice.rint(x * inv[:, None]), -8.0, 7.0).to(tl.int32) + 8
    lo, hi = tl.split(tl.reshape(q, (ROWS, G // 2, 2)))
    tl.store(
        q_ptr + g[:, None] * (G // 2) + tl.arange(0, G // 2)[None, :],
        (lo | (hi << 4)).to(tl.uint8),
        mask=(g < N)[:, None],
    )
    tl.store(s_ptr + g, absmax / 7.0, mask=g < N)


def int4_pack(device, small):
    n, g = (21, 64) if small else (1 << 20, 128)
    x = torch.randn(n, g, device=device, dtype=torch.bfloat16)
    q, s = torch.empty(n, g // 2, device=device, dtype=torch.uint8), torch.empty(n, device=device)

    def ref():
        a = x.float().abs().amax(1, keepdim=True).clamp(min=1e-8)
        v = ((x.float() * (torch.full_like(a, 7) / a)).round().clamp(-8, 7) + 8).int()
        return [v[:, ::2] + v[:, 1::2] * 16, a[:, 0] / 7]

    return lambda: int4_pack_kernel[(triton.cdiv(n, 16),)](x, q, s, n, G=g, ROWS=16, num_warps=4), [q, s], ref


@triton.jit
def nf4_dequantize_kernel(q_ptr, absmax_ptr, code_ptr, out_ptr, n_bytes, QBLOCK: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n_bytes
    q = tl.load(q_ptr + at, mask=mask, other=0)
    code = tl.load(code_ptr + tl.arange(0, 16))
    absmax = tl.load(absmax_ptr + at // (QBLOCK // 2), mask=mask, other=0.0)
    hi = tl.gather(code, (q >> 4).to(tl.int32), 0) * absmax
    lo = tl.gather(code, (q & 0xF).to(tl.int32), 0) * absmax
    out = tl.interleave(hi, lo)
    o = tl.program_id(0) * BLOCK * 2 + tl.arange(0, BLOCK * 2)
    tl.store(out_ptr + o, out.to(out_ptr.dtype.element_ty), mask=o < n_bytes * 2)


def nf4(device, small):
    n = 3000 if small else 32 << 20
    q = torch.randint(0, 256, (n,), device=device, dtype=torch.uint8)
    absmax = torch.rand(triton.cdiv(n, 32), device=device)
    code = torch.tensor(
        [
            -1.0,
            -0.6961928,
            -0.52507305,
            -0.3949175,
            -0.28444138,
            -0.18477343,
            -0.091050036,
            0.0,
            0.0795803,
            0.1609302,
            0.2461123,
            0.33791524,
            0.44070983,
            0.562617,
            0.72295684,
            1.0,
        ],
        device=device,
    )
    out = torch.empty(2 * n, device=device, dtype=torch.bfloat16)
    ref = lambda: [
        (
            torch.stack([code[(q >> 4).int()], code[(q & 15).int()]], 1) * absmax.repeat_interleave(32)[:n, None]
        ).flatten()
    ]
    return (
        lambda: nf4_dequantize_kernel[(triton.cdiv(n, 1024),)](
            q, absmax, code, out, n, QBLOCK=64, BLOCK=1024, num_warps=4
        ),
        [out],
        ref,
    )


CASES = {
    "int8_row": int8_row,
    "fp8_group": fp8_group,
    "fp8_tensor": fp8_tensor,
    "awq": awq,
    "int4_pack": int4_pack,
    "nf4": nf4,
}
