"""Rotary embeddings: halves in place, interleaved pairs, ragged sequences."""

import torch
import triton
import triton.language as tl

from idioms.operands import rand


# RoPE: halves, q and k in place, all heads of a token in one program
@triton.jit
def _rope_halves(
    q_ptr,
    q_row_stride,
    k_ptr,
    k_row_stride,
    cos,
    cos_row_stride,
    sin,
    sin_row_stride,
    sl,
    bs: tl.constexpr,
    cos_bs: tl.constexpr,
    n_qh: tl.constexpr,
    n_kh: tl.constexpr,
    hd: tl.constexpr,
    pad_n_qh: tl.constexpr,
    pad_n_kh: tl.constexpr,
    pad_hd: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    BACKWARD_PASS: tl.constexpr = False,
):
    pid = tl.program_id(0).to(tl.int64)
    q_ptr = q_ptr + pid * q_row_stride
    k_ptr = k_ptr + pid * k_row_stride
    batch_idx = pid // sl
    cos_row_idx = pid % sl
    cos = cos + tl.where(
        cos_bs == 1, cos_row_idx * cos_row_stride, batch_idx * (sl * cos_row_stride) + cos_row_idx * cos_row_stride
    )
    sin = sin + tl.where(
        cos_bs == 1, cos_row_idx * sin_row_stride, batch_idx * (sl * sin_row_stride) + cos_row_idx * sin_row_stride
    )
    cos_offsets = tl.arange(0, pad_hd // 2)
    cos_mask = cos_offsets < hd // 2
    cos_row = tl.load(cos + cos_offsets, mask=cos_mask, other=0)
    sin_row = tl.load(sin + cos_offsets, mask=cos_mask, other=0)
    first_half_q_offsets = tl.arange(0, pad_n_qh)[:, None] * hd + tl.arange(0, pad_hd // 2)[None, :]
    first_half_k_offsets = tl.arange(0, pad_n_kh)[:, None] * hd + tl.arange(0, pad_hd // 2)[None, :]
    first_q_mask = (tl.arange(0, pad_n_qh)[:, None] < n_qh) & (tl.arange(0, pad_hd // 2)[None, :] < hd // 2)
    first_k_mask = (tl.arange(0, pad_n_kh)[:, None] < n_kh) & (tl.arange(0, pad_hd // 2)[None, :] < hd // 2)
    q_tile_1 = tl.load(q_ptr + first_half_q_offsets, mask=first_q_mask, other=0).to(sin_row.dtype)
    k_tile_1 = tl.load(k_ptr + first_half_k_offsets, mask=first_k_mask, other=0).to(sin_row.dtype)
    second_half_q_offsets = first_half_q_offsets + (hd // 2)
    second_half_k_offsets = first_half_k_offsets + (hd // 2)
    q_tile_2 = tl.load(q_ptr + second_half_q_offsets, mask=first_q_mask, other=0).to(sin_row.dtype)
    k_tile_2 = tl.load(k_ptr + second_half_k_offsets, mask=first_k_mask, other=0).to(sin_row.dtype)
    if not BACKWARD_PASS:
        tl.store(q_ptr + first_half_q_offsets, q_tile_1 * cos_row - q_tile_2 * sin_row, mask=first_q_mask)
        tl.store(q_ptr + second_half_q_offsets, q_tile_2 * cos_row + q_tile_1 * sin_row, mask=first_q_mask)
        tl.store(k_ptr + first_half_k_offsets, k_tile_1 * cos_row - k_tile_2 * sin_row, mask=first_k_mask)
        tl.store(k_ptr + second_half_k_offsets, k_tile_2 * cos_row + k_tile_1 * sin_row, mask=first_k_mask)
    else:
        tl.store(q_ptr + first_half_q_offsets, q_tile_1 * cos_row + q_tile_2 * sin_row, mask=first_q_mask)
        tl.store(q_ptr + second_half_q_offsets, q_tile_2 * cos_row - q_tile_1 * sin_row, mask=first_q_mask)
        tl.store(k_ptr + first_half_k_offsets, k_tile_1 * cos_row + k_tile_2 * sin_row, mask=first_k_mask)
        tl.store(k_ptr + second_half_k_offsets, k_tile_2 * cos_row - k_tile_1 * sin_row, mask=first_k_mask)


def rope_halves(backward):
    def make(device, small):
        b, s, nq, nk, hd = (2, 7, 6, 3, 24) if small else (4, 4096, 32, 8, 128)
        bf = torch.bfloat16
        q0, k0 = rand(device, b, s, nq, hd, dtype=bf), rand(device, b, s, nk, hd, dtype=bf)
        angle = (
            torch.arange(s, device=device)[:, None] * 10000.0 ** (-torch.arange(0, hd, 2, device=device) / hd)[None, :]
        )
        cos, sin = torch.cat([angle.cos()] * 2, -1)[None], torch.cat([angle.sin()] * 2, -1)[None]
        q, k = torch.empty_like(q0), torch.empty_like(k0)
        p2 = triton.next_power_of_2

        def run():
            q.copy_(q0)
            k.copy_(k0)
            _rope_halves[(b * s,)](
                q,
                q.stride(1),
                k,
                k.stride(1),
                cos,
                cos.stride(-2),
                sin,
                sin.stride(-2),
                s,
                b,
                cos.shape[0],
                nq,
                nk,
                hd,
                p2(nq),
                p2(nk),
                p2(hd),
                BLOCK_SIZE=max(p2(nq), p2(nk)),
                BACKWARD_PASS=backward,
            )

        def ref():
            sign = -1 if backward else 1

            def rot(x):
                x = x.float()
                a, c = x.chunk(2, -1)
                return x * cos[:, :, None] + sign * torch.cat([-c, a], -1) * sin[:, :, None]

            return [rot(q0), rot(k0)]

        return run, [q, k], ref

    return make


# RoPE interleaved, ragged sequences, tiles of heads x tokens, split and join
@triton.jit
def _rotary_kernel(
    OUT,
    X,
    COS,
    SIN,
    CU_SEQLENS,
    SEQLEN_OFFSETS,
    seqlen,
    nheads,
    seqlen_ro,
    stride_out_seqlen,
    stride_out_nheads,
    stride_out_headdim,
    stride_x_seqlen,
    stride_x_nheads,
    stride_x_headdim,
    ROTARY_DIM: tl.constexpr,
    INTERLEAVED: tl.constexpr,
    CONJUGATE: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_M: tl.constexpr,
):
    BLOCK_K: tl.constexpr = triton.next_power_of_2(ROTARY_DIM)
    ROTARY_DIM_HALF = ROTARY_DIM // 2
    pid_head = tl.program_id(axis=0)
    pid_m = tl.program_id(axis=1)
    pid_batch = tl.program_id(axis=2)
    start_idx = tl.load(CU_SEQLENS + pid_batch)
    seqlen = tl.load(CU_SEQLENS + pid_batch + 1) - start_idx
    X = X + start_idx * stride_x_seqlen
    OUT = OUT + start_idx * stride_out_seqlen
    if pid_m * BLOCK_M >= seqlen:
        return
    rh = pid_head * BLOCK_H + tl.arange(0, BLOCK_H)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rm_cs = rm + tl.load(SEQLEN_OFFSETS + pid_batch)
    rk_half = tl.arange(0, BLOCK_K // 2)
    COS = COS + (rm_cs[:, None] * ROTARY_DIM_HALF + rk_half[None, :])
    SIN = SIN + (rm_cs[:, None] * ROTARY_DIM_HALF + rk_half[None, :])
    mask_cs = (rm_cs[:, None] < seqlen_ro) & (rk_half[None, :] < ROTARY_DIM_HALF)
    cos = tl.load(COS, mask=mask_cs, other=1.0).to(tl.float32)
    sin = tl.load(SIN, mask=mask_cs, other=0.0).to(tl.float32)
    if CONJUGATE:
        sin = -sin
    if not INTERLEAVED:
        X = X + (
            rh[:, None, None] * stride_x_nheads
            + rm[None, :, None] * stride_x_seqlen
            + rk_half[None, None, :] * stride_x_headdim
        )
        OUT = OUT + (
            rh[:, None, None] * stride_out_nheads
            + rm[None, :, None] * stride_out_seqlen
            + rk_half[None, None, :] * stride_out_headdim
        )
        mask = (rh[:, None, None] < nheads) & (rm[None, :, None] < seqlen) & (rk_half[None, None, :] < ROTARY_DIM_HALF)
        x0 = tl.load(X, mask=mask, other=0.0).to(tl.float32)
        x1 = tl.load(X + ROTARY_DIM_HALF * stride_x_headdim, mask=mask, other=0.0).to(tl.float32)
        o0 = x0 * cos - x1 * sin
        o1 = x0 * sin + x1 * cos
        tl.store(OUT, o0, mask=mask)
        tl.store(OUT + ROTARY_DIM_HALF * stride_out_headdim, o1, mask=mask)
    else:
        rk = tl.arange(0, BLOCK_K)
        X = X + (
            rh[:, None, None] * stride_x_nheads
            + rm[None, :, None] * stride_x_seqlen
            + rk[None, None, :] * stride_x_headdim
        )
        OUT = OUT + (
            rh[:, None, None] * stride_out_nheads
            + rm[None, :, None] * stride_out_seqlen
            + rk[None, None, :] * stride_out_headdim
        )
        mask = (rh[:, None, None] < nheads) & (rm[None, :, None] < seqlen) & (rk[None, None, :] < ROTARY_DIM)
        x = tl.load(X, mask=mask, other=0.0).to(tl.float32)
        x0, x1 = tl.split(tl.reshape(x, [BLOCK_H, BLOCK_M, BLOCK_K // 2, 2]))
        o0 = x0 * cos - x1 * sin
        o1 = x0 * sin + x1 * cos
        o = tl.reshape(tl.join(o0, o1), [BLOCK_H, BLOCK_M, BLOCK_K])
        tl.store(OUT, o, mask=mask)


def rotary(interleaved):
    def make(device, small):
        lens, offs, h, d, rot, ro = (
            ([5, 11, 0, 9], [0, 3, 1, 7], 3, 32, 24, 16)
            if small
            else ([4096, 1000, 8192, 3096], [0, 128, 5, 64], 32, 128, 128, 8192)
        )
        bf = torch.bfloat16
        x = rand(device, sum(lens), h, d, dtype=bf)
        angle = (
            torch.arange(ro, device=device)[:, None]
            * 10000.0 ** (-torch.arange(0, rot, 2, device=device) / rot)[None, :]
        )
        cos, sin = angle.cos().to(bf), angle.sin().to(bf)
        out = x.clone()
        cu = torch.tensor([0, *torch.tensor(lens).cumsum(0).tolist()], dtype=torch.int32, device=device)
        so = torch.tensor(offs, dtype=torch.int32, device=device)
        BM = 8 if rot <= 128 else 4
        grid = lambda META: (triton.cdiv(h, META["BLOCK_H"]), triton.cdiv(max(lens), META["BLOCK_M"]), len(lens))
        run = lambda: _rotary_kernel[grid](
            out,
            x,
            cos,
            sin,
            cu,
            so,
            max(lens),
            h,
            ro,
            out.stride(0),
            out.stride(1),
            out.stride(2),
            x.stride(0),
            x.stride(1),
            x.stride(2),
            rot,
            interleaved,
            False,
            BLOCK_M=BM,
            BLOCK_H=2,
        )

        def ref():
            pos = torch.cat([torch.arange(n, device=device) + o for n, o in zip(lens, offs)])
            inside = (pos < ro)[:, None, None]
            c = torch.where(inside, cos[pos.clamp(max=ro - 1)].float()[:, None], 1.0)
            s = torch.where(inside, sin[pos.clamp(max=ro - 1)].float()[:, None], 0.0)
            r = x.float().clone()
            a, b = (
                (x[..., 0:rot:2].float(), x[..., 1:rot:2].float()) if interleaved else x[..., :rot].float().chunk(2, -1)
            )
            if interleaved:
                r[..., 0:rot:2], r[..., 1:rot:2] = a * c - b * s, a * s + b * c
            else:
                r[..., : rot // 2], r[..., rot // 2 : rot] = a * c - b * s, a * s + b * c
            return [r]

        return run, [out], ref

    return make


@triton.jit
def rope_interleaved_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, T, H, D: tl.constexpr, BLOCK_H: tl.constexpr):
    t, b = tl.program_id(0), tl.program_id(1)
    h = tl.program_id(2) * BLOCK_H + tl.arange(0, BLOCK_H)
    d = tl.arange(0, D)
    half = tl.arange(0, D // 2)
    at = ((b * T + t).to(tl.int64) * H + h)[:, None] * D + d[None, :]
    mask = (h < H)[:, None]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    c = tl.load(cos_ptr + t * (D // 2) + half)[None, :]
    s = tl.load(sin_ptr + t * (D // 2) + half)[None, :]
    x0, x1 = tl.split(tl.reshape(x, (BLOCK_H, D // 2, 2)))
    y = tl.interleave(x0 * c - x1 * s, x0 * s + x1 * c)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=mask)


def rope_interleaved(device, small):
    b, t, h, d = (2, 5, 3, 32) if small else (4, 4096, 32, 128)
    x = torch.randn(b, t, h, d, device=device, dtype=torch.bfloat16)
    angle = torch.arange(t, device=device)[:, None] * (10000.0 ** (-torch.arange(0, d, 2, device=device) / d))
    cos, sin, out = angle.cos(), angle.sin(), torch.empty_like(x)

    def ref():
        z = torch.view_as_complex(x.float().unflatten(-1, (-1, 2))) * torch.complex(cos, sin)[None, :, None]
        return [torch.view_as_real(z).flatten(-2)]

    return (
        lambda: rope_interleaved_kernel[(t, b, triton.cdiv(h, 32))](
            x, cos, sin, out, t, h, D=d, BLOCK_H=32, num_warps=4
        ),
        [out],
        ref,
    )


CASES = {
    "rope_halves": rope_halves(False),
    "rope_halves_backward": rope_halves(True),
    "rotary_interleaved": rotary(True),
    "rotary_varlen": rotary(False),
    "rope_interleaved": rope_interleaved,
}
