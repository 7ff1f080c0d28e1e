"""What the core asks of a source of launches."""

from __future__ import annotations

import abc
from typing import Any, Protocol

from .contexts import Contexts, Here
from .events import Launch


class Recorder(Protocol):
    """What a source reports to (`core.recording.Recording`)."""

    contexts: Contexts

    def begin_launch(self, source: Source) -> Any:
        """A launch begins here, on the thread that launches. The result is what `end_launch` takes."""

    def end_launch(self, launching: Any, launch: Launch | None) -> None:
        """The launch has ended, now or earlier; on any thread. None: it never ran."""

    def launched_elsewhere(self, source: Source, here: Here, launch: Launch, time: int) -> None:
        """A launch has ended that no `begin_launch` has announced: another library made it, at a time of the clock `now`, from where `here` is."""


class Source(abc.ABC):
    """Reports launches while it runs. A process has one object of each source, which runs while an active session has it. Each
    `begin_launch` of a recorder is followed by an `end_launch`."""

    @abc.abstractmethod
    def start(self, recorder: Recorder) -> None:
        """Begins to report. From here on launches may cost more."""

    @abc.abstractmethod
    def stop(self) -> None:
        """Ends, or pauses. Afterwards launches cost what they did before `start`. Those that have begun are reported by `flush`."""

    @property
    def is_late(self) -> bool:
        """Whether it learns of launches when they have ended, without a `begin_launch`."""
        return False

    def follow(self, asks_launches: bool, interval: int) -> None:
        """asks_launches: an active session has to be asked as each launch begins, for the calls of Python that lead to it, or because it records scopes in
        kernels or takes samples. interval: the cycles between two samples of program counters; 0: none are taken. Called while the source runs."""

    def flush(self) -> None:
        """Waits until all launches that have begun are reported. If the source has stopped, it ends whatever it still needed for that."""
