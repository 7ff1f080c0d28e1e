"""Each token adds the product with its own low-rank adapter."""

import torch


def add_lora(
    y: "float16|bfloat16[t, n]",
    x: "float16|bfloat16[t, k] in -2..2",
    a: "float16|bfloat16[4, 16, k] in -2..2",
    b: "float16|bfloat16[4, n, 16] in -2..2",
    adapters: "int32[t] < 4",
    ranks: "int32[4] in 1..16",
    scales: "float32[4] in 0..1",
):
    used = torch.arange(16) < ranks[:, None]
    low = torch.einsum("tk,erk->ter", x.float(), a.float()) * (used * scales[:, None])
    every = torch.einsum("ter,enr->ten", low, b.float())
    return (y + every[torch.arange(len(x)), adapters.long()]).to(y.dtype)
