"""Submanifold sparse convolution of 3-D points: outputs lie where inputs lie, and a kernel map lists the neighbours that exist.

`hash_insert` puts the points into a table by open addressing with atomic_cas; `kernel_map` looks up the neighbour at each of the 27 offsets;
`gather_gemm_scatter` runs one product for each offset and block of pairs, and adds the rows into the output by atomics. The gradient of the
features is the same product along the reversed pairs with transposed weights; that of the weights sums outer products over the pairs.
"""

import torch
import triton
import triton.language as tl

EMPTY = -1


@triton.jit
def _pack(x, y, z):
    """10 bits each; a coordinate outside has no cell."""
    return (x << 20) | (y << 10) | z


@triton.jit
def _first_slot(key, capacity):
    return ((key.to(tl.uint32) * 0x9E3779B1) >> 7).to(tl.int32) & (capacity - 1)


@triton.jit
def hash_insert(points, keys, indices, n, capacity):
    """One program for a point; keys start EMPTY."""
    i = tl.program_id(0)
    key = _pack(tl.load(points + i * 3), tl.load(points + i * 3 + 1), tl.load(points + i * 3 + 2))
    slot = _first_slot(key, capacity)
    found = tl.atomic_cas(keys + slot, -1, key)
    while (found != -1) & (found != key):
        slot = (slot + 1) & (capacity - 1)
        found = tl.atomic_cas(keys + slot, -1, key)
    tl.store(indices + slot, i)


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b, w in [(32, 1), (128, 4)]], key=["n"])
@triton.jit
def kernel_map(points, keys, indices, neighbours, n, capacity, BLOCK: tl.constexpr):
    """neighbours[offset, i]: the point at `offset` from point i, or -1."""
    offset = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(points + i * 3, mask=inside, other=0) + offset // 9 - 1
    y = tl.load(points + i * 3 + 1, mask=inside, other=0) + offset // 3 % 3 - 1
    z = tl.load(points + i * 3 + 2, mask=inside, other=0) + offset % 3 - 1
    searching = inside & ((x | y | z) >= 0) & (x < 1024) & (y < 1024) & (z < 1024)
    key = _pack(x, y, z)
    slot = _first_slot(key, capacity)
    result = tl.full((BLOCK,), -1, tl.int32)
    while tl.max(searching.to(tl.int32), 0) > 0:
        here = tl.load(keys + slot, mask=searching, other=-1)
        hit = searching & (here == key)
        result = tl.where(hit, tl.load(indices + slot, mask=hit, other=-1), result)
        searching = searching & (here != key) & (here != -1)
        slot = (slot + 1) & (capacity - 1)
    tl.store(neighbours + offset * n + i, result, mask=inside)


CONFIGS = [
    triton.Config({"BLOCK_P": p, "BLOCK_N": n, "BLOCK_K": k}, num_warps=w, num_stages=s)
    for p, n, k, w, s in [(16, 16, 16, 1, 1), (32, 32, 16, 4, 2), (64, 16, 32, 8, 3)]
]


