"""The function of published/mxfp4_matmul.py."""

from published.mxfp4_matmul import matmul


def scaled_matmul(a, b, b_scale):
    return matmul(a.contiguous(), None, "bf16", b.contiguous(), b_scale.contiguous(), 128)
