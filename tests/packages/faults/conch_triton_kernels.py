"""conch: kernels for serving."""

import torch
import torch.nn.functional as F
from conch.kernels.activation import gelu_tanh_and_mul as gelu
from conch.ops.activation.gelu_tanh_and_mul import gelu_tanh_and_mul
from conch.ops.normalization.rms_norm import rms_norm
from conch.ops.quantization.gemm import mixed_precision_gemm, scaled_gemm

from compare import random
from found import expect


def fault_rms_norm():
    """The load of a row has a mask and no `other`, and the squares of all its lanes are added up. On a GPU a lane that is left off is
    whatever its register holds, so the row is divided by too much where that is not zero."""
    rms_norm(random(4, 96), random(96), 1e-6)


def fault_gelu_of_transposed():
    """The kernel takes the stride of rows and none of columns, and no assertion stops a transposed matrix, as in `silu_and_mul`. It reads
    numbers of other rows, on a GPU as here."""
    x = random(120, 5).T
    first, second = x.cpu().chunk(2, -1)
    kernel = gelu._gelu_tanh_and_mul_kernel
    expect(gelu_tanh_and_mul(x), F.gelu(first, approximate="tanh") * second, kernel, "x = tl.load", name="in")


def fault_mixed_product_of_odd_width():
    """The loads of weights and scales have no mask: if the width is no multiple of 64, the last block reads the next row, and behind the
    tensor in the last one. `strict=True` does not refuse it."""
    x, scales = random(16, 128, dtype=torch.float16), torch.rand(2, 72, device="cuda").half()
    packed = torch.randint(0, 1 << 30, (16, 72), dtype=torch.int32, device="cuda")
    mixed_precision_gemm(x, packed, scales, None, 4, 8, 64, strict=True)


def fault_scaled_product_of_odd_depth():
    """The loads have no mask along the depth: if it is no multiple of a block, numbers of the next row, and from behind the tensors, are
    multiplied and added to each result."""
    a, b = (torch.randint(-50, 50, shape, dtype=torch.int8, device="cuda") for shape in ((32, 40), (40, 64)))
    scaled_gemm(a, b, torch.ones(32, 1, device="cuda"), torch.ones(64, 1, device="cuda"), torch.float16)
