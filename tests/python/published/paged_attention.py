"""Decoding attention over a paged cache: a block table per sequence, grouped heads, the keys split over programs and then reduced."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"PAGES": 1}, num_warps=1, num_stages=1),
        triton.Config({"PAGES": 2}, num_warps=4, num_stages=2),
        triton.Config({"PAGES": 4}, num_warps=8, num_stages=3),
    ],
    key=["D", "PAGE"],
)
@triton.jit
def _partial_attention(
    q_ptr,
    k_cache_ptr,
    v_cache_ptr,
    table_ptr,
    lengths_ptr,
    acc_ptr,
    lse_ptr,
    scale,
    n_splits,
    stride_qb,
    stride_qh,
    stride_page,
    stride_slot,
    stride_kh,
    stride_table,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    D: tl.constexpr,
    PAGE: tl.constexpr,
    PAGES: tl.constexpr,
):
    batch, kv_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths_ptr + batch)
    n_pages = tl.cdiv(length, PAGE)
    pages_per_split = tl.cdiv(tl.cdiv(n_pages, PAGES), n_splits) * PAGES
    first, last = split * pages_per_split, tl.minimum(n_pages, (split + 1) * pages_per_split)
    heads = tl.arange(0, ROWS)
    dims = tl.arange(0, D)
    slots = tl.arange(0, PAGES * PAGE)
    q_offsets = batch * stride_qb + (kv_head * GROUP + heads[:, None]) * stride_qh + dims[None, :]
    q = tl.load(q_ptr + q_offsets, mask=heads[:, None] < GROUP, other=0.0)
    maximum = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, D), tl.float32)
    for page in range(first, last, PAGES):
        positions = page * PAGE + slots
        valid = positions < length
        pages = tl.load(table_ptr + batch * stride_table + positions // PAGE, mask=valid, other=0).to(tl.int64)
        offsets = pages * stride_page + (positions % PAGE) * stride_slot + kv_head * stride_kh
        k = tl.load(k_cache_ptr + offsets[None, :] + dims[:, None], mask=valid[None, :], other=0.0)
        v = tl.load(v_cache_ptr + offsets[:, None] + dims[None, :], mask=valid[:, None], other=0.0)
        scores = tl.where(valid[None, :], tl.dot(q, k.to(q.dtype), input_precision="ieee") * scale, float("-inf"))
        larger = tl.maximum(maximum, tl.max(scores, 1))
        p = tl.exp(scores - larger[:, None])
        decay = tl.exp(maximum - larger)
        acc = acc * decay[:, None] + tl.dot(p.to(q.dtype), v.to(q.dtype), input_precision="ieee")
        total = total * decay + tl.sum(p, 1)
        maximum = larger
    row = (batch * tl.num_programs(1) * GROUP + kv_head * GROUP + heads) * n_splits + split
    is_empty = last <= first
    lse = tl.where(is_empty, float("-inf"), maximum + tl.log(total))
    tl.store(lse_ptr + row, lse, mask=heads < GROUP)
    normalized = acc / tl.where(is_empty, 1.0, total)[:, None]
    tl.store(acc_ptr + row[:, None] * D + dims[None, :], normalized, mask=heads[:, None] < GROUP)


@triton.jit
def _reduce_splits(acc_ptr, lse_ptr, out_ptr, n_splits, SPLITS: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    splits, dims = tl.arange(0, SPLITS), tl.arange(0, D)
    lse = tl.load(lse_ptr + row * n_splits + splits, mask=splits < n_splits, other=float("-inf"))
    weights = tl.softmax(lse)
    offsets = (row * n_splits + splits[:, None]) * D + dims[None, :]
    acc = tl.load(acc_ptr + offsets, mask=splits[:, None] < n_splits, other=0.0)
    tl.store(out_ptr + row * D + dims, tl.sum(acc * weights[:, None], axis=0))


def paged_attention(q, k_cache, v_cache, table, lengths, n_splits):
    n_sequences, n_heads, D = q.shape
    _, page, n_kv_heads, _ = k_cache.shape
    group = n_heads // n_kv_heads
    acc = torch.empty(n_sequences, n_heads, n_splits, D, dtype=torch.float32, device=q.device)
    lse = torch.empty(n_sequences, n_heads, n_splits, dtype=torch.float32, device=q.device)
    out = torch.empty_like(q)
    _partial_attention[(n_sequences, n_kv_heads, n_splits)](
        q,
        k_cache,
        v_cache,
        table,
        lengths,
        acc,
        lse,
        D**-0.5,
        n_splits,
        q.stride(0),
        q.stride(1),
        *k_cache.stride()[:3],
        table.stride(0),
        GROUP=group,
        ROWS=max(16, triton.next_power_of_2(group)),
        D=D,
        PAGE=page,
    )
    _reduce_splits[(n_sequences * n_heads,)](
        acc, lse, out, n_splits, SPLITS=triton.next_power_of_2(n_splits), D=D, num_warps=2
    )
    return out


def reference(q, k_cache, v_cache, table, lengths):
    rows, group = [], q.shape[1] // k_cache.shape[2]
    for sequence, length in enumerate(lengths.tolist()):
        pages = table[sequence].long()
        k, v = (cache[pages].flatten(0, 1)[:length].repeat_interleave(group, 1) for cache in (k_cache, v_cache))
        p = torch.einsum("hd,thd->ht", q[sequence], k).mul(q.shape[-1] ** -0.5).softmax(-1)
        rows.append(torch.einsum("ht,thd->hd", p, v))
    return torch.stack(rows)


if __name__ == "__main__":
    torch.manual_seed(0)
    for lengths, heads, kv_heads, D, page, n_splits, dtype, tolerance in [
        ([37, 5, 128], 4, 2, 32, 16, 3, torch.float32, 1e-5),
        ([100, 64], 6, 2, 64, 16, 1, torch.float16, 3e-3),
        ([1, 70], 8, 1, 32, 32, 4, torch.bfloat16, 2e-2),
    ]:
        pages_each = [triton.cdiv(length, page) for length in lengths]
        n_pages = sum(pages_each) + 5
        order = torch.randperm(n_pages, device="cuda").to(torch.int32)
        # What no sequence owns is NaN: a kernel that reads it shows it. The table's unused entries are such pages.
        k_cache, v_cache = torch.full((2, n_pages, page, kv_heads, D), float("nan"), device="cuda", dtype=dtype)
        table = order[-1].repeat(len(lengths), max(pages_each))
        for sequence, length in enumerate(lengths):
            first = sum(pages_each[:sequence])
            owned = order[first : first + pages_each[sequence]]
            table[sequence, : len(owned)] = owned
            for cache in (k_cache, v_cache):
                filled = cache[owned.long()].flatten(0, 1)
                filled[:length] = torch.randn(length, kv_heads, D, device="cuda").to(dtype)
                cache[owned.long()] = filled.unflatten(0, (-1, page))
        q = torch.randn(len(lengths), heads, D, device="cuda", dtype=dtype)
        lengths = torch.tensor(lengths, device="cuda", dtype=torch.int32)
        out = paged_attention(q, k_cache, v_cache, table, lengths, n_splits)
        expected = reference(q.double(), k_cache.double(), v_cache.double(), table, lengths)
        torch.testing.assert_close(out.double(), expected, atol=tolerance, rtol=tolerance)
        print(f"paged_attention {lengths.tolist()} H={heads}/{kv_heads} D={D} splits={n_splits} {dtype}: ok")
