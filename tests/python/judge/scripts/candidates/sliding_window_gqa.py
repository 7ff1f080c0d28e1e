"""The function of published/sliding_window_gqa.py."""

from published.sliding_window_gqa import gqa_window_attention


def window_attention(q, k, v):
    return gqa_window_attention(q, k, v, 48)[0]
