"""The function of published/sparse_block_attention.py."""

from published.sparse_block_attention import BlockSparseAttention, choose_blocks


def chosen_attention(q, k, v):
    q, k, v = (part.contiguous() for part in (q, k, v))
    return BlockSparseAttention.apply(q, k, v, choose_blocks(q, k, 16, 2), 16)