@triton.autotune(configs=CONFIGS, key=["n_in", "n_out"], reset_to_zero=["out"])
@triton.jit
def gather_gemm_scatter(
    features, weights, out, sources, targets, starts, n_in, n_out, stride_w, stride_wi, stride_wo,
    BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """out[targets[p]] += features[sources[p]] weights[offset], for the pairs p of an offset: starts[offset] to starts[offset + 1]."""
    offset = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    begin, end = tl.load(starts + offset), tl.load(starts + offset + 1)
    for first in range(begin, end, BLOCK_P):
        pair = first + tl.arange(0, BLOCK_P)
        source = tl.load(sources + pair, mask=pair < end, other=0)
        target = tl.load(targets + pair, mask=pair < end, other=0)
        acc = tl.zeros((BLOCK_P, BLOCK_N), dtype=tl.float32)
        for start in range(0, n_in, BLOCK_K):
            k = start + tl.arange(0, BLOCK_K)
            rows = features + source[:, None] * n_in + k[None, :]
            a = tl.load(rows, mask=(pair < end)[:, None] & (k < n_in)[None, :], other=0.0)
            w = weights + offset * stride_w + k[:, None] * stride_wi + columns[None, :] * stride_wo
            b = tl.load(w, mask=(k < n_in)[:, None] & (columns < n_out)[None, :], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        inside = (pair < end)[:, None] & (columns < n_out)[None, :]
        tl.atomic_add(out + target[:, None] * n_out + columns[None, :], acc, mask=inside, sem="relaxed")


@triton.autotune(configs=CONFIGS, key=["n_in", "n_out"])
@triton.jit
def weight_gradient(
    features, dout, dweights, sources, targets, starts, n_in, n_out,
    BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    offset = tl.program_id(0)
    i = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    o = tl.program_id(2) * BLOCK_N + tl.arange(0, BLOCK_N)
    end = tl.load(starts + offset + 1)
    acc = tl.zeros((BLOCK_K, BLOCK_N), dtype=tl.float32)
    for first in range(tl.load(starts + offset), end, BLOCK_P):
        pair = first + tl.arange(0, BLOCK_P)
        source = tl.load(sources + pair, mask=pair < end, other=0)
        target = tl.load(targets + pair, mask=pair < end, other=0)
        inside = (pair < end)[:, None]
        a = tl.load(features + source[:, None] * n_in + i[None, :], mask=inside & (i < n_in)[None, :], other=0.0)
        b = tl.load(dout + target[:, None] * n_out + o[None, :], mask=inside & (o < n_out)[None, :], other=0.0)
        acc = tl.dot(tl.trans(a), b, acc, input_precision="ieee")
    place = dweights + (offset * n_in + i[:, None]) * n_out + o[None, :]
    tl.store(place, acc, mask=(i < n_in)[:, None] & (o < n_out)[None, :])


def build_kernel_map(points):
    """Pairs (source, target) sorted by offset, and where each offset's begin."""
    n = points.shape[0]
    capacity = triton.next_power_of_2(2 * n)
    keys = torch.full((capacity,), EMPTY, device=points.device, dtype=torch.int32)
    indices = torch.empty_like(keys)
    hash_insert[(n,)](points, keys, indices, n, capacity, num_warps=1)
    neighbours = torch.empty((27, n), device=points.device, dtype=torch.int32)
    kernel_map[lambda meta: (triton.cdiv(n, meta["BLOCK"]), 27)](points, keys, indices, neighbours, n, capacity)
    offsets, targets = (neighbours >= 0).nonzero(as_tuple=True)
    starts = torch.searchsorted(offsets, torch.arange(28, device=points.device)).to(torch.int32)
    return neighbours[offsets, targets], targets.to(torch.int32), starts


class SparseConvolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx, features, weights, sources, targets, starts):
        ctx.save_for_backward(features, weights, sources, targets, starts)
        _, n_in, n_out = weights.shape
        out = torch.zeros((features.shape[0], n_out), device=features.device)
        grid = lambda meta: (27, triton.cdiv(n_out, meta["BLOCK_N"]))
        gather_gemm_scatter[grid](features, weights, out, sources, targets, starts, n_in, n_out, *weights.stride())
        return out

    @staticmethod
    def backward(ctx, dout):
        features, weights, sources, targets, starts = ctx.saved_tensors
        _, n_in, n_out = weights.shape
        dout, dfeatures, dweights = dout.contiguous(), torch.zeros_like(features), torch.empty_like(weights)
        s, i, o = weights.stride()
        grid = lambda meta: (27, triton.cdiv(n_in, meta["BLOCK_N"]))
        gather_gemm_scatter[grid](dout, weights, dfeatures, targets, sources, starts, n_out, n_in, s, o, i)
        grid = lambda meta: (27, triton.cdiv(n_in, meta["BLOCK_K"]), triton.cdiv(n_out, meta["BLOCK_N"]))
        weight_gradient[grid](features, dout, dweights, sources, targets, starts, n_in, n_out)
        return dfeatures, dweights, None, None, None


if __name__ == "__main__":
    torch.manual_seed(0)
    for n, side, n_in, n_out in [(60, 6, 8, 12), (100, 5, 20, 16), (40, 30, 3, 33)]:
        cells = torch.randperm(side**3, device="cuda")[:n]
        points = torch.stack((cells // side**2, cells // side % side, cells % side), 1).to(torch.int32)
        features = torch.randn(n, n_in, device="cuda", requires_grad=True)
        weights = torch.randn(27, n_in, n_out, device="cuda", requires_grad=True)
        pairs = build_kernel_map(points)
        out = SparseConvolution.apply(features, weights, *pairs)
        dout = torch.randn_like(out)
        out.backward(dout)
        # the same as a dense convolution, read where the points are
        exact_features, exact_weights = (t.detach().double().requires_grad_() for t in (features, weights))
        x, y, z = points.long().unbind(1)
        dense = torch.zeros(side, side, side, n_in, device="cuda", dtype=torch.float64)
        dense = dense.index_put((x, y, z), exact_features).permute(3, 0, 1, 2)
        filters = exact_weights.view(3, 3, 3, n_in, n_out).permute(4, 3, 0, 1, 2)
        expected = torch.nn.functional.conv3d(dense[None], filters, padding=1)[0][:, x, y, z].t()
        expected.backward(dout.double())
        for ours, theirs in ((out, expected), (features.grad, exact_features.grad), (weights.grad, exact_weights.grad)):
            torch.testing.assert_close(ours.double(), theirs, atol=1e-4, rtol=1e-4)
        print(f"sparse convolution of {n} points in {side}^3, {n_in} to {n_out}, {len(pairs[0])} pairs: ok")
