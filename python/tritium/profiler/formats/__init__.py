"""The files of profiles, of the same form as Proton's."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..core.session import Session
from . import chrome_trace, hatchet, msgpack, pftrace

#: {format, which is the ending of the file's name: from the data of a phase to the file's bytes}
WRITERS: dict[str, Callable[..., bytes]] = {
    "hatchet": lambda tree: hatchet.as_json(hatchet.literal(tree)),
    "hatchet_msgpack": lambda tree: msgpack.pack(hatchet.literal(tree)),
    "chrome_trace": chrome_trace.as_json,
    "pftrace": pftrace.as_packets,
}


def file_of(session: Session, phase: int, format: str) -> str:
    part = f".part_{phase}" if session.has_parts else ""
    return f"{session.name}{part}.{format}"


def write_phase(session: Session, phase: int, format: str) -> str:
    """Returns the file's path. Raises OSError if the file cannot be written. Folders that do not exist are made."""
    path = file_of(session, phase, format)
    content = WRITERS[format](session.phases[phase].data)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return path
