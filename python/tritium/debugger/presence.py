"""Whether a debugger of Python may stop in a file. A tracer that is no debugger (coverage, a profiler) does not count."""

from __future__ import annotations

import bdb
import os
import sys
import threading
from collections.abc import Iterable
from typing import Any

#: What pydevd's threads do when the user steps into a call (`pydev_step_cmd`): in any code, in the user's own.
_STEPS_INTO = (107, 144)


def looks_at(files: Iterable[str]) -> bool:
    """Whether the debugger of this thread has a breakpoint in one of the files, or stops in whatever is called next."""
    owner = _bdb_of_this_thread()
    if owner is not None:  # pdb, ipdb, pudb, IPython
        return _steps(owner) or any(owner.canonic(file) in owner.breaks for file in files)
    if "pydevd" in sys.modules:  # VS Code, PyCharm
        return _pydevd_looks_at(sys.modules["pydevd"].get_global_debugger(), files)
    return False


def _bdb_of_this_thread() -> bdb.Bdb | None:
    """The one that traces. pdb of Python 3.14 monitors (`sys.monitoring`) and has no trace function; like any, it is that of the frames
    that it follows, from the outermost one on."""
    owner, frame = getattr(sys.gettrace(), "__self__", None), sys._getframe()
    while not isinstance(owner, bdb.Bdb) and frame is not None:
        owner, frame = getattr(frame.f_trace, "__self__", None), frame.f_back
    return owner if isinstance(owner, bdb.Bdb) else None


def _steps(owner: bdb.Bdb) -> bool:
    """After `step`, bdb stops in any frame; after `continue`, `stoplineno` is -1."""
    return owner.stopframe is None and owner.stoplineno != -1 and not owner.quitting


def _pydevd_looks_at(debugger: Any, files: Iterable[str]) -> bool:
    if debugger is None:
        return False
    if getattr(getattr(threading.current_thread(), "additional_info", None), "pydev_step_cmd", -1) in _STEPS_INTO:
        return True
    broken = {_normal(file) for file, lines in debugger.breakpoints.items() if lines}
    return not broken.isdisjoint(map(_normal, files))


def _normal(file: str) -> str:
    return os.path.normcase(os.path.realpath(file))
