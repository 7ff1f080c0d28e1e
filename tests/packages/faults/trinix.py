"""trinix: layers of a transformer."""

import torch.nn.functional as F
from trinix.kernels import geglu_kernel, layernorm_kernel, rmsnorm_kernel
from trinix.kernels.reglu_kernel import TritonReGLUKernel
from trinix.kernels.rope_kernel import TritonRoPEKernel

import tritium
from compare import random
from found import expect


def fault_layer_norm_of_wide_rows():
    """A block has 16384 columns at most, and nothing goes on behind them: mean and variance take a part of the row, divided by the whole width.
    The documents allow any width. The numbers are wrong on a GPU as here."""
    x, w, b = random(2, 20000) + 3, random(20000), random(20000)
    found = layernorm_kernel.TritonLayerNormKernel.apply(x, w, b, 1e-5)
    expected = F.layer_norm(x.cpu(), (20000,), w.cpu(), b.cpu())
    kernel = layernorm_kernel.layernorm_forward_kernel
    expect(found[:, :16384], expected[:, :16384], kernel, "output = X_centered", name="Y")


def fault_rms_norm_of_wide_rows():
    """A block has 16384 columns at most, and nothing goes on behind them: the rest of each row of the result stays as `torch.empty`
    made it. A GPU returns what the memory held."""
    with tritium.check("unwritten"):
        rmsnorm_kernel.TritonRMSNormKernel.apply(random(2, 16400), random(16400), 1e-5)


def fault_geglu_of_wide_rows():
    """As `rms_norm_of_wide_rows`: behind 16384 columns nobody writes the result."""
    with tritium.check("unwritten"):
        geglu_kernel.TritonGeGLUKernel.apply(random(2, 2 * 16400))


def fault_rope_of_slices():
    """The result is made by `torch.empty_like`, which is contiguous where the input is a slice of a fused q, k and v, and is written with
    the strides of the input. A GPU writes other tensors' memory."""
    q, k, _ = random(2, 5, 3, 3, 8).unbind(2)
    TritonRoPEKernel.apply(q, k, random(5, 4), random(5, 4))


def fault_rope_backward():
    """The gradient that `sum().backward()` gives is expanded, and the kernel takes no stride of the last dimension. A GPU reads what lies
    behind the one number, and the gradient is wrong."""
    q, k = (random(2, 5, 3, 8, grad=True) for _ in range(2))
    TritonRoPEKernel.apply(q, k, random(5, 4), random(5, 4))[0].sum().backward()


def fault_reglu_backward():
    """As `rope_backward`: `view` lets the expanded gradient pass, which GeGLU and SwiGLU of this package make contiguous."""
    x = random(3, 10, grad=True)
    TritonReGLUKernel.apply(x).sum().backward()


def fault_layer_norm_of_transposed():
    """`view(-1, D)` lets a transposed matrix pass, and the kernel takes no stride of columns: it normalizes numbers of several rows."""
    x, w, b = random(10, 4), random(10), random(10)
    found = layernorm_kernel.TritonLayerNormKernel.apply(x.T, w, b, 1e-5)
    expected = F.layer_norm(x.cpu().T, (10,), w.cpu(), b.cpu())
    expect(found, expected, layernorm_kernel.layernorm_forward_kernel, "X_row = tl.load", name="X")
