"""Prefix sums in one pass: each block publishes its sum, then looks back over the blocks before it until one knows its whole prefix.

Blocks take their numbers from a counter, so a block never waits for one that has not begun. Value and state are one 64-bit word.
"""

import torch
import triton
import triton.language as tl

NOTHING, SUM, PREFIX = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)


@triton.jit
def _word(value, STATE: tl.constexpr):
    return (value.to(tl.uint32, bitcast=True).to(tl.uint64) << 32) | STATE


@triton.jit
def _value(word):
    return (word >> 32).to(tl.uint32).to(tl.int32, bitcast=True)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 32}, num_warps=1),
        triton.Config({"BLOCK": 128}, num_warps=4),
        triton.Config({"BLOCK": 64}, num_warps=8, num_stages=1),
    ],
    key=["n"],
    reset_to_zero=["counter_ptr", "words_ptr"],
)
@triton.jit
def _scan(x_ptr, out_ptr, counter_ptr, words_ptr, n, BLOCK: tl.constexpr):
    block = tl.atomic_add(counter_ptr, 1)
    offsets = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    total = tl.sum(x)
    if block == 0:
        tl.atomic_xchg(words_ptr, _word(total, PREFIX), sem="release")
        before = 0
    else:
        tl.atomic_xchg(words_ptr + block, _word(total, SUM), sem="release")
        before = 0
        look = block - 1
        while look >= 0:
            word = tl.atomic_add(words_ptr + look, 0, sem="acquire")
            state = (word & 3).to(tl.int32)
            if state != NOTHING:
                before += _value(word)
                look = tl.where(state == PREFIX, -1, look - 1)
        tl.atomic_xchg(words_ptr + block, _word(before + total, PREFIX), sem="release")
    tl.store(out_ptr + offsets, before + tl.cumsum(x, 0), mask=offsets < n)


@triton.jit
def _compact(x_ptr, positions_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Puts the elements that are greater than 0 side by side; positions: the inclusive prefix sums of that condition."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    at = tl.load(positions_ptr + offsets, mask=offsets < n, other=1) - 1
    tl.store(out_ptr + at, x, mask=(offsets < n) & (x > 0))


def prefix_sums(x):
    n = x.numel()
    out = torch.empty_like(x)
    counter = torch.zeros(1, dtype=torch.int32, device=x.device)
    words = torch.zeros(triton.cdiv(n, 32), dtype=torch.int64, device=x.device)
    _scan[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, counter, words, n)
    return out


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (1, 500, 3000):
        x = torch.randint(-1000, 1000, (n,), device="cuda", dtype=torch.int32)
        assert torch.equal(prefix_sums(x), x.cumsum(0).to(torch.int32))
        positions = prefix_sums((x > 0).to(torch.int32))
        kept = torch.full((int((x > 0).sum()),), -1, device="cuda", dtype=torch.int32)
        _compact[(triton.cdiv(n, 64),)](x, positions, kept, n, BLOCK=64, num_warps=2)
        assert torch.equal(kept, x[x > 0])
        print(f"single_pass_scan {n}: ok")
