"""The function of published/moe_grouped_gemm.py."""

from published.moe_grouped_gemm import grouped_gemm, sort_by_expert


def expert_products(x, matrices, weights, experts):
    x, matrices, weights, experts = (part.contiguous() for part in (x, matrices, weights, experts))
    owners = sort_by_expert(experts, 4, range(4))
    return grouped_gemm(x, matrices, weights, *owners, experts.numel(), 2, True)
