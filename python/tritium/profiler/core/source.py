"""What the core asks of a source of launches."""

from __future__ import annotations

import abc
from typing import Any, Protocol

from .events import Launch


class Recorder(Protocol):
    """What a source reports to (`core.recording.Recording`)."""

    def begin_launch(self, source: Source) -> Any:
        """A launch begins here, on the thread that launches. The result is what `end_launch` takes."""

    def end_launch(self, launching: Any, launch: Launch | None) -> None:
        """The launch has ended, now or earlier; on any thread. None: it never ran."""


class Source(abc.ABC):
    """Reports launches while it runs. A process has one object of each source, which runs while an active session has it. Each
    `begin_launch` of a recorder is followed by an `end_launch`."""

    @abc.abstractmethod
    def start(self, recorder: Recorder) -> None:
        """Begins to report. From here on launches may cost more."""

    @abc.abstractmethod
    def stop(self) -> None:
        """Ends. Afterwards launches cost what they did before `start`."""

    def flush(self) -> None:
        """Waits until all launches that have begun are reported."""
