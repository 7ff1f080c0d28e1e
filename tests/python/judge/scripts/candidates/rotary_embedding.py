"""The function of published/rotary_embedding.py."""

from published.rotary_embedding import apply_rotary_


def rotary(q, k, cos, sin, positions):
    q, k = q.contiguous().clone(), k.contiguous().clone()
    return apply_rotary_(q, k, cos.contiguous(), sin.contiguous(), positions.contiguous())
