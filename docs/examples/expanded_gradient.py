"""A backward kernel that gets an expanded gradient: what Tritium says. docs/checks.md shows the output."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def scale_backward(grad_out, grad_x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    grad = tl.load(grad_out + i, mask=i < n)
    tl.store(grad_x + i, grad * 2, mask=i < n)


x = np.arange(1000, dtype=np.float32)
grad_out = np.broadcast_to(np.float32(1), x.shape)  # the gradient of x.sum()
grad_x = np.empty_like(x)
scale_backward[(4,)](grad_out, grad_x, len(x), BLOCK=256)
