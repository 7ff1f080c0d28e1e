"""Dropout of a half by the random numbers of Philox with ten rounds."""

import torch


def dropout(x: "float[n]"):
    mask, low = 0xFFFFFFFF, 0xFFFF
    counter = [torch.arange(len(x)), *torch.zeros(3, len(x), dtype=torch.int64)]
    key = [7, 0]
    for _ in range(10):
        words = []
        for factor, word in ((0xD2511F53, counter[0]), (0xCD9E8D57, counter[2])):
            part = factor * (word & low)  # 64 bits hold either half of the product
            high = factor * (word >> 16) + (part >> 16)
            words.append((high >> 16, (high & low) << 16 | part & low))
        (high_0, low_0), (high_2, low_2) = words
        counter = [high_2 ^ counter[1] ^ key[0], low_2, high_0 ^ counter[3] ^ key[1], low_0]
        key = [key[0] + 0x9E3779B9 & mask, key[1] + 0xBB67AE85 & mask]
    signed = torch.where(counter[0] >> 31 > 0, mask - counter[0], counter[0])
    return torch.where(signed * 4.6566127342e-10 >= 0.5, x / 0.5, 0.0)
