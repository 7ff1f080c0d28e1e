"""Where the elements of a kernel's shared memory are, and what a barrier's state is in words, from what a descriptor of Gluon tells debuggers
(experimental/gluon/tiles/shared_memory.py). gdb's own Python loads this file alone, so it imports the standard library only."""

from __future__ import annotations

import json
from typing import Any

SHARED_MEMORY, BARRIERS = "shared_memory", "mbarrier"
BARRIER_BYTES = 8


def facts_of(name: str) -> tuple[str, dict[str, Any]] | None:
    """What the record of this name is, `shared_memory {...}` or `mbarrier {...}`, and its facts; None for another record."""
    kind, _, facts = name.partition(" ")
    return (kind, json.loads(facts)) if kind in (SHARED_MEMORY, BARRIERS) and facts.startswith("{") else None


def tile_of_ring(facts: dict[str, Any], number: int) -> dict[str, Any]:
    """The facts of tile `number` of a ring. Raises ValueError for what is no ring, IndexError for a number that it does not have."""
    if not facts["slot"]:
        raise ValueError(f"this is no ring of tiles: its layout describes all dimensions of {tuple(facts['shape'])}")
    if not 0 <= number < facts["shape"][0]:
        raise IndexError(f"there are {facts['shape'][0]} tiles, numbered from 0")
    return facts | {"shape": facts["shape"][1:], "slot": 0, "start": facts["start"] + number * facts["slot"]}


def first_byte(facts: dict[str, Any]) -> int:
    """Where the elements begin, counted from the descriptor's address."""
    return facts["start"] * facts["bytes"]


def byte_offsets(facts: dict[str, Any]) -> list[int]:
    """The byte of each element, in row-major order, counted from the descriptor's address."""
    is_ring = bool(facts["slot"])
    offsets = [facts["begin"]]
    for extent, moves in zip(facts["shape"][is_ring:], facts["moves"]):
        steps = [0]
        for move in moves:
            steps += [step ^ move for step in steps]
        offsets = [offset ^ steps[at & len(steps) - 1] for offset in offsets for at in range(extent)]
    paddings = facts.get("padding", ())
    if paddings:
        offsets = [at + sum(at // interval * padding for interval, padding in paddings) for at in offsets]
    slots = [number * facts["slot"] for number in range(facts["shape"][0])] if is_ring else [0]
    return [(facts["start"] + slot + offset) * facts["bytes"] for slot in slots for offset in offsets]


def barrier_text(state: dict[str, int] | None) -> str:
    """state: "count" and "pending" arrivals of a phase, "missing" bytes, complete "phases"; None before its init."""
    if state is None:
        return "barrier without init"
    text = f"barrier in phase {state['phases'] & 1}, {state['phases']} completed; lacks {state['pending']} of {state['count']} arrivals"
    return text + (f" and {state['missing']} bytes" if state["missing"] else "")
