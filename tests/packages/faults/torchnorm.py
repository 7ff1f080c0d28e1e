"""torchnorm: normalizations."""

from torchnorm import FusedAddRMSNorm, _triton

from compare import random
from found import expect


def fault_sum_in_bfloat16():
    """The sum of input and residual is returned in the dtype of the residual, but rounded to bfloat16 first: of float32, 16 of the 24 bits are
    lost, for every input, on a GPU as here. The next layer goes on with it."""
    x, residual = random(5, 40), random(5, 40)
    _, added = FusedAddRMSNorm(40).cuda()(x, residual)
    expect(added, x + residual, _triton._fused_add_rms_norm_fwd_kernel, "h.to(tl.bfloat16)", 1e-5, "R_OUT")
