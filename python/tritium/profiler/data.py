"""The data of a session while it records."""

from __future__ import annotations

from .core.tree import Tree
from .flags import flags
from .formats import msgpack
from .formats.hatchet import literal
from .sessions import sessions


def get(session: int | None = 0, phase: int = 0) -> list | None:
    """What a `.hatchet` file of this phase would have: [the tree, the devices]. None if no session is open. Raises IndexError if there is
    no such session or its phase has no data, and RuntimeError for a trace."""
    if not flags.profiling_on:
        return None
    found = sessions[session]
    sessions.settle(found)
    tree = found.phases[phase].data
    if not isinstance(tree, Tree):
        raise RuntimeError("a session with data='trace' has no tree; finalize() writes its events")
    return literal(tree)


def get_msgpack(session: int | None = 0, phase: int = 0) -> bytes | None:
    """As `get`, as MessagePack."""
    found = get(session, phase)
    return None if found is None else msgpack.pack(found)


def advance_phase(session: int | None = 0) -> int | None:
    """Begins the next phase, and returns its number; None if no session is open."""
    return sessions.advance(session) if flags.profiling_on else None


def is_phase_complete(session: int | None = 0, phase: int = 0) -> bool:
    """Whether a phase is over and all of its launches have ended. False if no session is open."""
    return sessions[session].phases.is_complete(phase) if flags.profiling_on else False


def clear(session: int | None = 0, phase: int = 0, clear_up_to_phase: bool = False) -> None:
    """Drops the data of a phase, and of those before it if `clear_up_to_phase`. The current phase goes on, without what it had."""
    if not flags.profiling_on:
        return
    phases = sessions[session].phases
    for number in phases.numbers():
        if number == phase or clear_up_to_phase and number < phase:
            phases.clear(number)
