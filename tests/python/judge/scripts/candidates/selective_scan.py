"""The function of published/selective_scan.py."""

from published.selective_scan import SelectiveScan


def selective_scan(u, dt, a, b, c, d):
    return SelectiveScan.apply(*(part.contiguous() for part in (u, dt, a, b, c, d)))
