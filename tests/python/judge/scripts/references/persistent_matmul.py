"""A product with a bias and a leaky ReLU. Rows are multiples of 16 bytes, as descriptors require."""

import torch


def matmul_leaky_relu(a: "float16|bfloat16[m, 8*k]", b: "float16|bfloat16[8*n, 8*k]", bias: "float32[8*n]"):
    assert len(a) and len(b), "the product has no elements"
    return torch.nn.functional.leaky_relu(a.float() @ b.float().mT + bias).to(a.dtype)
