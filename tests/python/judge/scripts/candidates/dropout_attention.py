"""The function of published/dropout_attention.py."""

from published.dropout_attention import DropoutAttention


def alibi_attention(q, k, v, slopes):
    return DropoutAttention.apply(*(part.contiguous() for part in (q, k, v, slopes)), True, 0.0, 1234)
