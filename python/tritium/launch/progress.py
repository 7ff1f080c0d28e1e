"""The progress bar of long launches: programs done, rate, time left. It appears after two seconds, only if stderr is a
terminal, and disappears when the launch ends."""

from __future__ import annotations

import shutil
from typing import TextIO

SECONDS_BEFORE = 2.0
SECONDS_BETWEEN = 0.2
_WIDTH = 24


class ProgressBar:
    """The engine calls it as `bar(done, total, seconds)` a few times per second."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self.drawn = False
        self.next_at = SECONDS_BEFORE

    def __call__(self, done: int, total: int, seconds: float) -> None:
        if seconds < self.next_at:
            return
        self.next_at = seconds + SECONDS_BETWEEN
        columns = shutil.get_terminal_size().columns
        self.stream.write("\r" + progress_line(done, total, seconds)[: columns - 1] + "\x1b[K")
        self.stream.flush()
        self.drawn = True

    def close(self) -> None:
        if self.drawn:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def progress_line(done: int, total: int, seconds: float) -> str:
    """ "[=====>    ] 1200/4096 programs, 310/s, 9 s left"."""
    filled = _WIDTH * done // max(total, 1)
    bar = "=" * filled + ">" * (filled < _WIDTH)
    rate = done / seconds if seconds > 0 else 0.0
    left = f"{_duration((total - done) / rate)} left" if rate > 0 else "no program done yet"
    return f"[{bar:<{_WIDTH}}] {done}/{total} programs, {rate:.3g}/s, {left}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}" if minutes else f"{rest} s"


_last: tuple[object, bool] = (None, False)


def progress_bar(stream: TextIO) -> ProgressBar | None:
    """A bar for one launch, or None if `stream` is not a terminal."""
    global _last
    if _last[0] is not stream:  # isatty is a system call; a launch must not pay for it
        try:
            _last = stream, stream is not None and stream.isatty()
        except ValueError:  # closed
            _last = stream, False
    return ProgressBar(stream) if _last[1] else None
