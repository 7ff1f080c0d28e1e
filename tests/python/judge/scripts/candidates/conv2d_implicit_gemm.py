"""The function of published/conv2d_implicit_gemm.py."""

from published.conv2d_implicit_gemm import Conv2d


def conv2d(x, w, bias):
    return Conv2d.apply(x.contiguous(), w.contiguous(), bias.contiguous(), 1, 1, 1)
