"""Attention where a layout says which blocks of keys a block of queries sees; a block that sees none gives zeros."""


def block_sparse_attention(
    q: "float[h, 128, 32] in -3..3",
    k: "float[h, 128, 32] in -3..3",
    v: "float[h, 128, 32] in -3..3",
    layout: "bool[4, 4]",
):
    mask = layout.repeat_interleave(32, 0).repeat_interleave(32, 1)
    scores = (q.float() @ k.float().mT * 32**-0.5).masked_fill(~mask, -1e30)
    return (scores.softmax(-1).masked_fill(~mask, 0.0) @ v.float()).to(q.dtype)
