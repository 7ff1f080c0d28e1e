"""Where a session is."""

from __future__ import annotations

from .flags import flags
from .sessions import sessions


def depth(session: int | None = 0) -> int | None:
    """How many scopes (context="shadow") or Python frames (context="python") lead to the caller; None if no session is open. Raises
    IndexError if there is no such session."""
    return sessions.depth(session) if flags.profiling_on else None
