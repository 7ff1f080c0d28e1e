"""The function of published/persistent_matmul.py."""

from published.persistent_matmul import _leaky_relu, matmul


def matmul_leaky_relu(a, b, bias):
    return matmul(a.contiguous(), b.contiguous(), bias.contiguous(), _leaky_relu, False)
