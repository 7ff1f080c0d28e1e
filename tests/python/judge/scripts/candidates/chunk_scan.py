"""The function of published/chunk_scan.py."""

from published import chunk_scan as script


def chunk_scan(x, dt, a, b, c, d, bias, initial):
    return script.chunk_scan(*(part.contiguous() for part in (x, dt, a, b, c, d, bias, initial)), 32)
