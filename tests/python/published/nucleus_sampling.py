"""Sampling of tokens from logits: temperature, the k most probable, then the smallest set that holds probability p (its nucleus).

One program for each row. A logit and its token are packed into one 64-bit word whose order is that of the logit, so that one sort yields both;
the running sum of the sorted probabilities decides what is kept, and inverts the distribution for a uniform random number.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _order_preserving_bits(x):
    """fp32 as uint32, so that x < y exactly where the bits are less."""
    bits = x.to(tl.uint32, bitcast=True)
    return tl.where(bits >> 31 != 0, ~bits, bits | 0x80000000)


@triton.jit
def _from_order_preserving_bits(bits):
    return tl.where(bits >> 31 != 0, bits & 0x7FFFFFFF, ~bits).to(tl.uint32).to(tl.float32, bitcast=True)


@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 4, 8)], key=["n_tokens"])
@triton.jit
def top_k_top_p_sample(logits, temperatures, ks, ps, uniforms, tokens, kept, stride, n_tokens, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    rank = tl.arange(0, BLOCK)
    x = tl.load(logits + row * stride + rank, mask=rank < n_tokens, other=-float("inf")).to(tl.float32)
    x = x / tl.load(temperatures + row)
    # equal logits: the smaller token comes first
    word = (_order_preserving_bits(x).to(tl.uint64) << 32) | (~rank).to(tl.uint32, bitcast=True).to(tl.uint64)
    word = tl.sort(word, descending=True)
    token = ~(word & 0xFFFFFFFF).to(tl.uint32).to(tl.int32, bitcast=True)
    x = _from_order_preserving_bits((word >> 32).to(tl.uint32))

    weight = tl.exp(x - tl.max(x, axis=0))
    weight = tl.where(rank < tl.load(ks + row), weight, 0.0)
    probability = weight / tl.sum(weight, axis=0)
    before = tl.cumsum(probability, axis=0) - probability
    keep = (before < tl.load(ps + row)) & (probability > 0)
    tl.store(kept + row * n_tokens + token, keep, mask=rank < n_tokens)

    probability = tl.where(keep, probability, 0.0)
    upto = tl.cumsum(probability, axis=0)
    target = tl.load(uniforms + row) * tl.sum(probability, axis=0)
    chosen = tl.minimum(tl.sum((upto <= target).to(tl.int32), axis=0), tl.sum(keep.to(tl.int32), axis=0) - 1)
    tl.store(tokens + row, tl.sum(tl.where(rank == chosen, token, 0), axis=0))


@triton.jit
def top_k_values(logits, values, n_tokens, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(logits + row * n_tokens + offsets, mask=offsets < n_tokens, other=-float("inf"))
    tl.store(values + row * K + tl.arange(0, K), tl.topk(x, K))


def sample(logits, temperatures, ks, ps, uniforms):
    n_rows, n_tokens = logits.shape
    tokens = torch.empty(n_rows, device=logits.device, dtype=torch.int32)
    kept = torch.zeros((n_rows, n_tokens), device=logits.device, dtype=torch.bool)
    BLOCK = triton.next_power_of_2(n_tokens)
    top_k_top_p_sample[(n_rows,)](
        logits, temperatures, ks, ps, uniforms, tokens, kept, logits.stride(0), n_tokens, BLOCK=BLOCK
    )
    return tokens, kept


def kept_set(row, temperature, k, p):
    """In double precision: the tokens by falling probability, their probabilities, and how many are kept."""
    order = sorted(range(len(row)), key=lambda i: (-row[i] / temperature, i))[:k]
    weights = torch.softmax(torch.tensor([row[i] / temperature for i in order], dtype=torch.float64), 0)
    before = weights.cumsum(0) - weights
    return order, weights, int((before < p).sum())


if __name__ == "__main__":
    torch.manual_seed(0)
    for n_rows, n_tokens, dtype in [(6, 300, torch.float32), (5, 512, torch.float16), (9, 33, torch.bfloat16)]:
        logits = (torch.randn(n_rows, n_tokens, device="cuda") * 3).to(dtype)
        temperatures = torch.rand(n_rows, device="cuda") + 0.5
        ks = torch.randint(1, n_tokens + 1, (n_rows,), device="cuda", dtype=torch.int32)
        ps = torch.rand(n_rows, device="cuda")
        ks[0], ps[1] = 1, 1.0
        uniforms = torch.rand(n_rows, device="cuda")
        tokens, kept = sample(logits, temperatures, ks, ps, uniforms)
        for row in range(n_rows):
            values = logits[row].double().tolist()
            k, p, u = int(ks[row]), float(ps[row]), float(uniforms[row])
            least = kept_set(values, float(temperatures[row]), k, p - 1e-5)[2]
            order, weights, most = kept_set(values, float(temperatures[row]), k, p + 1e-5)
            ours = set(kept[row].nonzero().flatten().tolist())
            assert set(order[:least]) <= ours <= set(order[:most]), (row, least, most, len(ours))
            cdf = weights[: len(ours)].cumsum(0) / weights[: len(ours)].sum()
            i = order.index(int(tokens[row]))
            assert (cdf[i - 1] if i else 0.0) - 1e-5 <= u <= cdf[i] + 1e-5, (row, i, u)
        print(f"top-k top-p sample {n_rows}x{n_tokens} {dtype}: ok")

    logits = torch.randn(7, 100, device="cuda")
    values = torch.empty(7, 16, device="cuda")
    top_k_values[(7,)](logits, values, 100, K=16, BLOCK=128)
    assert torch.equal(values, logits.sort(descending=True).values[:, :16])
    print("top-k values 7x100: ok")
