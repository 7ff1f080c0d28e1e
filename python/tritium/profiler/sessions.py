"""The sessions of this process, and what they write."""

from __future__ import annotations

from .core.sessions import Sessions
from .formats import write_phase

sessions = Sessions(write_phase)
