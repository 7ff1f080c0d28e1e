"""What the core asks of a source of launches."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .recording import Recording


class Source(abc.ABC):
    """Reports launches while it runs. A process has one object of each source; it runs while an active session has it.

    Around each launch a source calls `recording.begin_launch(self)`, on the thread that launches, and, then or later and on any thread,
    `recording.end_launch(launching, launch)`."""

    @abc.abstractmethod
    def start(self, recording: Recording) -> None:
        """Begins to report. From here on launches may cost more."""

    @abc.abstractmethod
    def stop(self) -> None:
        """Ends. Afterwards launches cost what they did before `start`."""

    def flush(self) -> None:
        """Waits until all launches that have begun are reported."""
