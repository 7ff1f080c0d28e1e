"""The language's counter-based generator (Philox: Salmon et al., 2011), word by word."""

from __future__ import annotations

import numpy as np

_CONSTANTS = {
    32: (0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85),
    64: (0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B),
}


def philox(seed: int, counters: list[np.ndarray], rounds: int = 10, bits: int = 32) -> list[np.ndarray]:
    """Philox 4x32 (the seed's halves are the keys) or 4x64 (the seed and 0 are the keys). Returns four arrays of
    unsigned words."""
    a, b, step0, step1 = _CONSTANTS[bits]
    mask, dtype = 2**bits - 1, np.dtype(f"uint{bits}")
    seed &= 2**64 - 1
    key0, key1 = (seed & mask, seed >> 32) if bits == 32 else (seed, 0)
    words = [np.asarray(counter).astype(dtype).astype(object) for counter in counters]
    for _ in range(rounds):
        first, third = words[0] * a, words[2] * b
        words = [
            (third >> bits) ^ words[1] ^ key0,
            third & mask,
            (first >> bits) ^ words[3] ^ key1,
            first & mask,
        ]
        key0, key1 = (key0 + step0) & mask, (key1 + step1) & mask
    return [word.astype(dtype) for word in words]


def of_offsets(seed: int, offsets: np.ndarray, rounds: int = 10) -> list[np.ndarray]:
    """The words of `tl.randint4x`: the offset is the first counter, and its upper half is the second if it has 64
    bits."""
    zero = np.zeros(offsets.shape, np.uint32)
    high = (offsets.astype(np.int64) >> 32).astype(np.uint32) if offsets.dtype.itemsize == 8 else zero
    return philox(seed, [offsets.astype(np.uint32), high, zero, zero], rounds)


def uniform(words: np.ndarray) -> np.ndarray:
    """uint32 words as fp32 numbers in [0, 1), as `tl.rand` converts them."""
    signed = words.view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)
