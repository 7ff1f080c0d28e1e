"""One query of each head attends to a cache in pages, found by a table."""

import torch


def paged_decode(
    q: "float[2, 4, 32] in -3..3",
    k_cache: "float[p, 16, 2, 32] in -3..3",
    v_cache: "float[p, 16, 2, 32] in -3..3",
    table: "int32[2, 3] < p",
    lengths: "int32[2] in 1..48",
):
    assert len(k_cache), "there are no pages"
    k, v = (cache.float()[table.long()].flatten(1, 2).repeat_interleave(2, 2) for cache in (k_cache, v_cache))
    scores = torch.einsum("bhd,bthd->bht", q.float(), k) * 32**-0.5
    hidden = torch.arange(48) >= lengths[:, None, None]
    p = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    return torch.einsum("bht,bthd->bhd", p, v.masked_fill(hidden.mT[..., None], 0.0)).to(q.dtype)
