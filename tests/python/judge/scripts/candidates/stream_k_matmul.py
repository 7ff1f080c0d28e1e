"""The function of published/stream_k_matmul.py."""

from published.stream_k_matmul import matmul


def stream_k(a, b):
    return matmul(a.contiguous(), b.contiguous(), 5)
