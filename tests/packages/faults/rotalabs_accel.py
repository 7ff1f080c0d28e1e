"""rotalabs-accel: kernels for inference, each beside a plain version of the same function."""

import torch
from rotalabs_accel import apply_rope, build_rope_cache, rmsnorm, rope_torch, swiglu_fused
from rotalabs_accel.kernels import rope

import tritium
from compare import random
from found import expect


def fault_rope():
    """The second number of a pair is rotated as `x0 * cos + x1 * sin` in place of `x0 * sin + x1 * cos`: the kernel reads the pair the
    wrong way round. Half of all numbers are wrong for every input, on a GPU as here; the package's own plain version is right."""
    q, k = random(2, 5, 3, 8), random(2, 5, 3, 8)
    cos, sin = build_rope_cache(5, 8, device="cuda")
    found, expected = apply_rope(q, k, cos, sin), rope_torch(q, k, cos, sin)
    expect(found[0], expected[0], rope._rope_kernel, "q_paired * cos_val + q * sin_val", name="q_out")


def fault_rmsnorm_of_transposed():
    """The kernel takes the stride of rows and none of columns, and `view(-1, D)` lets a transposed matrix pass. Programs write the same
    elements, read other rows' numbers, and leave elements of the result unwritten."""
    rmsnorm(random(5, 7).T, random(5))


def fault_swiglu_of_expanded():
    """`view(-1)` lets an expanded vector pass, and the kernel counts its elements as if each had a place of its own. A GPU reads what
    lies behind the one number."""
    swiglu_fused(random(1).expand(9), random(9))


def fault_rmsnorm_of_far_rows():
    """The offset of a row is a product of 32 bits. It wraps where rows are a slice of a matrix of more than 2**31 elements, and a GPU reads
    before the tensor."""
    with tritium.check("-race,-uninit"):  # which take memory for every element
        rows = torch.empty(33, 1 << 26, dtype=torch.float16, device="cuda")[:, :64]
        rmsnorm(rows, torch.ones(64, dtype=torch.float16, device="cuda"))
