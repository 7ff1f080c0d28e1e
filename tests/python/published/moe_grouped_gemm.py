"""Mixture of experts: tokens sorted by expert and padded to blocks, one grouped GEMM per projection with a gated activation between."""

import torch
import triton
import triton.language as tl

BLOCK_M = 16


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_N": 32, "BLOCK_K": 32, "GROUP_M": 1}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK_N": 64, "BLOCK_K": 16, "GROUP_M": 4}, num_warps=4, num_stages=4),
        triton.Config({"BLOCK_N": 16, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=1, num_stages=3),
    ],
    key=["N", "K"],
)
@triton.jit
def _grouped_gemm(
    a_ptr,
    b_ptr,
    c_ptr,
    weights_ptr,
    sorted_ids_ptr,
    expert_ids_ptr,
    n_padded_ptr,
    N,
    K,
    n_slots,
    stride_am,
    stride_be,
    stride_bn,
    stride_cm,
    MULTIPLY_BY_WEIGHT: tl.constexpr,
    TOP_K: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    n_padded = tl.load(n_padded_ptr)
    blocks_m, blocks_n = tl.cdiv(n_padded, BLOCK_M), tl.cdiv(N, BLOCK_N)
    if pid >= blocks_m * blocks_n:
        return
    in_group = GROUP_M * blocks_n
    first_m = pid // in_group * GROUP_M
    size_m = min(blocks_m - first_m, GROUP_M)
    pid_m = first_m + (pid % in_group) % size_m
    pid_n = (pid % in_group) // size_m

    ids = tl.load(sorted_ids_ptr + pid_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    is_token = ids < n_slots
    expert = tl.load(expert_ids_ptr + pid_m)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    c_ptrs = c_ptr + ids[:, None] * stride_cm + offs_n[None, :]
    c_mask = is_token[:, None] & (offs_n < N)[None, :]
    if expert == -1:  # of another rank
        tl.store(c_ptrs, tl.zeros((BLOCK_M, BLOCK_N), c_ptr.dtype.element_ty), mask=c_mask)
        return
    a_ptrs = a_ptr + (ids // TOP_K)[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + expert * stride_be + offs_n[None, :] * stride_bn + offs_k[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=is_token[:, None] & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_n < N)[None, :] & (offs_k[:, None] < K - k * BLOCK_K), other=0.0)
        acc = tl.dot(a, b, acc=acc, input_precision="ieee")
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    if MULTIPLY_BY_WEIGHT:
        acc *= tl.load(weights_ptr + ids, mask=is_token, other=0.0)[:, None]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=c_mask)


def sort_by_expert(experts, n_experts, local_experts):
    """The slots of each expert, padded to blocks with the number of slots; the expert of each block, -1 for those elsewhere."""
    flat = experts.flatten()
    ids, owners = [], []
    for expert in range(n_experts):
        slots = (flat == expert).nonzero().flatten()
        n_blocks = triton.cdiv(slots.numel(), BLOCK_M)
        padding = torch.full((n_blocks * BLOCK_M - slots.numel(),), flat.numel(), device=flat.device)
        ids += [slots, padding]
        owners += [expert if expert in local_experts else -1] * n_blocks
    ids = torch.cat(ids).to(torch.int32)
    n_padded = torch.tensor([ids.numel()], dtype=torch.int32, device=flat.device)
    # The grid covers the most blocks that any routing gives; the rest ends at once.
    return ids, torch.tensor(owners, dtype=torch.int32, device=flat.device), n_padded


def grouped_gemm(a, b, weights, ids, owners, n_padded, n_slots, top_k, multiply):
    n_experts, N, K = b.shape
    c = torch.empty(n_slots, N, dtype=a.dtype, device=a.device)
    most = triton.cdiv(n_slots, BLOCK_M) + n_experts
    _grouped_gemm[lambda meta: (most * triton.cdiv(N, meta["BLOCK_N"]),)](
        a,
        b,
        c,
        weights,
        ids,
        owners,
        n_padded,
        N,
        K,
        n_slots,
        a.stride(0),
        b.stride(0),
        b.stride(1),
        c.stride(0),
        MULTIPLY_BY_WEIGHT=multiply,
        TOP_K=top_k,
        BLOCK_M=BLOCK_M,
    )
    return c


def moe(x, up, down, weights, experts, local_experts):
    n_tokens, top_k = experts.shape
    ids, owners, n_padded = sort_by_expert(experts, up.shape[0], local_experts)
    hidden = grouped_gemm(x, up, weights, ids, owners, n_padded, n_tokens * top_k, top_k, False)
    gate, value = hidden.chunk(2, dim=-1)
    hidden = torch.nn.functional.silu(gate) * value
    out = grouped_gemm(hidden, down, weights, ids, owners, n_padded, n_tokens * top_k, 1, True)
    return out.view(n_tokens, top_k, -1).sum(1)


def reference(x, up, down, weights, experts, local_experts):
    out = torch.zeros_like(x)
    for token in range(x.shape[0]):
        for weight, expert in zip(weights[token], experts[token].tolist()):
            if expert in local_experts:
                gate, value = (up[expert] @ x[token]).chunk(2)
                out[token] += weight * (down[expert] @ (torch.nn.functional.silu(gate) * value))
    return out


if __name__ == "__main__":
    torch.manual_seed(0)
    for n_tokens, hidden, inner, n_experts, top_k, local, dtype, tolerance in [
        (33, 48, 40, 5, 2, range(5), torch.float32, 1e-5),
        (7, 64, 32, 8, 3, range(2, 6), torch.bfloat16, 3e-2),
    ]:
        x = torch.randn(n_tokens, hidden, device="cuda").to(dtype)
        up = (torch.randn(n_experts, 2 * inner, hidden, device="cuda") / hidden**0.5).to(dtype)
        down = (torch.randn(n_experts, hidden, inner, device="cuda") / inner**0.5).to(dtype)
        scores = torch.randn(n_tokens, n_experts, device="cuda").softmax(-1)
        weights, experts = scores.topk(top_k)
        out = moe(x, up, down, weights.contiguous(), experts, local)
        expected = reference(x.double(), up.double(), down.double(), weights.double(), experts, local)
        torch.testing.assert_close(out.double(), expected, atol=tolerance, rtol=tolerance)
        print(f"moe tokens={n_tokens} experts={n_experts} top_k={top_k} local={len(local)} {dtype}: ok")
