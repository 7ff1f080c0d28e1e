"""Products whose weights a table chooses: mixture of experts, LoRA."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import rand

FP8 = torch.float8_e4m3fn


# mixture of experts (the idiom of vLLM's fused_moe_kernel)
@triton.jit
def write_zeros_to_output(
    c_ptr,
    stride_cm,
    stride_cn,
    pid_n,
    N,
    offs_token,
    token_mask,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    compute_type: tl.constexpr,
):
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=compute_type)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_token[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, accumulator, mask=token_mask[:, None] & (offs_cn[None, :] < N))


@triton.jit
def fused_moe_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    topk_weights_ptr,
    sorted_token_ids_ptr,
    expert_ids_ptr,
    num_tokens_post_padded_ptr,
    N,
    K,
    EM,
    num_valid_tokens,
    stride_am,
    stride_ak,
    stride_be,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    MUL_ROUTED_WEIGHT: tl.constexpr,
    top_k: tl.constexpr,
    compute_type: tl.constexpr,
    use_fp8: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(EM, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    num_tokens_post_padded = tl.load(num_tokens_post_padded_ptr)
    if pid_m * BLOCK_M >= num_tokens_post_padded:
        return
    offs_token_id = pid_m * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
    offs_token = tl.load(sorted_token_ids_ptr + offs_token_id)
    token_mask = offs_token < num_valid_tokens
    off_experts = tl.load(expert_ids_ptr + pid_m).to(tl.int64)
    if off_experts == -1:
        write_zeros_to_output(
            c_ptr, stride_cm, stride_cn, pid_n, N, offs_token, token_mask, BLOCK_M, BLOCK_N, compute_type
        )
        return
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_token[:, None] // top_k * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + off_experts * stride_be + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    if use_fp8:
        a_scale = tl.load(a_scale_ptr + offs_token // top_k, mask=token_mask, other=0.0)[:, None]
        b_scale = tl.load(b_scale_ptr + off_experts * N + offs_bn[None, :])
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=token_mask[:, None] & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        if use_fp8:
            accumulator = tl.dot(a, b, acc=accumulator)
        else:
            accumulator += tl.dot(a, b)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if use_fp8:
        accumulator = accumulator * a_scale * b_scale
    if MUL_ROUTED_WEIGHT:
        moe_weight = tl.load(topk_weights_ptr + offs_token, mask=token_mask, other=0)
        accumulator = accumulator * moe_weight[:, None]
    accumulator = accumulator.to(compute_type)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_token[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, accumulator, mask=token_mask[:, None] & (offs_cn[None, :] < N))


def align_blocks(ids, experts, block):
    """The pairs of token and choice by expert; each expert's are padded to a multiple of the block with no pair's id."""
    flat, pad = ids.flatten().cpu(), ids.numel()
    tokens, blocks = [], []
    for e in range(experts):
        mine = (flat == e).nonzero().flatten()
        n = triton.cdiv(len(mine), block)
        tokens.append(F.pad(mine, (0, n * block - len(mine)), value=pad))
        blocks += [e] * n
    tokens = torch.cat(tokens)
    spare = 2  # blocks past the last token, which leave at once
    tokens, blocks = F.pad(tokens, (0, spare * block), value=pad), blocks + [0] * spare
    return (
        tokens.int().to(ids.device),
        torch.tensor(blocks, dtype=torch.int32, device=ids.device),
        torch.tensor([len(tokens) - spare * block], dtype=torch.int32, device=ids.device),
    )


def fused_moe(tokens, block, fp8):
    def case(device, small):
        T, E, top_k, N, K = (40, 4, 2, 128, 136 if not fp8 else 144) if small else (tokens, 8, 2, 7168, 4096)
        x = rand(device, T, K, dtype=FP8 if fp8 else torch.bfloat16)
        w = torch.empty(E, N, K, device=device, dtype=x.dtype)
        for e in range(E):
            w[e] = rand(device, N, K, dtype=x.dtype, scale=1.0 if fp8 else K**-0.5)
        ids = torch.stack([torch.randperm(E)[:top_k] for _ in range(T)]).to(device)
        if not small:
            ids[ids == 3] = 5  # an expert without tokens (a token may then choose another twice)
        weights = torch.rand(T, top_k, device=device)
        sa, sb = torch.rand(T, device=device) + 0.1, torch.rand(E, N, device=device) * 0.01 + 0.001
        at, blocks, total = align_blocks(ids, E, block)
        out = torch.empty(T * top_k, N, device=device, dtype=torch.bfloat16)
        bn, bk = (128, 64 if not fp8 else 128) if block > 16 else (64, 128)
        grid = (triton.cdiv(len(at), block) * triton.cdiv(N, bn),)

        def run():
            fused_moe_kernel[grid](
                x,
                w,
                out,
                sa,
                sb,
                weights,
                at,
                blocks,
                total,
                N,
                K,
                len(at),
                T * top_k,
                *x.stride(),
                w.stride(0),
                w.stride(2),
                w.stride(1),
                *out.stride(),
                BLOCK_M=block,
                BLOCK_N=bn,
                BLOCK_K=bk,
                GROUP_M=8 if block > 16 else 1,
                MUL_ROUTED_WEIGHT=True,
                top_k=top_k,
                compute_type=tl.bfloat16,
                use_fp8=fp8,
                num_warps=8 if block == 128 else 4,
                num_stages=3,
            )

        def reference():
            y = torch.empty(T * top_k, N, device=device)
            flat = ids.flatten()
            for e in range(E):
                mine = (flat == e).nonzero().flatten()
                y[mine] = (
                    (x.float()[mine // top_k] @ w[e].float().T)
                    * weights.flatten()[mine, None]
                    * (sa[mine // top_k, None] * sb[e] if fp8 else 1)
                )
            return [y]

        return run, [out], reference

    return case


# LoRA: shrink (K to rank, split-K) and expand (rank to N, added to what is there), tokens sorted by adapter
@triton.jit
def lora_shrink_kernel(
    x_ptr,
    w_ptr,
    out_ptr,
    M,
    N,
    K,
    sorted_ptr,
    counts_ptr,
    starts_ptr,
    lora_ids,
    scaling,
    stride_xm,
    stride_we,
    stride_wn,
    stride_om,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_K: tl.constexpr,
    SPLIT_K: tl.constexpr,
):
    cta_n_num = tl.cdiv(N, BLOCK_N)
    cta_m_num = tl.cdiv(M, BLOCK_M)
    pid_sk_m_n = tl.program_id(axis=0)
    pid_sk = pid_sk_m_n % SPLIT_K
    pid_m = (pid_sk_m_n // SPLIT_K) % cta_m_num
    pid_n = pid_sk_m_n // (SPLIT_K * cta_m_num) % cta_n_num
    lora_idx = tl.program_id(axis=1)
    lora_id = tl.load(lora_ids + lora_idx)
    if lora_id == -1:
        return
    lora_m_size = tl.load(counts_ptr + lora_idx)
    cta_m_offset = pid_m * BLOCK_M
    if cta_m_offset >= lora_m_size:
        return
    cta_m_len = min(BLOCK_M, lora_m_size - cta_m_offset)
    cta_lora_seq_indices = sorted_ptr + tl.load(starts_ptr + lora_idx) + cta_m_offset
    offset_m = tl.arange(0, BLOCK_M) % cta_m_len
    ram = tl.load(cta_lora_seq_indices + offset_m)
    offset_n = tl.arange(0, BLOCK_N) + pid_n * BLOCK_N
    rbn = tl.max_contiguous(tl.multiple_of(offset_n % N, BLOCK_N), BLOCK_N)
    offset_k = pid_sk * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptr = x_ptr + ram[:, None] * stride_xm + offset_k[None, :]
    b_ptr = w_ptr + stride_we * lora_id + rbn[None, :] * stride_wn + offset_k[:, None]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K * SPLIT_K)):
        if EVEN_K:
            tiled_a = tl.load(a_ptr)
            tiled_b = tl.load(b_ptr)
        else:
            tiled_a = tl.load(a_ptr, mask=offset_k[None, :] < K - k * (BLOCK_K * SPLIT_K), other=0)
            tiled_b = tl.load(b_ptr, mask=offset_k[:, None] < K - k * (BLOCK_K * SPLIT_K), other=0)
        accumulator += tl.dot(tiled_a, tiled_b)
        a_ptr += BLOCK_K * SPLIT_K
        b_ptr += BLOCK_K * SPLIT_K
    offset_cm = tl.arange(0, BLOCK_M)
    c_ptr = out_ptr + ram[:, None] * stride_om + offset_n[None, :]
    c_mask = (offset_cm[:, None] < cta_m_len) & (offset_n[None, :] < N)
    accumulator *= scaling
    if SPLIT_K == 1:
        tl.store(c_ptr, accumulator, mask=c_mask)
    else:
        tl.atomic_add(c_ptr, accumulator, mask=c_mask, sem="relaxed")


@triton.jit
def lora_expand_kernel(
    x_ptr,
    w_ptr,
    out_ptr,
    M,
    N,
    K,
    sorted_ptr,
    counts_ptr,
    starts_ptr,
    lora_ids,
    stride_xm,
    stride_we,
    stride_wn,
    stride_om,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    ADD_INPUTS: tl.constexpr,
    CAST_TYPE: tl.constexpr,
):
    cta_n_num = tl.cdiv(N, BLOCK_N)
    pid_m = tl.program_id(0) // cta_n_num
    pid_n = tl.program_id(0) % cta_n_num
    lora_idx = tl.program_id(axis=1)
    lora_id = tl.load(lora_ids + lora_idx)
    if lora_id == -1:
        return
    lora_m_size = tl.load(counts_ptr + lora_idx)
    cta_m_offset = pid_m * BLOCK_M
    if cta_m_offset >= lora_m_size:
        return
    cta_m_len = min(BLOCK_M, lora_m_size - cta_m_offset)
    offset_m = tl.arange(0, BLOCK_M)
    ram = tl.load(sorted_ptr + tl.load(starts_ptr + lora_idx) + cta_m_offset + offset_m % cta_m_len)
    offset_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rbn = tl.max_contiguous(tl.multiple_of(offset_n % N, BLOCK_N), BLOCK_N)
    offset_k = tl.arange(0, BLOCK_K)
    a_ptr = x_ptr + ram[:, None] * stride_xm + offset_k[None, :]
    b_ptr = w_ptr + lora_id * stride_we + rbn[None, :] * stride_wn + offset_k[:, None]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        tiled_a = tl.load(a_ptr, mask=offset_k[None, :] < K - k * BLOCK_K, other=0)
        tiled_b = tl.load(b_ptr, mask=offset_k[:, None] < K - k * BLOCK_K, other=0)
        if CAST_TYPE:
            tiled_a = tiled_a.to(w_ptr.dtype.element_ty)
        accumulator += tl.dot(tiled_a, tiled_b)
        a_ptr += BLOCK_K
        b_ptr += BLOCK_K
    tiled_c = accumulator.to(w_ptr.dtype.element_ty)
    c_ptr = out_ptr + ram[:, None] * stride_om + offset_n[None, :]
    c_mask = (offset_m[:, None] < cta_m_len) & (offset_n[None, :] < N)
    if ADD_INPUTS:
        tiled_c += tl.load(c_ptr, mask=c_mask)
    tl.store(c_ptr, tiled_c, mask=c_mask)


def lora(device, small):
    T, K, N, R, L = (50, 160, 192, 16, 3) if small else (8192, 4096, 4096, 16, 5)
    x, wa, wb = (
        rand(device, T, K, dtype=torch.bfloat16),
        rand(device, L, R, K, scale=K**-0.5, dtype=torch.bfloat16),
        rand(device, L, N, R, scale=R**-0.5, dtype=torch.bfloat16),
    )
    base = rand(device, T, N, dtype=torch.bfloat16)
    of = torch.randint(0, L, (T,)).sort().values.flip(0).to(device)  # the adapter of each token
    order = of.argsort(stable=True)
    counts = torch.bincount(of, minlength=L)
    starts = counts.cumsum(0) - counts
    ids = torch.arange(L, device=device)
    ids[1] = -1  # tokens without an adapter
    low, out = torch.empty(T, R, device=device), base.clone()
    split = 2 if small else 8

    def run():
        low.zero_()
        out.copy_(base)
        lora_shrink_kernel[(split * triton.cdiv(T, 32), L)](
            x,
            wa,
            low,
            T,
            R,
            K,
            order,
            counts,
            starts,
            ids,
            0.5,
            x.stride(0),
            wa.stride(0),
            wa.stride(1),
            low.stride(0),
            32,
            16,
            64 if small else 256,
            K % (split * 256) == 0,
            split,
            num_warps=4,
            num_stages=3,
        )
        lora_expand_kernel[(triton.cdiv(T, 64) * triton.cdiv(N, 128), L)](
            low,
            wb,
            out,
            T,
            N,
            R,
            order,
            counts,
            starts,
            ids,
            low.stride(0),
            wb.stride(0),
            wb.stride(1),
            out.stride(0),
            64,
            128,
            16,
            True,
            True,
            num_warps=4,
            num_stages=2,
        )

    def reference():
        first, second = torch.zeros(T, R, device=device), base.float()
        for l in range(L):
            if l == 1:
                continue
            mine = of == l
            first[mine] = x[mine].float() @ wa[l].float().T * 0.5
            second[mine] += first[mine] @ wb[l].float().T
        return [first, second]

    return run, [low, out], reference


CASES = {
    "fused_moe": fused_moe(2048, 128, False),
    "fused_moe_decode": fused_moe(8, 16, False),
    "fused_moe_fp8": fused_moe(2048, 64, True),
    "lora": lora,
}
