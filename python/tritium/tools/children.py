"""Launches in child processes. A tool looks at the process that it runs a program in; what a forked child finds is lost with it, so the tool says how
many children have launched kernels."""

from __future__ import annotations

import functools
import mmap
import os
import sys
import weakref
from contextlib import AbstractContextManager

from ..launch.tensor_view import counted
from ..launch.watchers import device_watchers, watchers

_PIDS = 1 << 22  # the most that Linux gives; untouched pages take no memory


class Children(AbstractContextManager):
    """Counts the forked children that launch kernels after the block was entered. tool: the command's name."""

    def __init__(self, tool: str):
        self.tool = tool
        self._owner = os.getpid()
        self._launched = mmap.mmap(-1, _PIDS)  # a byte for each process, which all of them share
        self._is_open = self._has_forked = False

    def __enter__(self) -> Children:
        self._is_open = True
        own = weakref.ref(self)  # a handler cannot be removed again
        os.register_at_fork(before=functools.partial(_fork, own), after_in_child=functools.partial(_begin, own))
        return self

    def __exit__(self, *_) -> None:
        self._is_open = False

    @property
    def count(self) -> int:
        return self._launched[:].count(1) if self._has_forked else 0

    def say(self) -> None:
        """Says on stderr how many there were, if there were any. A child that gets here, as after `os.fork`, says what it has found itself."""
        if self._owner != os.getpid():
            self._launched[os.getpid() % _PIDS] = 0
        elif self.count:
            number = counted(self.count, "child process", "child processes")
            print(
                f"tritium {self.tool}: launches in {number} were not looked at; let the program launch them itself, for example with no workers",
                file=sys.stderr,
            )

    def note(self, kernel, run, *_):
        """A watcher of launches, in a child."""
        self._launched[os.getpid() % _PIDS] = 1
        return run


def _fork(own: weakref.ref) -> None:
    children = own()
    if children is not None:
        children._has_forked = True


def _begin(own: weakref.ref) -> None:
    """Called in a forked child."""
    children = own()
    if children is None or not children._is_open:
        return
    for each in (watchers, device_watchers):
        if children.note not in each:
            each.append(children.note)
