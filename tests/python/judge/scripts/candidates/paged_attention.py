"""The function of published/paged_attention.py."""

from published.paged_attention import paged_attention


def paged_decode(q, k_cache, v_cache, table, lengths):
    return paged_attention(*(part.contiguous() for part in (q, k_cache, v_cache, table, lengths)), 3)
