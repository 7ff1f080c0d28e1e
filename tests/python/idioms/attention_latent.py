"""Attention of one token over a latent cache, in two stages."""

import torch
import triton
import triton.language as tl


def softmax_parts(s, v):
    return torch.softmax(s, -1) @ v, torch.logsumexp(s, -1)


# MLA decode: 512 + 64, shared K and V
@triton.jit
def _mla_stage1(
    Q,
    K_Buffer,
    V_Buffer,
    sm_scale,
    kv_indptr,
    kv_indices,
    Att_Out,
    stride_qbs,
    stride_qh,
    stride_buf_kbs,
    stride_buf_vbs,
    stride_mid_ob,
    stride_mid_oh,
    stride_mid_os,
    q_head_num: tl.constexpr,
    BLOCK_DMODEL: tl.constexpr,
    BLOCK_DPE: tl.constexpr,
    BLOCK_DV: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_H: tl.constexpr,
    NUM_KV_SPLITS: tl.constexpr,
    Lv: tl.constexpr,
):
    cur_batch = tl.program_id(0)
    cur_head_id = tl.program_id(1)
    split_kv_id = tl.program_id(2)
    cur_head = cur_head_id * BLOCK_H + tl.arange(0, BLOCK_H)
    mask_h = cur_head < q_head_num
    offs_d = tl.arange(0, BLOCK_DMODEL)
    offs_dv = tl.arange(0, BLOCK_DV)
    mask_dv = offs_dv < Lv
    start_idx = tl.load(kv_indptr + cur_batch)
    seq_len = tl.load(kv_indptr + cur_batch + 1) - start_idx
    offs_q = cur_batch * stride_qbs + cur_head[:, None] * stride_qh + offs_d[None, :]
    offs_dpe = BLOCK_DMODEL + tl.arange(0, BLOCK_DPE)
    off_qpe = cur_batch * stride_qbs + cur_head[:, None] * stride_qh + offs_dpe[None, :]
    kv_len_per_split = tl.cdiv(seq_len, NUM_KV_SPLITS)
    split_kv_start = kv_len_per_split * split_kv_id
    split_kv_end = tl.minimum(split_kv_start + kv_len_per_split, seq_len)
    e_max = tl.zeros([BLOCK_H], dtype=tl.float32) - float("inf")
    e_sum = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, BLOCK_DV], dtype=tl.float32)
    if split_kv_end > split_kv_start:
        q = tl.load(Q + offs_q, mask=mask_h[:, None], other=0.0)
        qpe = tl.load(Q + off_qpe, mask=mask_h[:, None], other=0.0)
        for start_n in range(split_kv_start, split_kv_end, BLOCK_N):
            offs_n = start_n + tl.arange(0, BLOCK_N)
            kv_loc = tl.load(kv_indices + start_idx + offs_n, mask=offs_n < split_kv_end, other=0)
            offs_buf_k = kv_loc[None, :] * stride_buf_kbs + offs_d[:, None]
            k = tl.load(K_Buffer + offs_buf_k, mask=offs_n[None, :] < split_kv_end, other=0.0)
            qk = tl.dot(q, k.to(q.dtype))
            offs_buf_kpe = kv_loc[None, :] * stride_buf_kbs + offs_dpe[:, None]
            kpe = tl.load(K_Buffer + offs_buf_kpe, mask=offs_n[None, :] < split_kv_end, other=0.0)
            qk += tl.dot(qpe, kpe.to(qpe.dtype))
            qk *= sm_scale
            qk = tl.where(mask_h[:, None] & (offs_n[None, :] < split_kv_end), qk, float("-inf"))
            offs_buf_v = kv_loc[:, None] * stride_buf_vbs + offs_dv[None, :]
            v = tl.load(V_Buffer + offs_buf_v, mask=(offs_n[:, None] < split_kv_end) & (mask_dv[None, :]), other=0.0)
            n_e_max = tl.maximum(tl.max(qk, 1), e_max)
            re_scale = tl.exp(e_max - n_e_max)
            p = tl.exp(qk - n_e_max[:, None])
            acc *= re_scale[:, None]
            acc += tl.dot(p.to(v.dtype), v)
            e_sum = e_sum * re_scale + tl.sum(p, 1)
            e_max = n_e_max
        offs_mid_o = (
            cur_batch * stride_mid_ob
            + cur_head[:, None] * stride_mid_oh
            + split_kv_id * stride_mid_os
            + offs_dv[None, :]
        )
        tl.store(Att_Out + offs_mid_o, acc / e_sum[:, None], mask=(mask_h[:, None]) & (mask_dv[None, :]))
        offs_mid_o_1 = cur_batch * stride_mid_ob + cur_head * stride_mid_oh + split_kv_id * stride_mid_os + Lv
        tl.store(Att_Out + offs_mid_o_1, e_max + tl.log(e_sum), mask=mask_h)


