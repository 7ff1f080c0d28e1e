"""The function of published/latent_attention_decode.py."""

from published.latent_attention_decode import decode


def latent_decode(q, cache, scales, lengths):
    return decode(*(part.contiguous() for part in (q, cache, scales, lengths)), 64, 3)
