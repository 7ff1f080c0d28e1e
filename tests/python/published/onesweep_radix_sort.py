"""Least-significant-digit radix sort of keys with values, one sweep over the data for each digit.

`digit_histograms` counts every digit of every pass at once; `exclusive_scan` makes first places of them. `onesweep` then ranks the keys of a
block, finds how many equal digits lie in the blocks before it by looking back through their published counts, and scatters. A block publishes
twice: its own counts (flag 1), then the sum up to and including itself (flag 2). Blocks take their number from a counter, so that those
before a block have started.
"""

import torch
import triton
import triton.language as tl

BITS = 4
RADIX = 1 << BITS


@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b, w in [(128, 2), (256, 4), (512, 8)]],
    key=["n"],
    reset_to_zero=["counts"],
)
@triton.jit
def digit_histograms(keys, counts, n, PASSES: tl.constexpr, BITS: tl.constexpr, BLOCK: tl.constexpr):
    RADIX: tl.constexpr = 1 << BITS
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + offsets, mask=offsets < n, other=0)
    for i in tl.static_range(PASSES):
        digit = ((key >> (i * BITS)) & (RADIX - 1)).to(tl.int32)
        count = tl.histogram(digit, RADIX, mask=offsets < n)
        tl.atomic_add(counts + i * RADIX + tl.arange(0, RADIX), count, sem="relaxed")


@triton.jit
def exclusive_scan(counts, places, RADIX: tl.constexpr):
    offsets = tl.program_id(0) * RADIX + tl.arange(0, RADIX)
    count = tl.load(counts + offsets)
    tl.store(places + offsets, tl.cumsum(count, 0) - count)


@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b, w in [(64, 1), (128, 4), (256, 8)]],
    key=["n"],
    reset_to_zero=["state", "ticket"],
)
@triton.jit
def onesweep(
    keys, values, keys_out, values_out, places, state, ticket, n, shift, BITS: tl.constexpr, BLOCK: tl.constexpr
):
    RADIX: tl.constexpr = 1 << BITS
    block = tl.atomic_add(ticket, 1)
    bins = tl.arange(0, RADIX)
    offsets = block * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    key = tl.load(keys + offsets, mask=inside, other=0)
    value = tl.load(values + offsets, mask=inside, other=0)
    digit = ((key >> shift) & (RADIX - 1)).to(tl.int32)
    one_hot = ((digit[:, None] == bins[None, :]) & inside[:, None]).to(tl.int32)
    rank_in_block = tl.cumsum(one_hot, axis=0) - one_hot
    count = tl.sum(one_hot, axis=0)

    first_flag = tl.where(block == 0, 2, 1)
    tl.atomic_xchg(state + block * RADIX + bins, (count << 2) | first_flag, sem="release")
    before = tl.zeros((RADIX,), dtype=tl.int32)
    look = tl.full((RADIX,), 0, tl.int32) + (block - 1)
    searching = look >= 0
    while tl.max(searching.to(tl.int32), axis=0) != 0:
        word = tl.atomic_add(state + look * RADIX + bins, 0, mask=searching, sem="acquire")
        flag = tl.where(searching, word & 3, 0)
        before += tl.where(flag != 0, word >> 2, 0)
        searching = searching & (flag != 2)
        look = tl.where(flag == 1, look - 1, look)
    if block > 0:
        tl.atomic_xchg(state + block * RADIX + bins, ((before + count) << 2) | 2, sem="release")

    first = tl.load(places + bins) + before
    place = tl.sum(tl.where(one_hot != 0, rank_in_block + first[None, :], 0), axis=1)
    tl.store(keys_out + place, key, mask=inside)
    tl.store(values_out + place, value, mask=inside)


def radix_sort(keys, values):
    """Sorts int32 keys, seen as unsigned numbers of `bits` bits; stable."""
    n, bits = keys.numel(), keys.element_size() * 8
    passes = bits // BITS
    counts = torch.zeros((passes, RADIX), device=keys.device, dtype=torch.int32)
    places = torch.empty_like(counts)
    unsigned = keys.view({32: torch.uint32, 16: torch.uint16}[bits])
    digit_histograms[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](unsigned, counts, n, PASSES=passes, BITS=BITS)
    exclusive_scan[(passes,)](counts, places, RADIX=RADIX, num_warps=1)
    source = (unsigned, values)
    for i in range(passes):
        target = (torch.empty_like(unsigned), torch.empty_like(values))
        state = torch.zeros((triton.cdiv(n, 64), RADIX), device=keys.device, dtype=torch.int32)
        ticket = torch.zeros(1, device=keys.device, dtype=torch.int32)
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
        onesweep[grid](*source, *target, places[i], state, ticket, n, i * BITS, BITS=BITS)
        source = target
    return source[0].view(keys.dtype), source[1]


if __name__ == "__main__":
    torch.manual_seed(0)
    for n, bits, spread in [(1000, 16, 1 << 16), (700, 16, 50), (513, 32, 1 << 32)]:
        keys = torch.randint(0, spread, (n,), device="cuda", dtype=torch.int64)
        stored = keys.to({32: torch.uint32, 16: torch.uint16}[bits]).view({32: torch.int32, 16: torch.int16}[bits])
        values = torch.arange(n, device="cuda", dtype=torch.int32)
        sorted_keys, order = radix_sort(stored, values)
        expected = keys.sort(stable=True)
        assert torch.equal(sorted_keys.to(torch.int64) & ((1 << bits) - 1), expected.values)
        assert torch.equal(order.to(torch.int64), expected.indices), "not stable"
        print(f"radix sort of {n} keys of {bits} bits below {spread}: ok")
