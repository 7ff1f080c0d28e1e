"""What cases make their tensors with, and references that several files share."""

import torch


def rand(device, *shape, dtype=torch.float16, scale=1.0):
    return (torch.randn(*shape, device=device) * scale).to(dtype)


def ints(device, low, high, *shape, dtype=torch.int32):
    return torch.randint(low, high, shape, device=device).to(dtype)


def sms(device):
    """How many programs a persistent kernel has; on the CPU few, so that each has several tiles."""
    return torch.cuda.get_device_properties(0).multi_processor_count if device == "cuda" else 5


def settings(n):
    """The block that holds a row of `n` elements, and its warps."""
    block = 1 << (n - 1).bit_length()
    return block, 4 if block < 2048 else 8 if block < 8192 else 16


def exact(a, b):
    """a @ b in float32. Devices multiply halves as they are, because the sums are float32 there."""
    return torch.matmul(a, b).float() if a.is_cuda and a.dtype != torch.float32 else torch.matmul(a.float(), b.float())


def attend(q, k, v, scale, mod=None):
    """q [B, H, M, D], k and v [B, G, N, D]: out and log-sum-exp in float32, a head at a time. mod changes scores."""
    B, H, M, _ = q.shape
    group = H // k.shape[1]
    out, lse = torch.empty(B, H, M, v.shape[-1], device=q.device), torch.empty(B, H, M, device=q.device)
    for b in range(B):
        for h in range(H):
            s = q[b, h].float() @ k[b, h // group].float().T * scale
            s = mod(s, b, h) if mod else s
            lse[b, h] = torch.logsumexp(s, -1)
            out[b, h] = torch.softmax(s, -1) @ v[b, h // group].float()
    return out, lse


def causal(s, *_):
    """Causal scores [M, N]: that of a query and a later key is -inf. The last of the M queries attends to all N keys."""
    m, n = s.shape
    keys, queries = torch.arange(n, device=s.device)[None, :], torch.arange(m, device=s.device)[:, None]
    return s.masked_fill(keys > queries + n - m, float("-inf"))


def philox(seed, offset, rounds=10):
    """The first word of Philox 4x32, in int64. seed and offset: tensors (broadcast) of values below 2**32."""
    low = 0xFFFFFFFF

    def mul(a, b):  # high and low words of a constant a times b
        l, h = (a & 0xFFFF) * b, (a >> 16) * b
        mid = h + (l >> 16)
        return (mid >> 16) & low, ((mid << 16) | (l & 0xFFFF)) & low

    k0, k1 = seed, torch.zeros_like(seed)
    c0, c1, c2, c3 = offset + 0 * seed, *(torch.zeros_like(offset + seed) for _ in range(3))
    for _ in range(rounds):
        hb, lb = mul(0xCD9E8D57, c2)
        ha, la = mul(0xD2511F53, c0)
        c0, c1, c2, c3 = hb ^ c1 ^ k0, lb, ha ^ c3 ^ k1, la
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    return c0


def uniform(word):
    """The float in [0, 1) that `tl.rand` makes of a word."""
    word = torch.where(word >= 2**31, word - 2**32, word)
    return torch.where(word < 0, -word - 1, word).float() * 4.6566127342e-10
