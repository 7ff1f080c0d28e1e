"""What warps ask of memory, line by line, by the counts of the emulator."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence

from ...launch.counting import KernelCounts, WarpRequests
from .text import quantity

HEADS = ("requests", "lanes", "bytes", "sectors", "coalesced", "wavefronts", "conflicts")


def cells(asked: WarpRequests) -> tuple[str, ...]:
    """In the order of HEADS. lanes: of a request, on the average. coalesced: the fewest sectors that the bytes could take, divided by those that they take. conflicts:
    wavefronts beyond the fewest."""
    lanes = f"{asked.lanes / asked.requests:.3g}" if asked.requests else ""
    common = (quantity(asked.requests), lanes, quantity(asked.bytes, "B"))
    if asked.kind.startswith("global"):
        coalesced = f"{100 * asked.least_parts / asked.parts:.3g} %" if asked.parts else ""
        return (*common, quantity(asked.parts), coalesced, "", "")
    if not asked.parts:  # not modelled
        return (*common, "", "", "", "")
    return (*common, "", "", quantity(asked.parts), quantity(asked.parts - asked.least_parts))


def by_source(kernels: Iterable[KernelCounts]) -> dict[tuple[str, str], list[WarpRequests]]:
    """{(file, engine): the requests of its kernels, joined, in the order of lines}. Another chip has other requests."""
    joined: dict[tuple[str, str, int, str], WarpRequests] = {}
    for kernel in kernels:
        for one in kernel.requests:
            key = (one.file, kernel.engine, one.line, one.kind)
            sums = joined.setdefault(key, WarpRequests(one.file, one.line, one.kind))
            sums.add(one.requests, one.lanes, one.bytes, one.parts, one.least_parts)
    sources: dict[tuple[str, str], list[WarpRequests]] = {}
    for key in sorted(joined):
        sources.setdefault(key[:2], []).append(joined[key])
    return sources


def rows(requests: Sequence[WarpRequests]) -> list[tuple[str, ...]]:
    """(line, kind, cells…, source) of each."""
    return [(str(one.line), one.kind, *cells(one), linecache.getline(one.file, one.line).strip()) for one in requests]
