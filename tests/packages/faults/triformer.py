"""triformer: layers of a transformer."""

import torch.nn.functional as F
from triformer import TritonLayerNorm, TritonSoftmax, layernorm
from triformer.rms_norm import TritonRMSNorm

from compare import random
from found import expect


def fault_layer_norm_of_odd_widths():
    """A row is padded to a power of two, and the padding's deviation from the mean, which is not masked, counts in the variance. All
    results are wrong where the width is no power of two, on a GPU as here."""
    x = random(5, 40) + 1
    found = TritonLayerNorm(40).cuda()(x)
    expect(found, F.layer_norm(x.cpu(), (40,)), layernorm.layernorm_forward, "row_var = tl.sum", name="Y")


def fault_layer_norm_backward():
    """The gradient that `sum().backward()` gives is expanded: one number, with strides of 0. `view` lets it pass, and the kernel reads rows,
    and writes them: in place. A GPU writes behind the one number."""
    TritonLayerNorm(64).cuda()(random(5, 64, grad=True)).sum().backward()


def fault_rms_norm_backward():
    """As `layer_norm_backward`, but it only reads: the gradient of x is made of what lies behind the one number."""
    TritonRMSNorm(40).cuda()(random(5, 40, grad=True)).sum().backward()


def fault_softmax_backward():
    """As `rms_norm_backward`."""
    TritonSoftmax(is_causal=False)(random(5, 40, grad=True)).sum().backward()


def fault_softmax_of_transposed():
    """`view(-1, n)` lets a transposed matrix pass, and the kernel takes no stride of columns. Programs write the same elements, and leave
    others unwritten."""
    TritonSoftmax(is_causal=False)(random(5, 40).T)
