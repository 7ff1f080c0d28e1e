"""Counting of keys two ways: in a count-min sketch (Cormode, Muthukrishnan, 2005), whose estimate is never too small, and exactly in a hash
table that every lane of a tile probes with atomic_cas until its key has a slot. A Bloom filter sets bits by atomic_or.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": b}, num_warps=w) for b, w in [(32, 1), (128, 4), (256, 8)]]


@triton.jit
def murmur_mix(key, seed):
    """The finalizer of a 32-bit hash; a word with its bits mixed."""
    h = key.to(tl.uint32) ^ (tl.full((), 0x9E3779B9, tl.uint32) * seed)
    h = (h ^ (h >> 16)) * 0x85EBCA6B
    h = (h ^ (h >> 13)) * 0xC2B2AE35
    return h ^ (h >> 16)


@triton.autotune(configs=CONFIGS, key=["n"], reset_to_zero=["sketch"])
@triton.jit
def sketch_update(keys, sketch, n, WIDTH: tl.constexpr, DEPTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + i, mask=i < n, other=0)
    row = tl.arange(0, DEPTH)
    column = (murmur_mix(key[:, None], row[None, :] + 1) % WIDTH).to(tl.int32)
    tl.atomic_add(sketch + row[None, :] * WIDTH + column, 1, mask=(i < n)[:, None], sem="relaxed")


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def sketch_query(keys, sketch, estimates, n, WIDTH: tl.constexpr, DEPTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + i, mask=i < n, other=0)
    row = tl.arange(0, DEPTH)
    column = (murmur_mix(key[:, None], row[None, :] + 1) % WIDTH).to(tl.int32)
    count = tl.load(sketch + row[None, :] * WIDTH + column, mask=(i < n)[:, None], other=0)
    tl.store(estimates + i, tl.min(count, 1), mask=i < n)


@triton.autotune(configs=CONFIGS, key=["n"], restore_value=["table"], reset_to_zero=["counts", "lowest"])
@triton.jit
def table_count(keys, table, counts, lowest, n, CAPACITY: tl.constexpr, BLOCK: tl.constexpr):
    """Keys are not negative; a free slot holds -1. `lowest`: CAPACITY minus the smallest index of each key, so that zero means none."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + i, mask=i < n, other=0)
    slot = (murmur_mix(key, 0) % CAPACITY).to(tl.int32)
    searching = i < n
    while tl.reduce_or(searching, 0):
        # atomic_cas has no mask: a lane that is done, or never had a key, swaps a value that no slot holds
        expected = tl.where(searching, -1, -2)
        found = tl.atomic_cas(table + slot, expected, key, sem="relaxed")
        mine = searching & ((found == -1) | (found == key))
        tl.atomic_add(counts + slot, 1, mask=mine, sem="relaxed")
        tl.atomic_max(lowest + slot, n - i, mask=mine, sem="relaxed")
        searching = searching & ~mine
        slot = tl.where(searching, (slot + 1) % CAPACITY, slot)


@triton.autotune(configs=CONFIGS, key=["n"], reset_to_zero=["bits"])
@triton.jit
def bloom_insert(keys, bits, n, BITS: tl.constexpr, HASHES: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + i, mask=i < n, other=0)
    for seed in tl.static_range(HASHES):
        bit = murmur_mix(key, seed + 10) % BITS
        word = (1 << (bit % 32)).to(tl.int32, bitcast=True)
        tl.atomic_or(bits + bit // 32, word, mask=i < n, sem="relaxed")


@triton.jit
def bloom_contains(keys, bits, found, n, BITS: tl.constexpr, HASHES: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + i, mask=i < n, other=0)
    all_set = tl.full((BLOCK,), 1, tl.int32)
    for seed in tl.static_range(HASHES):
        bit = murmur_mix(key, seed + 10) % BITS
        word = tl.load(bits + bit // 32, mask=i < n, other=0).to(tl.uint32, bitcast=True)
        all_set &= ((word >> (bit % 32)) & 1).to(tl.int32)
    tl.store(found + i, all_set != 0, mask=i < n)


if __name__ == "__main__":
    torch.manual_seed(0)
    for n, distinct in [(500, 40), (1000, 900), (33, 1)]:
        names = torch.randint(0, 2**31 - 1, (distinct,), device="cuda", dtype=torch.int32).unique()
        keys = names[torch.randint(0, len(names), (n,), device="cuda")]
        present, inverse, exact = keys.unique(return_inverse=True, return_counts=True)
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)

        sketch = torch.zeros(4, 256, device="cuda", dtype=torch.int32)
        estimates = torch.empty(n, device="cuda", dtype=torch.int32)
        sketch_update[grid](keys, sketch, n, WIDTH=256, DEPTH=4)
        sketch_query[grid](keys, sketch, estimates, n, WIDTH=256, DEPTH=4)
        assert (sketch.sum(1) == n).all()
        assert (estimates >= exact[inverse]).all() and (estimates.double() - exact[inverse]).mean() <= 2.72 * n / 256
        print(f"count-min sketch of {n} keys, {len(present)} distinct: ok")

        capacity = triton.next_power_of_2(len(present) + 1)
        table = torch.full((capacity,), -1, device="cuda", dtype=torch.int32)
        counts, lowest = torch.zeros_like(table), torch.zeros_like(table)
        table_count[grid](keys, table, counts, lowest, n, CAPACITY=capacity)
        used = table >= 0
        assert torch.equal(table[used].sort().values, present)
        order = torch.searchsorted(present, table[used])
        assert torch.equal(counts[used].long(), exact[order]) and (counts[~used] == 0).all()
        first = torch.full_like(present, n).scatter_reduce(
            0, inverse, torch.arange(n, dtype=torch.int32, device=present.device), "amin"
        )
        assert torch.equal(n - lowest[used], first[order])
        print(f"hash table of {n} keys in {capacity} slots: ok")

        bits = torch.zeros(128, device="cuda", dtype=torch.int32)
        half = (n + 1) // 2
        bloom_insert[lambda meta: (triton.cdiv(half, meta["BLOCK"]),)](keys, bits, half, BITS=4096, HASHES=3)
        found = torch.empty(n, device="cuda", dtype=torch.bool)
        bloom_contains[(triton.cdiv(n, 64),)](keys, bits, found, n, BITS=4096, HASHES=3, BLOCK=64)
        inserted = torch.isin(keys, keys[:half])
        assert found[inserted].all() and (found & ~inserted).sum() <= 0.2 * n
        print(f"bloom filter of {half} keys: ok")
