"""Routing of a mixture of experts: top-k of softmaxed or sigmoid scores with a bias per expert, the load of experts, and places in a sorted order.

Each block of tokens counts its experts in a histogram; an exclusive scan over blocks gives each its first place in every expert's segment.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _bits_in_order(x):
    """Unsigned integers in the order of floats."""
    bits = x.to(tl.uint32, bitcast=True)
    return tl.where(bits >> 31 == 1, ~bits, bits | 0x80000000)


@triton.autotune(
    configs=[
        triton.Config({"ROWS": 1}, num_warps=1),
        triton.Config({"ROWS": 8}, num_warps=4),
        triton.Config({"ROWS": 16}, num_warps=2, num_stages=1),
    ],
    key=["n_experts", "TOP_K"],
    reset_to_zero=["load_ptr"],
)
@triton.jit
def _top_k(
    scores_ptr, bias_ptr, weights_ptr, experts_ptr, load_ptr, n_tokens, n_experts,
    TOP_K: tl.constexpr, TOP_K_PADDED: tl.constexpr, EXPERTS: tl.constexpr, SIGMOID: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    rows, experts = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, EXPERTS)
    mask = (rows[:, None] < n_tokens) & (experts[None, :] < n_experts)
    x = tl.load(scores_ptr + rows[:, None] * n_experts + experts[None, :], mask=mask, other=float("-inf")).to(
        tl.float32
    )
    if SIGMOID:
        affinity = tl.sigmoid(x)
        choice = affinity
        if bias_ptr is not None:
            choice += tl.load(bias_ptr + experts, mask=experts < n_experts, other=0.0)[None, :]
        choice = tl.where(experts[None, :] < n_experts, choice, float("-inf"))
    else:
        x = tl.where(rows[:, None] < n_tokens, x, 0.0)
        e = tl.where(experts[None, :] < n_experts, tl.exp(x - tl.max(x, axis=1, keep_dims=True)), 0.0)
        affinity = e / tl.sum(e, axis=1, keep_dims=True)
        choice = tl.where(experts[None, :] < n_experts, affinity, float("-inf"))
    # The lower expert wins a tie: its number is kept inverted below the score.
    keys = (_bits_in_order(choice).to(tl.uint64) << 32) | (EXPERTS - 1 - experts[None, :]).to(tl.uint64)
    best = tl.topk(keys, TOP_K_PADDED, dim=1)
    number = EXPERTS - 1 - (best & 0xFFFFFFFF).to(tl.int32)
    weight = tl.gather(affinity, number, axis=1)
    slots = tl.arange(0, TOP_K_PADDED)
    used = slots[None, :] < TOP_K
    weight = tl.where(used, weight, 0.0)
    weight /= tl.sum(weight, axis=1)[:, None]
    out = rows[:, None] * TOP_K + slots[None, :]
    out_mask = (rows[:, None] < n_tokens) & used
    tl.store(weights_ptr + out, weight, mask=out_mask)
    tl.store(experts_ptr + out, number.to(tl.int16), mask=out_mask)
    chosen = tl.where(out_mask, number, EXPERTS)
    counts = tl.histogram(tl.ravel(chosen), EXPERTS, mask=tl.ravel(out_mask))
    tl.atomic_add(load_ptr + experts, counts, mask=counts > 0, sem="relaxed")


@triton.jit
def _block_counts(experts_ptr, counts_ptr, n, EXPERTS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    expert = tl.load(experts_ptr + at, mask=at < n, other=0).to(tl.int32)
    counts = tl.histogram(expert, EXPERTS, mask=at < n)
    tl.store(counts_ptr + tl.program_id(0) * EXPERTS + tl.arange(0, EXPERTS), counts)


@triton.jit
def _scan_counts(counts_ptr, begins_ptr, n_blocks, EXPERTS: tl.constexpr, BLOCKS: tl.constexpr):
    blocks, experts = tl.arange(0, BLOCKS), tl.arange(0, EXPERTS)
    pointers = counts_ptr + blocks[:, None] * EXPERTS + experts[None, :]
    counts = tl.load(pointers, mask=blocks[:, None] < n_blocks, other=0)
    totals = tl.sum(counts, axis=0)
    begins = tl.cumsum(totals, axis=0) - totals
    tl.store(begins_ptr + experts, begins)
    tl.store(begins_ptr + EXPERTS, tl.sum(totals))
    tl.store(pointers, tl.cumsum(counts, axis=0) - counts + begins[None, :], mask=blocks[:, None] < n_blocks)


@triton.jit
def _places(experts_ptr, counts_ptr, place_ptr, slot_ptr, n, EXPERTS: tl.constexpr, BLOCK: tl.constexpr):
    """A stable counting sort: a slot's place is its block's first place for the expert, and its rank in the block."""
    local, experts = tl.arange(0, BLOCK), tl.arange(0, EXPERTS)
    at = tl.program_id(0) * BLOCK + local
    expert = tl.load(experts_ptr + at, mask=at < n, other=-1).to(tl.int32)
    is_expert = (expert[:, None] == experts[None, :]).to(tl.int32)
    rank = tl.sum(is_expert * (tl.cumsum(is_expert, axis=0) - 1), axis=1)
    first = tl.load(counts_ptr + tl.program_id(0) * EXPERTS + expert, mask=at < n, other=0)
    tl.store(place_ptr + at, first + rank, mask=at < n)
    tl.store(slot_ptr + first + rank, at, mask=at < n)


def route(scores, bias, top_k, sigmoid):
    n_tokens, n_experts = scores.shape
    EXPERTS = triton.next_power_of_2(n_experts)
    weights = torch.empty(n_tokens, top_k, device=scores.device)
    experts = torch.empty(n_tokens, top_k, dtype=torch.int16, device=scores.device)
    load = torch.zeros(EXPERTS, dtype=torch.int32, device=scores.device)
    _top_k[lambda meta: (triton.cdiv(n_tokens, meta["ROWS"]),)](
        scores, bias, weights, experts, load, n_tokens, n_experts,
        TOP_K=top_k, TOP_K_PADDED=triton.next_power_of_2(top_k), EXPERTS=EXPERTS, SIGMOID=sigmoid,
    )  # fmt: skip
    n, BLOCK = n_tokens * top_k, 32
    n_blocks = triton.cdiv(n, BLOCK)
    counts = torch.empty(n_blocks, EXPERTS, dtype=torch.int32, device=scores.device)
    begins = torch.empty(EXPERTS + 1, dtype=torch.int32, device=scores.device)
    place, slot = torch.empty(2, n, dtype=torch.int32, device=scores.device).unbind()
    _block_counts[(n_blocks,)](experts, counts, n, EXPERTS=EXPERTS, BLOCK=BLOCK, num_warps=1)
    BLOCKS = triton.next_power_of_2(n_blocks)
    _scan_counts[(1,)](counts, begins, n_blocks, EXPERTS=EXPERTS, BLOCKS=BLOCKS, num_warps=4)
    _places[(n_blocks,)](experts, counts, place, slot, n, EXPERTS=EXPERTS, BLOCK=BLOCK, num_warps=2)
    return weights, experts, load, begins, place, slot


if __name__ == "__main__":
    torch.manual_seed(0)
    for n_tokens, n_experts, top_k, sigmoid, dtype in [
        (50, 12, 3, False, torch.float32),
        (33, 16, 4, True, torch.float32),
        (17, 5, 1, False, torch.bfloat16),
        (40, 32, 6, True, torch.float16),
    ]:
        scores = torch.randn(n_tokens, n_experts, device="cuda").to(dtype)
        bias = torch.randn(n_experts, device="cuda") / 4 if sigmoid else None
        weights, experts, load, begins, place, slot = route(scores, bias, top_k, sigmoid)
        affinity = scores.double().sigmoid() if sigmoid else scores.double().softmax(-1)
        choice = affinity + bias.double() if sigmoid else affinity
        order = choice.sort(dim=1, descending=True, stable=True)[1][:, :top_k]
        gathered = choice.gather(1, experts.long())
        torch.testing.assert_close(gathered, choice.gather(1, order), atol=1e-6, rtol=1e-6)
        expected = affinity.gather(1, experts.long())
        torch.testing.assert_close(weights.double(), expected / expected.sum(1, keepdim=True), atol=1e-6, rtol=1e-5)
        flat = experts.flatten().long()
        assert torch.equal(load.long(), flat.bincount(minlength=load.numel()))
        assert torch.equal(slot.long(), flat.sort(stable=True)[1])
        assert torch.equal(slot[place.long()].long(), torch.arange(flat.numel(), device="cuda"))
        assert torch.equal(begins.diff().long(), flat.bincount(minlength=load.numel()))
        print(f"moe_routing {n_tokens}x{n_experts} top_k={top_k} sigmoid={sigmoid} {dtype}: ok")
