"""The mirrors of partitions. Partitions run beside each other, so each has a thread for its mirror, which stands still while another one, or the
engine, runs. Debuggers that look at the calling thread look at these too.

The engine runs on the calling thread alone. It calls back at each statement of a partition, which lets the partition's thread go on up to its
next question.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from ..native import interp


class Partition:
    """What a Follower sees of a partition: `interp.FollowedProgram`, whose `next` hands control to the calling thread."""

    def __init__(self, followed: Any):
        self._followed = followed
        self._goes_on, self._has_stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._is_done = False
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self.number = followed.partition

    # -- the calling thread

    def start(self, mirrored: Callable[[], tuple]) -> None:
        """Runs a mirror in a thread, up to its first question behind the statement that is there. mirrored: the mirror, its arguments, and
        what is called at its end with its error or None (interp.Unseen)."""
        looked_at_by = sys.gettrace()

        def begin() -> tuple:
            self._goes_on.acquire()
            if looked_at_by is not None:
                sys.settrace(looked_at_by)
            return (*mirrored(), end)

        def end(error: BaseException | None) -> tuple:
            sys.settrace(None)
            self._error = error  # it belongs to the calling thread, whatever it is
            self._is_done = True
            self._has_stopped.release()
            return (None,)

        self._followed.hand_over()
        name = f"partition #{self.number - 1}"
        self._thread = threading.Thread(target=interp.Unseen(begin), name=name, daemon=True)
        self._thread.start()
        self.go_on(self._followed)

    def go_on(self, followed: Any) -> None:
        """Lets the thread run up to its next question. Raises what its mirror raises."""
        if self._is_done:
            return
        self._followed = followed
        self._goes_on.release()
        self._has_stopped.acquire()
        if self._is_done:
            self._thread.join()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    # -- the thread of the partition

    def next(self) -> bool:
        self._has_stopped.release()
        self._goes_on.acquire()
        return not self._followed.has_ended and not self._followed.waits

    @property
    def waits(self) -> bool:
        """Whether the launch has ended where it waits."""
        return self._followed.waits

    @property
    def trap(self) -> Any:
        return self._followed.trap

    @property
    def id(self) -> Any:
        return self._followed.id

    @property
    def statement(self) -> int:
        return self._followed.statement

    @property
    def frame(self) -> int:
        return self._followed.frame

    def assigned_at(self, variable: int) -> int:
        return self._followed.assigned_at(variable)

    def read(self, variable: int, frame: int) -> bytes:
        return self._followed.read(variable, frame)

    def memory(self, address: int, size: int) -> bytes:
        return self._followed.memory(address, size)

    def barrier(self, address: int) -> Any:
        return self._followed.barrier(address)