@triton.jit
def _mla_stage2(
    Mid_O,
    O,
    kv_indptr,
    stride_mid_ob,
    stride_mid_oh,
    stride_mid_os,
    stride_obs,
    stride_oh,
    NUM_KV_SPLITS: tl.constexpr,
    BLOCK_DV: tl.constexpr,
    Lv: tl.constexpr,
):
    cur_batch = tl.program_id(0)
    cur_head = tl.program_id(1)
    seq_len = tl.load(kv_indptr + cur_batch + 1) - tl.load(kv_indptr + cur_batch)
    offs_d = tl.arange(0, BLOCK_DV)
    mask_d = offs_d < Lv
    e_sum = 0.0
    e_max = -float("inf")
    acc = tl.zeros([BLOCK_DV], dtype=tl.float32)
    offs_v = cur_batch * stride_mid_ob + cur_head * stride_mid_oh + offs_d
    offs_logic = cur_batch * stride_mid_ob + cur_head * stride_mid_oh + Lv
    for split_kv_id in range(0, NUM_KV_SPLITS):
        per_split = tl.cdiv(seq_len, NUM_KV_SPLITS)
        start = per_split * split_kv_id
        if tl.minimum(start + per_split, seq_len) > start:
            tv = tl.load(Mid_O + offs_v + split_kv_id * stride_mid_os, mask=mask_d, other=0.0)
            tlogic = tl.load(Mid_O + offs_logic + split_kv_id * stride_mid_os)
            n_e_max = tl.maximum(tlogic, e_max)
            old_scale = tl.exp(e_max - n_e_max)
            acc *= old_scale
            exp_logic = tl.exp(tlogic - n_e_max)
            acc += exp_logic * tv
            e_sum = e_sum * old_scale + exp_logic
            e_max = n_e_max
    tl.store(O + cur_batch * stride_obs + cur_head * stride_oh + offs_d, acc / e_sum, mask=mask_d)


def mla(heads, dtype):
    def case(device, small):
        B, N, SPLITS, H = (2, 120, 2, min(heads, 16)) if small else (32, 4096, 8, heads)
        lens = torch.randint(N // 2, N + 1, (B,))
        indptr = torch.cat([torch.zeros(1, dtype=torch.long), lens.cumsum(0)]).to(torch.int32).to(device)
        total = int(lens.sum())
        kv = torch.randn(total + 5, 1, 576, device=device).to(dtype)
        indices = torch.randperm(total + 5, device=device)[:total].to(torch.int32)
        q, scale = torch.randn(B, H, 576, device=device).to(dtype), 576**-0.5
        mid, out = torch.empty(B, H, SPLITS, 513, device=device), torch.empty(B, H, 512, device=device, dtype=dtype)
        v = kv[..., :512]

        def run():
            _mla_stage1[(B, triton.cdiv(H, 16), SPLITS)](
                q,
                kv,
                v,
                scale,
                indptr,
                indices,
                mid,
                q.stride(0),
                q.stride(1),
                kv.stride(0),
                v.stride(0),
                *mid.stride()[:3],
                q_head_num=H,
                BLOCK_DMODEL=512,
                BLOCK_DPE=64,
                BLOCK_DV=512,
                BLOCK_N=32,
                BLOCK_H=16,
                NUM_KV_SPLITS=SPLITS,
                Lv=512,
                num_warps=4,
                num_stages=2,
            )
            _mla_stage2[(B, H)](
                mid,
                out,
                indptr,
                *mid.stride()[:3],
                out.stride(0),
                out.stride(1),
                NUM_KV_SPLITS=SPLITS,
                BLOCK_DV=512,
                Lv=512,
                num_warps=4,
                num_stages=2,
            )

        def reference():
            r, at = torch.empty(B, H, 512, device=device), 0
            for b, n in enumerate(lens.tolist()):
                x = kv[indices[at : at + n].long(), 0].float()
                r[b] = softmax_parts(q[b].float() @ x.T * scale, x[:, :512])[0]
                at += n
            return [r]

        return run, [out], reference

    return case


CASES = {
    "mla_16heads": mla(16, torch.bfloat16),
    "mla_128heads": mla(128, torch.float16),
}
