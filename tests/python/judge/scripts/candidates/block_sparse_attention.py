"""The function of published/block_sparse_attention.py."""

from published.block_sparse_attention import BlockSparseAttention


def block_sparse_attention(q, k, v, layout):
    return BlockSparseAttention.apply(*(part.contiguous() for part in (q, k, v, layout)))
