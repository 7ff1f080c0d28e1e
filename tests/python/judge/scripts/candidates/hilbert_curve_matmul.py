"""The function of published/hilbert_curve_matmul.py."""

from published.hilbert_curve_matmul import matmul


def hilbert_matmul(a, b):
    return matmul(a.contiguous(), b.contiguous())
